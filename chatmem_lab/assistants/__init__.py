"""The chat loop on OpenAI's APIs, with a memory behind it."""

from chatmem_lab.assistants.replies import (
    ChatStream,
    ResponseStream,
    StreamedReply,
    reply_from_chat,
    reply_from_response,
)

__all__ = [
    "ChatStream",
    "ResponseStream",
    "StreamedReply",
    "reply_from_chat",
    "reply_from_response",
]
