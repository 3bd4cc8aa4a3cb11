"""LangChain's messages, and a session in which something of LangChain's handles them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from msgspec.structs import replace

from chatmem_lab.adapters.adapter import Adapter, Answer, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Image, Message, Part, Text, ToolCall
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import Window

__all__ = [
    "LangChainAdapter",
    "LangChainRuntime",
    "answering_model",
    "langchain_message",
    "our_message",
]

#: LangChain's four characters a token, or the replay's counter.
COUNTERS = ("approximate", "replay")


class LangChainAdapter(Adapter):
    """Something that is given LangChain's messages before each model call."""

    packages: ClassVar[tuple[str, ...]] = ("langchain", "langchain-core")
    extra = "langchain"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = getattr(self, "token_counter", COUNTERS[0])
        if given not in COUNTERS:
            raise PolicyError(
                f"{type(self).__name__}: token_counter must be {' or '.join(COUNTERS)}, "
                f"not {given!r}"
            )

    @abstractmethod
    def left(self, messages: list[Any], runtime: LangChainRuntime) -> Any:
        """What it leaves of LangChain's `messages`, or None for all."""
        raise NotImplementedError

    @property
    def is_given_instructions(self) -> bool:
        """Whether it is shown system messages."""
        return False

    def open(self, calls: ModelCalls) -> Session:
        import langchain_core.messages  # noqa: F401  # a missing package is said at once

        return LangChainRuntime(self, calls)


class LangChainRuntime:
    """One session: how tokens are counted, what may be asked, what is remembered."""

    def __init__(self, adapter: LangChainAdapter, calls: ModelCalls) -> None:
        self._adapter = adapter
        self.calls = calls
        #: What the adapter remembers from one request to the next.
        self.state: dict[str, Any] = {}
        #: The system message, where the adapter is not given it.
        self.system: Any = None
        self._window: Window | None = None
        self._tokens: dict[tuple[object, ...], int] = {}

    def count(self, messages: Iterable[Any]) -> int:
        """The replay's count of LangChain's messages."""
        assert self._window is not None
        return sum(
            self._tokens[key]
            if (key := _content(one)) in self._tokens
            else self._window.count(our_message(one))
            for one in messages
        )

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        apart = [
            at
            for at, message in enumerate(messages)
            if message.role in INSTRUCTION_ROLES and not self._adapter.is_given_instructions
        ]
        given = [at for at in range(len(messages)) if at not in set(apart)]
        positions = [slot.position for slot in window.slots]
        theirs = [
            langchain_message(messages[at], f"new{at}" if place is None else f"m{place}")
            for at in given
            for place in (positions[at],)
        ]
        exchange = Exchange(
            messages,
            [(one, (at,)) for one, at in zip(theirs, given)],
            lambda one: [our_message(one)],
            lambda one: one.id,
        )
        self._window = window
        self._tokens = {
            _content(one): window.count(messages[at]) for one, at in zip(theirs, given)
        }
        self.system = langchain_message(messages[apart[0]], "system") if apart else None
        left = self._adapter.left(list(theirs), self)
        if left is None:
            return list(enumerate(messages))
        answers = [(at, _raw(messages, at, read)) for at, read in exchange.answers(left)]
        return _with_instructions(messages, apart, answers, given[0] if given else 0)


def _with_instructions(
    messages: Sequence[Message], apart: Sequence[int], answers: Sequence[Answer], first: int
) -> list[Answer]:
    """What was kept apart stands where it stood; what is new stands in front of the rest."""
    waiting = list(apart)
    merged: list[Answer] = []
    for at, message in answers:
        reached = first if at is None else at
        while waiting and waiting[0] < reached:
            merged.append((waiting[0], messages[waiting[0]]))
            waiting.pop(0)
        merged.append((at, message))
    return [*merged, *((at, messages[at]) for at in waiting)]


def _content(theirs: Any) -> tuple[object, ...]:
    return theirs.id, repr(theirs.content), repr(getattr(theirs, "tool_calls", None))


def _raw(messages: Sequence[Message], at: int | None, read: Message) -> Message:
    """A changed message with the arguments of unchanged calls as they were written."""
    if at is None or read is messages[at] or not read.tool_calls:
        return read
    written = {call.id: call for call in messages[at].tool_calls}
    calls = tuple(
        written[call.id]
        if call.id in written and _parsed(written[call.id]) == _parsed(call)
        else call
        for call in read.tool_calls
    )
    return replace(read, tool_calls=calls)


def _parsed(call: ToolCall) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None


def langchain_message(message: Message, id: str) -> Any:
    """A message as LangChain's own, with an id."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    named: dict[str, Any] = {"id": id, "name": message.name or None}
    if message.role == "tool":
        return ToolMessage(
            _blocks(message),
            tool_call_id=message.tool_call_id or "",
            status="error" if message.is_error else "success",
            **named,
        )
    if message.role == "user":
        return HumanMessage(_blocks(message), **named)
    if message.role == "assistant":
        calls: list[Any] = []
        invalid: list[Any] = []
        for call in message.tool_calls:
            arguments = _parsed(call)
            one = {"name": call.name, "id": call.id}
            if isinstance(arguments, dict):
                calls.append({**one, "args": arguments, "type": "tool_call"})
            else:
                invalid.append(
                    {**one, "args": call.arguments, "type": "invalid_tool_call", "error": None}
                )
        return AIMessage(message.text, tool_calls=calls, invalid_tool_calls=invalid, **named)
    role = {} if message.role == "system" else {"__openai_role__": message.role}
    return SystemMessage(message.text, additional_kwargs=role, **named)


def _blocks(message: Message) -> Any:
    """Its text; with images a list of blocks."""
    if not any(isinstance(part, Image) for part in message.parts):
        return message.text
    blocks: list[Any] = []
    for part in message.parts:
        if isinstance(part, Text):
            blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, Image):
            blocks.append({"type": "image_url", "image_url": {"url": part.url}})
    return blocks


def _parts(content: Any) -> Iterator[Part]:
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str) or block.get("type") == "text":
            text = block if isinstance(block, str) else block["text"]
            yield from [Text(text)] if text else []
        elif block.get("type") == "image_url":
            yield Image(block["image_url"]["url"])


def our_message(theirs: Any) -> Message:
    """One of LangChain's messages as ours."""
    name, parts = theirs.name, tuple(_parts(theirs.content))
    match theirs.type:
        case "tool":
            is_error = theirs.status == "error"
            answered = theirs.tool_call_id
            return Message("tool", parts, name=name, tool_call_id=answered, is_error=is_error)
        case "human":
            return Message("user", parts, name=name)
        case "system":
            role = theirs.additional_kwargs.get("__openai_role__", "system")
            return Message(role, parts, name=name)
    calls = [
        ToolCall(call["id"] or "", call["name"], json.dumps(call["args"]))
        for call in theirs.tool_calls
    ]
    calls += [
        ToolCall(call["id"] or "", call["name"] or "", call["args"] or "")
        for call in theirs.invalid_tool_calls
    ]
    return Message("assistant", parts, name=name, tool_calls=tuple(calls))


def answering_model(
    runtime: LangChainRuntime, summarizer: Summarizer, context_tokens: int | None = None
) -> Any:
    """A chat model that answers with `summarizer`; what it is asked is charged."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Answering(BaseChatModel):
        """A model that answers with the adapter's summarizer."""

        @property
        def _llm_type(self) -> str:
            return "answering"

        def _generate(self, messages: list[Any], *args: Any, **kwargs: Any) -> ChatResult:
            text = runtime.calls.answer(list(map(our_message, messages)), summarizer)
            return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])

        def get_num_tokens_from_messages(self, messages: list[Any], tools: Any = None) -> int:
            return runtime.count(messages)

    limits = {"max_input_tokens": context_tokens} if context_tokens else None
    return Answering(profile=limits)
