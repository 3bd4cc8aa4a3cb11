"""Messages → what an API takes: Chat Completions, Responses, Anthropic's Messages."""

from chatmem_lab.projections.anthropic import to_anthropic
from chatmem_lab.projections.chat import to_chat
from chatmem_lab.projections.repair import Repair
from chatmem_lab.projections.responses import to_responses

__all__ = ["Repair", "to_anthropic", "to_chat", "to_responses"]
