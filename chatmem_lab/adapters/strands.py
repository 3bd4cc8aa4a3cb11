"""Strands' conversation managers, run as its agent loop runs them.

Read in strands-agents 1.62.0. The system prompt is not among its messages: it stays. All
results of one answer are one message there. A manager's ``apply_management`` comes at the end
of each turn, what listens to model calls before each request, and ``reduce_context`` where
the request does not fit into `context_tokens`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any

from chatmem_lab.adapters.adapter import Adapter, Answer, Raised, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Message, ToolCall, assistant, tool_output, user
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.summarizers import Summarizer, Truncate
from chatmem_lab.window import Window

__all__ = ["StrandsManager", "StrandsSlidingWindow", "StrandsSummarizing"]

Theirs = dict[str, Any]


class _Managed(Adapter):
    """A conversation manager in an agent: what all of them have in common."""

    packages = ("strands-agents",)
    extra = "strands"
    context_tokens: int | None
    summarizer: Summarizer

    @abstractmethod
    def manager(self) -> Any:
        """A new manager, for one conversation."""
        raise NotImplementedError

    def open(self, calls: ModelCalls) -> Session:
        return _Agent(self, calls)

    @property
    def budget(self) -> int | None:
        return self.context_tokens

    def excess(self, window: Window) -> str | None:
        budget = self.budget
        if budget is None or window.tokens <= budget:
            return None
        return over_budget_reason(budget, parts_of_window(window))


@dataclass(frozen=True, repr=False)
class StrandsManager(_Managed):
    """Any Strands conversation manager.

    Parameters
    ----------
    make : callable
        Builds a manager, a new one for each conversation.
    context_tokens : int, optional
        The model's context window: a larger request overflows, as the model would say.
    summarizer : Summarizer
        Answers where the manager calls a model.

    Examples
    --------
    >>> StrandsManager(dict, context_tokens=8_000).budget
    8000
    """

    make: Callable[[], Any]
    _: KW_ONLY
    context_tokens: Annotated[int, Bounds(1)] | None = None
    summarizer: Summarizer = field(default_factory=Truncate)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise PolicyError(f"StrandsManager needs a function, not {self.make!r}")

    def manager(self) -> Any:
        return self.make()


@dataclass(frozen=True, repr=False)
class StrandsSlidingWindow(_Managed):
    """``SlidingWindowConversationManager`` with its own parameters and defaults.

    `compression_threshold` is its ``proactive_compression``. `per_turn` is the number of
    model calls between two looks, 0 for the end of each turn.

    Examples
    --------
    >>> StrandsSlidingWindow(20, per_turn=1)
    StrandsSlidingWindow(20, per_turn=1, summarizer=Truncate(2_000))
    """

    window_size: Annotated[int, Bounds(0)] = 40
    _: KW_ONLY
    should_truncate_results: bool = True
    per_turn: Annotated[int, Bounds(0)] = 0
    pin_first: Annotated[int, Bounds(0)] | None = None
    compression_threshold: Annotated[float, Bounds(0, 1)] | None = None
    context_tokens: Annotated[int, Bounds(1)] | None = None
    summarizer: Summarizer = field(default_factory=Truncate)

    def manager(self) -> Any:
        from strands.agent.conversation_manager import SlidingWindowConversationManager

        return SlidingWindowConversationManager(
            self.window_size,
            self.should_truncate_results,
            per_turn=self.per_turn or False,
            pin_first=self.pin_first,
            proactive_compression=_proactive(self.compression_threshold),
        )


@dataclass(frozen=True, repr=False)
class StrandsSummarizing(_Managed):
    """``SummarizingConversationManager``: acts only where a request overflows, or threatens to.

    Examples
    --------
    >>> StrandsSummarizing(0.5, context_tokens=8_000)
    StrandsSummarizing(0.5, context_tokens=8_000, summarizer=Truncate(2_000))
    """

    summary_ratio: Annotated[float, Bounds(0, 1)] = 0.3
    _: KW_ONLY
    preserve_recent_messages: Annotated[int, Bounds(0)] = 10
    pin_first: Annotated[int, Bounds(0)] | None = None
    compression_threshold: Annotated[float, Bounds(0, 1)] | None = None
    context_tokens: Annotated[int, Bounds(1)] | None = None
    summarizer: Summarizer = field(default_factory=Truncate)

    def manager(self) -> Any:
        from strands.agent.conversation_manager import SummarizingConversationManager

        return SummarizingConversationManager(
            self.summary_ratio,
            self.preserve_recent_messages,
            pin_first=self.pin_first,
            proactive_compression=_proactive(self.compression_threshold),
        )


def _proactive(threshold: float | None) -> Any:
    return None if threshold is None else {"compression_threshold": threshold}


class _Agent:
    """What a manager sees of an agent: its messages and its model."""

    def __init__(self, adapter: _Managed, calls: ModelCalls) -> None:
        from strands.hooks import HookRegistry

        self._adapter = adapter
        self._manager = adapter.manager()
        self._hooks = HookRegistry()
        self._manager.register_hooks(self._hooks)
        self.messages: list[Theirs] = []
        self.model = self.aux_model = _model(adapter, calls)
        #: The manager's message of each of ours, as long as the manager has it.
        self._known: dict[int, tuple[Message, Theirs]] = {}

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        system = [at for at, m in enumerate(messages) if m.role in INSTRUCTION_ROLES]
        others = [at for at in range(len(messages)) if at not in set(system)]
        groups = list(self._grouped(messages, others))
        exchange = Exchange(messages, groups, _ours)
        self._arrive(messages, groups)
        failure = self._before_call(window, exchange)
        left = exchange.answers(self.messages)
        owners = [theirs for theirs in self.messages for _ in _ours(theirs)]
        self._known = {id(m): (m, theirs) for (_, m), theirs in zip(left, owners, strict=True)}
        answers: list[Answer] = [*((at, messages[at]) for at in system), *left]
        if failure is not None:
            raise Raised(failure, answers) from failure
        return answers

    def _grouped(
        self, messages: Sequence[Message], others: Sequence[int]
    ) -> Iterator[tuple[Theirs, tuple[int, ...]]]:
        """Each of the manager's messages with ours that it holds; new ones are made."""
        at = 0
        while at < len(others):
            first = messages[others[at]]
            known = self._known.get(id(first))
            end = at + 1
            if known is not None:
                end = at + len(_ours(known[1]))
                yield known[1], tuple(others[at:end])
            else:
                while first.role == "tool" and end < len(others):
                    following = messages[others[end]]
                    if following.role != "tool" or id(following) in self._known:
                        break
                    end += 1
                members = tuple(others[at:end])
                yield _theirs([messages[member] for member in members]), members
            at = end

    def _arrive(
        self, messages: Sequence[Message], groups: Sequence[tuple[Theirs, tuple[int, ...]]]
    ) -> None:
        """The new messages come one by one; each turn ends with an answer without calls."""
        for theirs, members in groups:
            if id(messages[members[0]]) in self._known:
                continue
            self.messages.append(theirs)
            last = messages[members[-1]]
            if last.role == "assistant" and not last.tool_calls:
                self._manager.apply_management(self)

    def _before_call(self, window: Window, exchange: Exchange[Theirs]) -> Exception | None:
        """What happens before a model call; the error if the request cannot be made to fit."""
        from strands.hooks import BeforeModelCallEvent
        from strands.types.exceptions import ContextWindowOverflowException

        limit = self._adapter.context_tokens
        tokens = None if limit is None else self._tokens(window, exchange)
        self._hooks.invoke_callbacks(
            BeforeModelCallEvent(
                agent=self,  # type: ignore[arg-type]
                projected_input_tokens=tokens,
            )
        )
        while limit is not None and self._tokens(window, exchange) > limit:
            overflow = ContextWindowOverflowException("too many tokens")
            try:
                self._manager.reduce_context(self, e=overflow)
            except Exception as error:
                return error
        return None

    def _tokens(self, window: Window, exchange: Exchange[Theirs]) -> int:
        held = sum(window.count(message) for _, message in exchange.answers(self.messages))
        fixed = window.tokens - window.message_tokens
        return held + fixed + window.instruction_tokens


def _model(adapter: _Managed, calls: ModelCalls) -> Any:
    from strands.models import Model

    class Answering(Model):
        """A model that answers with the adapter's summarizer."""

        def update_config(self, **model_config: Any) -> None:
            """Nothing can be set."""

        def get_config(self) -> dict[str, Any]:
            return {"context_window_limit": adapter.context_tokens}

        def structured_output(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError("summaries are text")

        async def stream(
            self, messages: list[Theirs], *args: Any, **kwargs: Any
        ) -> AsyncIterator[Theirs]:
            prompt = [message for theirs in messages for message in _ours(theirs)]
            text = calls.answer(prompt, adapter.summarizer)
            yield {"messageStart": {"role": "assistant"}}
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": text}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}

    return Answering()


def _theirs(ours: Sequence[Message]) -> Theirs:
    if ours[0].role == "tool":
        return {"role": "user", "content": [_result(message) for message in ours]}
    (message,) = ours
    content: list[Theirs] = [{"text": message.text}] if message.text else []
    content += [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": _input(call)}}
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": content}


def _result(message: Message) -> Theirs:
    status = "error" if message.is_error else "success"
    return {
        "toolResult": {
            "toolUseId": message.tool_call_id or "",
            "status": status,
            "content": [{"text": message.text}],
        }
    }


def _input(call: ToolCall) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except ValueError:
        return {"arguments": call.arguments}


def _ours(theirs: Theirs) -> list[Message]:
    content = theirs["content"]
    results = [block["toolResult"] for block in content if "toolResult" in block]
    if results:
        return [
            tool_output(
                result["toolUseId"],
                "".join(item.get("text", "") for item in result["content"]),
                is_error=result.get("status") == "error",
            )
            for result in results
        ]
    text = "".join(block["text"] for block in content if "text" in block)
    if theirs["role"] == "user":
        return [user(text)]
    calls = [
        ToolCall(use["toolUseId"], use["name"], json.dumps(use["input"]))
        for use in (block["toolUse"] for block in content if "toolUse" in block)
    ]
    return [assistant(text or None, tool_calls=calls)]
