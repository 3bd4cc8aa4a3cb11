"""The chat loop on OpenAI's APIs, with a memory behind it."""

from chatmem_lab.assistants.assistant import Assistant
from chatmem_lab.assistants.recorder import record
from chatmem_lab.assistants.replies import (
    ChatStream,
    ResponseStream,
    StreamedReply,
    reply_from_chat,
    reply_from_response,
)
from chatmem_lab.assistants.streaming import AnswerStream
from chatmem_lab.assistants.tools import tool_schemas

__all__ = [
    "AnswerStream",
    "Assistant",
    "ChatStream",
    "ResponseStream",
    "StreamedReply",
    "record",
    "reply_from_chat",
    "reply_from_response",
    "tool_schemas",
]
