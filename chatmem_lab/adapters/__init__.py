"""Adapters: other frameworks' own policies, run unmodified in a replay.

Each framework has a module of its own, which imports it when it is used.
"""

from chatmem_lab.adapters.adapter import Adapter, Answer, Raised, Session, adapters_in
from chatmem_lab.adapters.agent_framework import (
    AgentFrameworkContextWindow,
    AgentFrameworkSelectiveToolCall,
    AgentFrameworkSlidingWindow,
    AgentFrameworkStrategy,
    AgentFrameworkSummarization,
    AgentFrameworkTokenBudget,
    AgentFrameworkToolResult,
    AgentFrameworkTruncation,
)
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.autogen import (
    AutoGenBuffered,
    AutoGenContext,
    AutoGenHeadAndTail,
    AutoGenTokenLimited,
)
from chatmem_lab.adapters.exchange import Exchange
from chatmem_lab.adapters.langchain import (
    LangChainContextEditing,
    LangChainMiddleware,
    LangChainSummarization,
    LangChainTrimMessages,
)
from chatmem_lab.adapters.langmem import LangMemSummarizeMessages
from chatmem_lab.adapters.llama_index import (
    LlamaIndexBaseMemory,
    LlamaIndexChatMemoryBuffer,
    LlamaIndexChatSummaryMemoryBuffer,
    LlamaIndexMemory,
)
from chatmem_lab.adapters.openai_agents import (
    OpenAIAgentsCompaction,
    OpenAIAgentsSessionLimit,
    OpenAIAgentsToolOutputTrimmer,
)
from chatmem_lab.adapters.openai_messages import OpenAIFunction, openai_function
from chatmem_lab.adapters.pydantic_ai import (
    PydanticAICapability,
    PydanticAIClampOversized,
    PydanticAIClearToolResults,
    PydanticAIDeduplicateFileReads,
    PydanticAIHistoryProcessor,
    PydanticAISlidingWindow,
)
from chatmem_lab.adapters.semantic_kernel import (
    SemanticKernelReducer,
    SemanticKernelSummarization,
    SemanticKernelTruncation,
)
from chatmem_lab.adapters.strands import StrandsManager, StrandsSlidingWindow, StrandsSummarizing

__all__ = [
    "Adapter",
    "AgentFrameworkContextWindow",
    "AgentFrameworkSelectiveToolCall",
    "AgentFrameworkSlidingWindow",
    "AgentFrameworkStrategy",
    "AgentFrameworkSummarization",
    "AgentFrameworkTokenBudget",
    "AgentFrameworkToolResult",
    "AgentFrameworkTruncation",
    "Answer",
    "AutoGenBuffered",
    "AutoGenContext",
    "AutoGenHeadAndTail",
    "AutoGenTokenLimited",
    "Exchange",
    "LangChainContextEditing",
    "LangChainMiddleware",
    "LangChainSummarization",
    "LangChainTrimMessages",
    "LangMemSummarizeMessages",
    "LlamaIndexBaseMemory",
    "LlamaIndexChatMemoryBuffer",
    "LlamaIndexChatSummaryMemoryBuffer",
    "LlamaIndexMemory",
    "ModelCalls",
    "OpenAIAgentsCompaction",
    "OpenAIAgentsSessionLimit",
    "OpenAIAgentsToolOutputTrimmer",
    "OpenAIFunction",
    "PydanticAICapability",
    "PydanticAIClampOversized",
    "PydanticAIClearToolResults",
    "PydanticAIDeduplicateFileReads",
    "PydanticAIHistoryProcessor",
    "PydanticAISlidingWindow",
    "Raised",
    "SemanticKernelReducer",
    "SemanticKernelSummarization",
    "SemanticKernelTruncation",
    "Session",
    "StrandsManager",
    "StrandsSlidingWindow",
    "StrandsSummarizing",
    "adapters_in",
    "openai_function",
]
