"""Policies and presets small enough that something leaves a short conversation."""

from __future__ import annotations

from chatmem_lab.policies.registry import parse_policy, policies_by_name, presets_by_name

__all__ = ["LIVE", "NAMES", "RECIPES", "small"]

#: The others are tried with their defaults.
RECIPES = {
    "agent-framework-context-window": "agent-framework-context-window:400,max_output_tokens=50,"
    "keep_last_tool_call_groups=1",
    "agent-framework-sliding-window": "agent-framework-sliding-window:3",
    "agent-framework-summarization": "agent-framework-summarization:truncate:30,target_count=2",
    "agent-framework-token-budget": "agent-framework-token-budget:250,"
    "keep_last_tool_call_groups=1,keep_last_groups=4",
    "agent-framework-truncation": "agent-framework-truncation:5,compact_to=3",
    "aider-chat-history": "aider-chat-history:truncate:30,context_tokens=100",
    "anthropic-compaction": "anthropic-compaction:truncate:30,trigger=60",
    "anthropic-context-editing": "anthropic-context-editing:10,keep=0",
    "cline-compaction": "cline-compaction:truncate:30,context_tokens=100",
    "codex-compaction": "codex-compaction:truncate:30,context_tokens=100,user_tokens=20",
    "gemini-cli-compression": "gemini-cli-compression:truncate:30,context_tokens=160",
    "google-adk-compaction": "google-adk-compaction:truncate:30,compaction_interval=1,"
    "overlap_size=1",
    "google-adk-context-filter": "google-adk-context-filter:2",
    "haystack-sliding-window": "haystack-sliding-window:130",
    "haystack-summarization": "haystack-summarization:truncate:30,context_tokens=130",
    "letta-sliding-window": "letta-sliding-window:truncate:30,context_tokens=90",
    "openhands-amortized-forgetting": "openhands-amortized-forgetting:6,keep_first=1",
    "openhands-observation-masking": "openhands-observation-masking:1",
    "openhands-recent-events": "openhands-recent-events:5",
    "openhands-summarizing": "openhands-summarizing:truncate:30,max_size=6,keep_first=1",
    "append-segments": "append-segments:truncate:30,segment=messages:3,keep=messages:2",
    "halve": "halve:truncate:30,max_messages=6,keep_first=1",
    "head-summary-tail": "head-summary-tail:truncate:30,head=1,trigger=messages:5,keep=messages:2",
    "structured-summary": "structured-summary:key-fields:10,trigger=messages:5,keep=messages:2",
    "summarize-in-place": "summarize-in-place:truncate:10,max_tokens=15",
    "user-messages-and-summary": "user-messages-and-summary:truncate:30,trigger=tokens:60,"
    "user_tokens=20",
    "ai4j-agent-unbounded": "ai4j-agent-unbounded:earlier",
    "ai4j-agent-window": "ai4j-agent-window:4,summary=earlier",
    "ai4j-context-projection": "ai4j-context-projection:5,max_chars=150,pinned_prefix_items=1",
    "ai4j-message-window": "ai4j-message-window:3",
    "ai4j-summary": "ai4j-summary:truncate:40,max_recent=2,trigger=5",
    "ai4j-tool-result-stub": "ai4j-tool-result-stub:1,max_tokens=0,target_tokens=5",
    "ai4j-turn-compaction": "ai4j-turn-compaction:truncate:40,max_items=4",
    "autogen-buffered": "autogen-buffered:4",
    "autogen-head-and-tail": "autogen-head-and-tail:2,tail_size=3",
    "autogen-token-limited": "autogen-token-limited:80",
    "book-message-window": "book-message-window:4",
    "book-token-window": "book-token-window:90",
    "clamp-tool-results": "clamp-tool-results:5,tail=5,keep=1",
    "clear-tool-results": "clear-tool-results:1,placeholder=[x],clear_arguments=true",
    "drop-reasoning": "drop-reasoning:turns:0",
    "drop-superseded-reads": "drop-superseded-reads:look+read,path_arguments=q",
    "head-and-tail": "head-and-tail:2,tail=4,low=3",
    "langchain-context-editing": "langchain-context-editing:10,keep=0",
    "langchain-summarization": "langchain-summarization:truncate:30,trigger=messages:5,"
    "keep=messages:2",
    "langchain-trim-messages": "langchain-trim-messages:60,include_system=true,start_on=human",
    "langchain4j-message-window": "langchain4j-message-window:4,first_request=untrimmed",
    "langchain4j-token-window": "langchain4j-token-window:90,keep_system_first=true",
    "langmem-summarize-messages": "langmem-summarize-messages:truncate:40,max_tokens=60,"
    "max_summary_tokens=5",
    "llama-index-chat-memory-buffer": "llama-index-chat-memory-buffer:20,scratchpad=false",
    "llama-index-chat-summary-memory-buffer": "llama-index-chat-summary-memory-buffer:"
    "truncate:40,token_limit=20",
    "llama-index-memory": "llama-index-memory:30,token_flush_size=5,static_content=Be kind.",
    "mask-observations": "mask-observations:1,batch=2",
    "message-window": "message-window:4",
    "openai-agents-compaction": "openai-agents-compaction:truncate:40,threshold=3",
    "openai-agents-session-limit": "openai-agents-session-limit:5",
    "openai-agents-tool-output-trimmer": "openai-agents-tool-output-trimmer:1,"
    "max_output_chars=60,preview_chars=5",
    "pydantic-ai-clamp-oversized": "pydantic-ai-clamp-oversized:20,keep_head_chars=3,"
    "keep_tail_chars=2",
    "pydantic-ai-clear-tool-results": "pydantic-ai-clear-tool-results:3,keep_pairs=1",
    "pydantic-ai-deduplicate-file-reads": "pydantic-ai-deduplicate-file-reads:look+read,"
    "path_argument=q",
    "pydantic-ai-sliding-window": "pydantic-ai-sliding-window:4,keep_messages=2",
    "relevance-window": "relevance-window:90,low=70,keep_newest=1",
    "semantic-kernel-summarization": "semantic-kernel-summarization:truncate:40,target_count=3,"
    "auto_reduce=true",
    "semantic-kernel-truncation": "semantic-kernel-truncation:4,threshold_count=2",
    "spring-ai-message-window": "spring-ai-message-window:5,first_request=untrimmed",
    "strands-sliding-window": "strands-sliding-window:5,per_turn=true,context_tokens=200",
    "strands-summarizing": "strands-summarizing:truncate:40,preserve_recent_messages=2,"
    "context_tokens=160",
    "summarize": "summarize:truncate:30,trigger=messages:5,keep=messages:2",
    "summarizing-token-window": "summarizing-token-window:truncate:30,max_tokens=90,"
    "keep=messages:2",
    "token-window": "token-window:90",
    "turn-window": "turn-window:2",
}

#: Every policy and preset that there is: found, not listed.
NAMES = sorted({**policies_by_name(), **presets_by_name()})


#: Those that a live memory can have: it has no recording to follow.
LIVE = [name for name in NAMES if name != "as-recorded"]


def small(name):
    """The policy or preset `name`, built so that it acts."""
    return parse_policy(RECIPES.get(name, name))
