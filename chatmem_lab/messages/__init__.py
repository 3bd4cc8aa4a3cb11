"""The values: messages, their parts, units, turns, requests, conversations."""

from chatmem_lab.messages.conversation import Conversation, RecordedEvent
from chatmem_lab.messages.faults import FAULTS, FaultCounter, count_faults
from chatmem_lab.messages.json_form import from_json, to_json
from chatmem_lab.messages.message import (
    INSTRUCTION_ROLES,
    Message,
    Role,
    assistant,
    developer,
    system,
    tool_output,
    user,
)
from chatmem_lab.messages.parts import (
    Audio,
    File,
    Image,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    SummaryOf,
    Text,
    ToolCall,
    Usage,
)
from chatmem_lab.messages.units import Segmenter, find_units

__all__ = [
    "FAULTS",
    "INSTRUCTION_ROLES",
    "Audio",
    "Conversation",
    "FaultCounter",
    "File",
    "Image",
    "Message",
    "Opaque",
    "Part",
    "Reasoning",
    "RecordedEvent",
    "Refusal",
    "Role",
    "Segmenter",
    "SummaryOf",
    "Text",
    "ToolCall",
    "Usage",
    "assistant",
    "count_faults",
    "developer",
    "find_units",
    "from_json",
    "system",
    "to_json",
    "tool_output",
    "user",
]
