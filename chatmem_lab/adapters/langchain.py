"""LangChain's `trim_messages` and the middleware of its agents, before each model call.

Read in langchain 1.5.2 and langchain-core 1.8.3. An agent's system prompt is not among the
messages of its state: the middleware is not shown it.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal

from msgspec.structs import replace

from chatmem_lab.adapters.adapter import Adapter, Answer, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Message, Text, ToolCall
from chatmem_lab.policies.amounts import Amount, Messages, Share, Turns
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.summarizers import Summarizer, Truncate
from chatmem_lab.window import Window

__all__ = [
    "LangChainContextEditing",
    "LangChainSummarization",
    "LangChainTrimMessages",
    "langchain_messages",
]

_COUNTERS = ("approximate", "replay")


class _LangChain(Adapter):
    packages: ClassVar[tuple[str, ...]] = ("langchain", "langchain-core")
    extra = "langchain"

    @abstractmethod
    def left(self, messages: list[Any], count: Callable[[Any], int], calls: ModelCalls) -> Any:
        """What LangChain leaves of its `messages`, or None for all; `count` counts them."""
        raise NotImplementedError

    @property
    def is_given_instructions(self) -> bool:
        """Whether it is shown system messages."""
        return False

    def open(self, calls: ModelCalls) -> Session:
        import langchain_core.messages  # noqa: F401  # a missing package is said at once

        return _Runtime(self, calls)


@dataclass(frozen=True, repr=False)
class LangChainTrimMessages(_LangChain):
    """``trim_messages``, with all messages, as a view of the history.

    Examples
    --------
    >>> LangChainTrimMessages(4_000, start_on=("human",))
    LangChainTrimMessages(4_000, start_on=('human',))
    """

    max_tokens: Annotated[int, Bounds(0)]
    _: KW_ONLY
    strategy: str = "last"
    allow_partial: bool = False
    include_system: bool = False
    start_on: tuple[str, ...] = ()
    end_on: tuple[str, ...] = ()
    token_counter: str = "approximate"

    packages: ClassVar[tuple[str, ...]] = ("langchain-core",)
    sees: ClassVar[Literal["window", "history"]] = "history"

    @property
    def is_given_instructions(self) -> bool:
        return True

    def left(self, messages: list[Any], count: Callable[[Any], int], calls: ModelCalls) -> Any:
        from langchain_core.messages import trim_messages

        def counted(many: list[Any]) -> int:
            return sum(map(count, many))

        return trim_messages(
            messages,
            max_tokens=self.max_tokens,
            token_counter="approximate" if self.token_counter == "approximate" else counted,
            strategy=self.strategy,
            allow_partial=self.allow_partial,
            include_system=self.include_system,
            start_on=self.start_on or None,
            end_on=self.end_on or None,
        )


@dataclass(frozen=True, repr=False)
class LangChainContextEditing(_LangChain):
    """``ContextEditingMiddleware`` with one ``ClearToolUsesEdit``: a view of the state.

    Examples
    --------
    >>> LangChainContextEditing(20_000)
    LangChainContextEditing(20_000)
    """

    trigger: Annotated[int, Bounds(0)] = 100_000
    _: KW_ONLY
    keep: Annotated[int, Bounds(0)] = 3
    clear_at_least: Annotated[int, Bounds(0)] = 0
    clear_tool_inputs: bool = False
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "[cleared]"
    token_counter: str = "approximate"

    sees: ClassVar[Literal["window", "history"]] = "history"

    def left(self, messages: list[Any], count: Callable[[Any], int], calls: ModelCalls) -> Any:
        from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

        edit = ClearToolUsesEdit(
            trigger=self.trigger,
            clear_at_least=self.clear_at_least,
            keep=self.keep,
            clear_tool_inputs=self.clear_tool_inputs,
            exclude_tools=self.exclude_tools,
            placeholder=self.placeholder,
        )

        def counted(many: Any) -> int:
            return sum(map(count, many))

        middleware = ContextEditingMiddleware(
            edits=[edit],
            token_counter=None if self.token_counter == "approximate" else counted,
        )
        request = SimpleNamespace(messages=messages, system_message=None, tools=[])
        request.override = lambda *, messages: SimpleNamespace(messages=messages)
        sent: list[Any] = []
        middleware.wrap_model_call(request, lambda given: sent.extend(given.messages))
        return sent


@dataclass(frozen=True, repr=False)
class LangChainSummarization(_LangChain):
    """``SummarizationMiddleware``: what it leaves is the agent's state from then on.

    Examples
    --------
    >>> LangChainSummarization(Messages(40), summarizer=Truncate(500))
    LangChainSummarization(Messages(40), summarizer=Truncate(500))
    """

    trigger: Amount | None = None
    _: KW_ONLY
    keep: Amount = Messages(20)
    trim_tokens_to_summarize: Annotated[int, Bounds(1)] | None = 4_000
    context_tokens: Annotated[int, Bounds(1)] | None = None
    summarizer: Summarizer = field(default_factory=Truncate)

    def left(self, messages: list[Any], count: Callable[[Any], int], calls: ModelCalls) -> Any:
        from langchain.agents.middleware import SummarizationMiddleware
        from langchain_core.language_models import FakeListChatModel

        def summarize(shown: Sequence[Any]) -> str:
            prompt = [message for theirs in shown for message in _ours(theirs)]
            return calls.answer(prompt, self.summarizer)

        limits = {"max_input_tokens": self.context_tokens} if self.context_tokens else None
        middleware = SummarizationMiddleware(
            FakeListChatModel(responses=["never asked"], profile=limits),
            trigger=None if self.trigger is None else _size(self.trigger),
            keep=_size(self.keep),
            trim_tokens_to_summarize=self.trim_tokens_to_summarize,
            summarizer=summarize,
        )
        update = middleware.before_model({"messages": messages}, runtime=None)  # type: ignore[typeddict-item, arg-type]
        return None if update is None else update["messages"][1:]


def _size(amount: Amount) -> Any:
    match amount:
        case Turns():
            raise PolicyError("LangChain counts messages, tokens or a fraction, not turns")
        case Messages(n):
            return "messages", n
        case Share(x):
            return "fraction", x
    return "tokens", amount.n


class _Runtime:
    def __init__(self, adapter: _LangChain, calls: ModelCalls) -> None:
        self._adapter = adapter
        self._calls = calls

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        apart = [
            at
            for at, message in enumerate(messages)
            if message.role in INSTRUCTION_ROLES and not self._adapter.is_given_instructions
        ]
        given = [at for at in range(len(messages)) if at not in set(apart)]
        theirs = langchain_messages([messages[at] for at in given])
        exchange = Exchange(
            messages, [(t, (at,)) for t, at in zip(theirs, given)], _ours, lambda t: t.id
        )
        tokens = {_content(t): window.count(messages[at]) for t, at in zip(theirs, given)}

        def count(one: Any) -> int:
            known = tokens.get(_content(one))
            return sum(map(window.count, _ours(one))) if known is None else known

        left = self._adapter.left(list(theirs), count, self._calls)
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
    return theirs.id, theirs.content, repr(getattr(theirs, "tool_calls", None))


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


def langchain_messages(messages: Sequence[Message]) -> list[Any]:
    """Messages as LangChain's, each with an id that says its place."""
    return [_theirs(message, f"m{at}") for at, message in enumerate(messages)]


def _theirs(message: Message, id: str) -> Any:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    named: dict[str, Any] = {"id": id, "name": message.name or None}
    if message.role == "tool":
        return ToolMessage(
            message.text,
            tool_call_id=message.tool_call_id or "",
            status="error" if message.is_error else "success",
            **named,
        )
    if message.role == "user":
        return HumanMessage(message.text, **named)
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


def _ours(theirs: Any) -> list[Message]:
    text = theirs.content if isinstance(theirs.content, str) else str(theirs.text)
    parts = (Text(text),) if text else ()
    match theirs.type:
        case "tool":
            is_error = theirs.status == "error"
            answered = theirs.tool_call_id
            return [Message("tool", parts, tool_call_id=answered, is_error=is_error)]
        case "human":
            return [Message("user", parts)]
        case "system":
            role = theirs.additional_kwargs.get("__openai_role__", "system")
            return [Message(role, parts)]
    calls = [
        ToolCall(call["id"] or "", call["name"], json.dumps(call["args"]))
        for call in theirs.tool_calls
    ]
    calls += [
        ToolCall(call["id"] or "", call["name"] or "", call["args"] or "")
        for call in theirs.invalid_tool_calls
    ]
    return [Message("assistant", parts, tool_calls=tuple(calls))]
