"""What OpenAI's APIs answer → `Message`: whole replies, and streams piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from msgspec.structs import replace

from chatmem_lab.errors import AssistantError
from chatmem_lab.messages import Message, Part, Reasoning, Refusal, Text, ToolCall, Usage
from chatmem_lab.transcripts.chat_message import ChatMessages
from chatmem_lab.transcripts.chat_usage import usage_of
from chatmem_lab.transcripts.fields import WrongField

__all__ = [
    "ChatStream",
    "ResponseStream",
    "StreamedReply",
    "reply_from_chat",
    "reply_from_response",
]

#: What Responses call the reasons that Chat Completions have other words for.
_REASONS = {"max_output_tokens": "length"}

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}


def reply_from_chat(completion: Any) -> Message:
    """The first choice of a ``ChatCompletion``, or of the same as a dict.

    Raises
    ------
    AssistantError
        If it holds no reply that can be read.

    Examples
    --------
    >>> reply = reply_from_chat({"id": "c-1", "model": "gpt-5", "choices": [
    ...     {"message": {"role": "assistant", "content": "Noon."}, "finish_reason": "stop"}]})
    >>> reply.text, reply.finish_reason, reply.id
    ('Noon.', 'stop', 'c-1')
    """
    given = _plain(completion)
    choices = given.get("choices")
    if not isinstance(choices, list) or not choices:
        raise AssistantError(f"the model's answer has no choices{_why(given.get('error'))}")
    choice = choices[0]
    try:
        message = ChatMessages(_is_not_said)(
            {**_said(choice["message"], given.get("id")), "role": "assistant"}
        )
    except (WrongField, KeyError, TypeError) as wrong:
        raise AssistantError(f"the model's answer cannot be read: {wrong}") from None
    reason = choice.get("finish_reason")
    return _with_facts(message, given, finish_reason=reason, id=given.get("id"))


def _said(message: Mapping[str, Any], id: object) -> dict[str, Any]:
    """The fields that hold something, each call with an id: some servers give none."""
    said = {name: value for name, value in message.items() if value not in (None, "", [])}
    calls = said.get("tool_calls")
    if isinstance(calls, list):
        said["tool_calls"] = [
            {**call, "id": call.get("id") or f"call_{id or ''}_{index}"}
            for index, call in enumerate(calls)
        ]
    return said


def _is_not_said(repair: str) -> None:
    """What the reader of files reports is nothing that went wrong in a live reply."""


def reply_from_response(response: Any) -> Message:
    """The output of a ``Response``, or of the same as a dict, as one message.

    Its `finish_reason` is in the words of Chat Completions ("stop", "tool_calls", "length",
    "content_filter"), or the status of a response that is not complete. Its `id` is that of
    its message item, else that of the response. Items that are neither text, reasoning nor
    calls stay in `extra`, and so does the error of a response that failed.

    Raises
    ------
    AssistantError
        If it cannot be read.

    Examples
    --------
    >>> reply = reply_from_response({"id": "resp_1", "model": "gpt-5", "status": "completed",
    ...     "output": [{"type": "function_call", "call_id": "c1", "name": "now",
    ...                 "arguments": "{}"}]})
    >>> reply.tool_calls, reply.finish_reason
    ((ToolCall(id='c1', name='now', arguments='{}'),), 'tool_calls')
    """
    given = _plain(response)
    try:
        message = _message_of_items(given.get("output") or ())
        if given.get("error"):
            message = replace(message, extra={**(message.extra or {}), "error": given["error"]})
    except (KeyError, TypeError, AttributeError) as wrong:
        raise AssistantError(f"the model's answer cannot be read: {wrong!r}") from None
    return _with_facts(
        message,
        given,
        finish_reason=_reason(given, bool(message.tool_calls)),
        id=message.id or given.get("id"),
    )


def _reason(response: Mapping[str, Any], makes_calls: bool) -> str:
    status = response.get("status", "completed")
    if status == "completed":
        return "tool_calls" if makes_calls else "stop"
    reason = (response.get("incomplete_details") or {}).get("reason") or status
    return str(_REASONS.get(reason, reason))


def _message_of_items(items: Iterable[Mapping[str, Any]]) -> Message:
    parts: list[Part] = []
    calls: list[ToolCall] = []
    others: list[dict[str, Any]] = []
    extra: dict[str, Any] = {}
    id = None
    for item in items:
        kind = item["type"]
        if kind == "message":
            id = id or item.get("id")
            parts += _content_parts(item.get("content") or ())
            if item.get("phase"):
                extra["phase"] = item["phase"]
        elif kind == "reasoning":
            parts.append(_reasoning(item))
        elif kind in _CALLS:
            call_id = item.get("call_id") or item.get("id") or f"call_{len(calls)}"
            calls.append(ToolCall(call_id, item["name"], item.get(_CALLS[kind]) or ""))
        else:
            others.append(dict(item))
    if others:
        extra["output"] = others
    return Message("assistant", tuple(parts), tool_calls=tuple(calls), id=id, extra=extra or None)


def _content_parts(content: Iterable[Mapping[str, Any]]) -> list[Part]:
    parts: list[Part] = []
    for part in content:
        if part["type"] == "refusal":
            parts.append(Refusal(part["refusal"]))
        elif part["text"]:
            parts.append(Text(part["text"]))
    return parts


def _reasoning(item: Mapping[str, Any]) -> Reasoning:
    texts = item.get("summary") or item.get("content") or ()
    text = "\n".join(part["text"] for part in texts)
    return Reasoning(text, item.get("id"), item.get("encrypted_content"))


def _with_facts(
    message: Message, given: Mapping[str, Any], *, finish_reason: Any, id: Any
) -> Message:
    usage, unread = _usage(given.get("usage"))
    extra = {**(message.extra or {}), **({"usage": unread} if unread else {})}
    return replace(
        message,
        id=_text(id),
        model=_text(given.get("model")),
        usage=usage,
        finish_reason=_text(finish_reason),
        extra=extra or None,
    )


def _usage(recorded: Any) -> tuple[Usage | None, Any]:
    """Usage, and what of it could not be read: no reply is lost for that."""
    if recorded is None:
        return None, None
    try:
        return usage_of(recorded)
    except WrongField:
        return None, recorded


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _why(error: Any) -> str:
    if isinstance(error, Mapping):
        said = [str(error[name]) for name in ("code", "message") if error.get(name)]
        return f" ({': '.join(said)})" if said else ""
    return f" ({error})" if error else ""


def _plain(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    plain: dict[str, Any] = given.to_dict(mode="json", warnings=False)
    return plain


class StreamedReply(Protocol):
    """A streamed reply as far as it has come."""

    def add(self, event: Any) -> str:
        """Take one event in; the text, or the text of a refusal, that it brought."""

    @property
    def is_complete(self) -> bool:
        """Whether the model said that it was done."""

    @property
    def message(self) -> Message:
        """What has come so far; its `finish_reason` is "incomplete" before the end."""


class ChatStream:
    """The chunks of a streamed Chat Completion.

    Examples
    --------
    >>> stream = ChatStream()
    >>> stream.add({"id": "c-1", "choices": [{"index": 0, "delta": {"content": "No"}}]})
    'No'
    >>> stream.message.text, stream.message.finish_reason
    ('No', 'incomplete')
    >>> stream.add({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    ''
    >>> stream.is_complete
    True
    """

    def __init__(self) -> None:
        self._facts: dict[str, Any] = {}
        self._texts: dict[str, str] = {}
        self._calls: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}
        self._reason: str | None = None

    def add(self, event: Any) -> str:
        """Take one chunk in; the text that it brought."""
        chunk = _plain(event)
        if chunk.get("error"):
            raise AssistantError(f"the model broke off{_why(chunk['error'])}")
        for name in ("id", "model", "usage"):
            if chunk.get(name):
                self._facts[name] = chunk[name]
        said = ""
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) == 0:
                said += self._add_delta(choice.get("delta") or {})
                self._reason = choice.get("finish_reason") or self._reason
        return said

    def _add_delta(self, delta: Mapping[str, Any]) -> str:
        for name, piece in delta.items():
            if isinstance(piece, str) and name != "role":
                self._texts[name] = self._texts.get(name, "") + piece
        for piece in delta.get("tool_calls") or ():
            self._add_call(piece)
        return (delta.get("content") or "") + (delta.get("refusal") or "")

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        call = self._call_at(piece.get("index"), piece.get("id"))
        call["id"] = piece.get("id") or call["id"]
        function = piece.get("function") or {}
        call["function"]["name"] = function.get("name") or call["function"]["name"]
        call["function"]["arguments"] += function.get("arguments") or ""

    def _call_at(self, index: int | None, id: str | None) -> dict[str, Any]:
        """The call that a piece belongs to; some servers number all calls 0, or none."""
        newest = len(self._calls) - 1 if self._calls else None
        place = newest if index is None else self._places.get(index)
        if place is not None and (not id or self._calls[place]["id"] in (None, id)):
            return self._calls[place]
        if index is not None:
            self._places[index] = len(self._calls)
        call = {"id": id, "type": "function", "function": {"name": "", "arguments": ""}}
        self._calls.append(call)
        return call

    @property
    def is_complete(self) -> bool:
        """Whether the model said that it was done."""
        return self._reason is not None

    @property
    def message(self) -> Message:
        """What has come so far."""
        message = {**self._texts, "tool_calls": self._calls}
        choice = {"message": message, "finish_reason": self._reason or "incomplete"}
        return reply_from_chat({**self._facts, "choices": [choice]})


class ResponseStream:
    """The events of a streamed Response.

    Examples
    --------
    >>> stream = ResponseStream()
    >>> stream.add({"type": "response.output_item.added", "output_index": 0,
    ...             "item": {"type": "message", "id": "msg_1", "content": []}})
    ''
    >>> stream.add({"type": "response.output_text.delta", "output_index": 0,
    ...             "content_index": 0, "delta": "Noon."})
    'Noon.'
    >>> stream.is_complete, stream.message.text
    (False, 'Noon.')
    """

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str, int], str] = {}
        self._is_complete = False

    def add(self, event: Any) -> str:
        """Take one event in; the text that it brought."""
        given = _plain(event)
        kind = given["type"]
        if kind == "error":
            raise AssistantError(f"the model broke off{_why(given.get('error') or given)}")
        if "response" in given:
            self._response = given["response"]
            ends = ("response.completed", "response.incomplete", "response.failed")
            self._is_complete = kind in ends
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[given["output_index"]] = given["item"]
            if kind.endswith("done"):
                self._forget_pieces(given["output_index"])
        elif kind.endswith(".delta") and isinstance(given.get("delta"), str):
            return self._add_piece(kind, given)
        return ""

    def _add_piece(self, kind: str, given: Mapping[str, Any]) -> str:
        name = kind.removeprefix("response.").removesuffix(".delta")
        part = given.get("content_index", given.get("summary_index", 0))
        key = (given["output_index"], name, part)
        self._pieces[key] = self._pieces.get(key, "") + given["delta"]
        return given["delta"] if name in ("output_text", "refusal") else ""

    def _forget_pieces(self, index: int) -> None:
        """They are in the item as it is when it is done."""
        self._pieces = {key: text for key, text in self._pieces.items() if key[0] != index}

    @property
    def is_complete(self) -> bool:
        """Whether the model said that it was done."""
        return self._is_complete

    @property
    def message(self) -> Message:
        """What has come so far."""
        if self._is_complete and self._response.get("output"):
            return reply_from_response(self._response)
        items = {index: dict(item) for index, item in self._items.items()}
        for (index, name, _), text in self._pieces.items():
            if index in items:
                _add_text(items[index], name, text)
        output = [items[index] for index in sorted(items)]
        status = self._response.get("status") if self._is_complete else "incomplete"
        return reply_from_response({**self._response, "output": output, "status": status})


def _add_text(item: dict[str, Any], name: str, text: str) -> None:
    """What a delta of that name adds to an item that is not done."""
    if name == "output_text":
        item["content"] = [*(item.get("content") or ()), {"type": "output_text", "text": text}]
    elif name == "refusal":
        item["content"] = [*(item.get("content") or ()), {"type": "refusal", "refusal": text}]
    elif name == "reasoning_summary_text":
        item["summary"] = [*(item.get("summary") or ()), {"type": "summary_text", "text": text}]
    elif name == "reasoning_text":
        item["content"] = [*(item.get("content") or ()), {"type": "reasoning_text", "text": text}]
    elif name == "function_call_arguments":
        item["arguments"] = text
    elif name == "custom_tool_call_input":
        item["input"] = text
