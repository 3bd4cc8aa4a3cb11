"""OpenAI's two APIs, alike: what is sent to each, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chatmem_lab.assistants.replies import (
    ChatStream,
    ResponseStream,
    StreamedReply,
    reply_from_chat,
    reply_from_response,
)
from chatmem_lab.messages import Message
from chatmem_lab.projections import to_chat, to_responses
from chatmem_lab.projections.repair import ProjectedList

__all__ = ["APIS", "Api"]

#: What a model makes and an API then refuses; it is sent as the API takes it.
_OF_THE_MODEL = frozenset(
    {"bad_function_name", "missing_call_id", "repeated_call_id", "long_call_id"}
)


@dataclass(frozen=True)
class Api:
    """One of them.

    Parameters
    ----------
    create : callable
        Of a client: what makes a request.
    messages_name : str
        What the messages are called there.
    project : callable
    tool : callable
        A function's schema in its form.
    reply : callable
        Its answer as a message.
    stream : callable
        A new, empty streamed answer.
    stream_options : dict
        What is sent with a request for a stream, unless the user says otherwise.
    """

    create: Callable[[Any], Callable[..., Any]]
    messages_name: str
    project: Callable[..., ProjectedList]
    tool: Callable[[dict[str, Any]], dict[str, Any]]
    reply: Callable[[Any], Message]
    stream: Callable[[], StreamedReply]
    stream_options: Mapping[str, Any]

    def projected(self, messages: Iterable[Message]) -> ProjectedList:
        """The messages in its form.

        Raises
        ------
        ProjectionError
            If it would refuse them, for anything but what the model itself made of a call.
        """
        given = list(messages)
        mended = self.project(given, repair=True)
        if all(repair.what in _OF_THE_MODEL for repair in mended.repairs):
            return mended
        return self.project(given)


APIS = {
    "chat": Api(
        create=lambda client: client.chat.completions.create,
        messages_name="messages",
        project=to_chat,
        tool=lambda schema: {"type": "function", "function": schema},
        reply=reply_from_chat,
        stream=ChatStream,
        stream_options={"stream_options": {"include_usage": True}},
    ),
    "responses": Api(
        create=lambda client: client.responses.create,
        messages_name="input",
        project=to_responses,
        # Strict is the default there, and takes no parameter that may be left out.
        tool=lambda schema: {"type": "function", "strict": False, **schema},
        reply=reply_from_response,
        stream=ResponseStream,
        stream_options={},
    ),
}
