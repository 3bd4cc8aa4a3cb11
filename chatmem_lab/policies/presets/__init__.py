"""Presets: other systems' chat memories, by name, with their exact behaviour.

Loose by contract where those systems are: what they do to tool pairs and system messages
is done here too, and counts as faults.
"""

from chatmem_lab.policies.presets.ai4j import (
    AI4JMessageWindow,
    AI4JSummary,
    ai4j_message_window,
    ai4j_summary,
    ai4j_unbounded,
)
from chatmem_lab.policies.presets.ai4j_agent import (
    AI4JAgentWindow,
    AI4JContextProjection,
    AI4JToolResultStub,
    AI4JTurnCompaction,
    ai4j_agent_unbounded,
    ai4j_agent_window,
    ai4j_context_projection,
    ai4j_tool_result_stub,
    ai4j_turn_compaction,
)
from chatmem_lab.policies.presets.autogen import (
    AutoGenBuffer,
    AutoGenHeadTail,
    AutoGenTokenLimit,
    autogen_buffered,
    autogen_head_and_tail,
    autogen_token_limited,
    autogen_unbounded,
)
from chatmem_lab.policies.presets.book import (
    book_message_window,
    book_token_window,
    summarizing_token_window,
)
from chatmem_lab.policies.presets.langchain import (
    LangChainClearToolUses,
    LangChainSummary,
    LangChainTrim,
    langchain_context_editing,
    langchain_summarization,
    langchain_trim_messages,
)
from chatmem_lab.policies.presets.langchain4j import (
    LangChain4jMessageWindow,
    LangChain4jTokenWindow,
    langchain4j_message_window,
    langchain4j_token_window,
)
from chatmem_lab.policies.presets.langmem import (
    LangMemRunningSummary,
    langmem_summarize_messages,
)
from chatmem_lab.policies.presets.llama_index import (
    LlamaIndexBufferTail,
    LlamaIndexQueue,
    LlamaIndexSummaryRound,
    llama_index_chat_memory_buffer,
    llama_index_chat_summary_memory_buffer,
    llama_index_memory,
)
from chatmem_lab.policies.presets.openai_agents import (
    OpenAIAgentsCompactionFold,
    OpenAIAgentsOnce,
    OpenAIAgentsOutputTrim,
    OpenAIAgentsSessionTail,
    openai_agents_compaction,
    openai_agents_session_limit,
    openai_agents_tool_output_trimmer,
)
from chatmem_lab.policies.presets.semantic_kernel import (
    SemanticKernelSummarizing,
    SemanticKernelTruncating,
    semantic_kernel_summarization,
    semantic_kernel_truncation,
)
from chatmem_lab.policies.presets.spring_ai import (
    SpringAIMessageWindow,
    spring_ai_message_window,
)
from chatmem_lab.policies.presets.strands import (
    StrandsBeforeCall,
    StrandsSummaryRound,
    StrandsTurnEnd,
    strands_sliding_window,
    strands_summarizing,
)

__all__ = [
    "AI4JAgentWindow",
    "AI4JContextProjection",
    "AI4JMessageWindow",
    "AI4JSummary",
    "AI4JToolResultStub",
    "AI4JTurnCompaction",
    "AutoGenBuffer",
    "AutoGenHeadTail",
    "AutoGenTokenLimit",
    "LangChain4jMessageWindow",
    "LangChain4jTokenWindow",
    "LangChainClearToolUses",
    "LangChainSummary",
    "LangChainTrim",
    "LangMemRunningSummary",
    "LlamaIndexBufferTail",
    "LlamaIndexQueue",
    "LlamaIndexSummaryRound",
    "OpenAIAgentsCompactionFold",
    "OpenAIAgentsOnce",
    "OpenAIAgentsOutputTrim",
    "OpenAIAgentsSessionTail",
    "SemanticKernelSummarizing",
    "SemanticKernelTruncating",
    "SpringAIMessageWindow",
    "StrandsBeforeCall",
    "StrandsSummaryRound",
    "StrandsTurnEnd",
    "ai4j_agent_unbounded",
    "ai4j_agent_window",
    "ai4j_context_projection",
    "ai4j_message_window",
    "ai4j_summary",
    "ai4j_tool_result_stub",
    "ai4j_turn_compaction",
    "ai4j_unbounded",
    "autogen_buffered",
    "autogen_head_and_tail",
    "autogen_token_limited",
    "autogen_unbounded",
    "book_message_window",
    "book_token_window",
    "langchain4j_message_window",
    "langchain4j_token_window",
    "langchain_context_editing",
    "langchain_summarization",
    "langchain_trim_messages",
    "langmem_summarize_messages",
    "llama_index_chat_memory_buffer",
    "llama_index_chat_summary_memory_buffer",
    "llama_index_memory",
    "openai_agents_compaction",
    "openai_agents_session_limit",
    "openai_agents_tool_output_trimmer",
    "semantic_kernel_summarization",
    "semantic_kernel_truncation",
    "spring_ai_message_window",
    "strands_sliding_window",
    "strands_summarizing",
    "summarizing_token_window",
]
