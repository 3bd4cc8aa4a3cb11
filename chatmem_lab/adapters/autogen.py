"""AutoGen's model contexts, asked as its assistant agent asks them: before each model call.

Read in autogen-core 0.7.5. The agent's system messages are not in the context: they stay. All
results of one answer are one message there, and the text beside calls is their thought.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal

from chatmem_lab.adapters.adapter import Adapter, Answer, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange, grouped_results
from chatmem_lab.adapters.waiting import wait_for
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Message, ToolCall, assistant, tool_output, user
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.window import Window

__all__ = [
    "AutoGenBuffered",
    "AutoGenContext",
    "AutoGenHeadAndTail",
    "AutoGenTokenLimited",
]


class _Context(Adapter):
    """A model context: what all of them have in common."""

    packages = ("autogen-core",)
    extra = "autogen"
    sees: ClassVar[Literal["window", "history"]] = "history"

    @abstractmethod
    def context(self, client: Any) -> Any:
        """A new context; `client` counts tokens as a model client does."""
        raise NotImplementedError

    def open(self, calls: ModelCalls) -> Session:
        return _Agent(self)


@dataclass(frozen=True, repr=False)
class AutoGenContext(_Context):
    """Any model context.

    Parameters
    ----------
    make : callable
        Builds a context, a new one for each conversation.

    Examples
    --------
    >>> AutoGenContext(dict).packages
    ('autogen-core',)
    """

    make: Callable[[], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise PolicyError(f"AutoGenContext needs a function, not {self.make!r}")

    def context(self, client: Any) -> Any:
        return self.make()


@dataclass(frozen=True, repr=False)
class AutoGenBuffered(_Context):
    """``BufferedChatCompletionContext``.

    Examples
    --------
    >>> AutoGenBuffered(10)
    AutoGenBuffered(10)
    """

    buffer_size: Annotated[int, Bounds(1)]

    def context(self, client: Any) -> Any:
        from autogen_core.model_context import BufferedChatCompletionContext

        return BufferedChatCompletionContext(self.buffer_size)


@dataclass(frozen=True, repr=False)
class AutoGenTokenLimited(_Context):
    """``TokenLimitedChatCompletionContext``; the replay's counter counts.

    Without `token_limit` it is the model's context window, which is `context_tokens`.

    Examples
    --------
    >>> AutoGenTokenLimited(8_000)
    AutoGenTokenLimited(8_000)
    """

    token_limit: Annotated[int, Bounds(1)] | None = None
    _: KW_ONLY
    context_tokens: Annotated[int, Bounds(1)] = 128_000

    def context(self, client: Any) -> Any:
        from autogen_core.model_context import TokenLimitedChatCompletionContext

        client.context_tokens = self.context_tokens
        return TokenLimitedChatCompletionContext(client, token_limit=self.token_limit)


@dataclass(frozen=True, repr=False)
class AutoGenHeadAndTail(_Context):
    """``HeadAndTailChatCompletionContext``.

    Examples
    --------
    >>> AutoGenHeadAndTail(2, tail_size=10)
    AutoGenHeadAndTail(2, tail_size=10)
    """

    head_size: Annotated[int, Bounds(1)]
    _: KW_ONLY
    tail_size: Annotated[int, Bounds(1)]

    def context(self, client: Any) -> Any:
        from autogen_core.model_context import HeadAndTailChatCompletionContext

        return HeadAndTailChatCompletionContext(self.head_size, self.tail_size)


class _Agent:
    """An agent with its context: it adds what is new, and asks for what to send."""

    def __init__(self, adapter: _Context) -> None:
        self._tokens: dict[int, int] = {}
        self._fixed = 0
        self._client = SimpleNamespace(
            count_tokens=self._count, remaining_tokens=self._remaining, context_tokens=0
        )
        self._context = adapter.context(self._client)
        #: The context's messages, each with the messages of the history that it holds.
        self._held: list[tuple[Any, tuple[int, ...]]] = []

    def _count(self, messages: Sequence[Any], *, tools: Sequence[Any] = ()) -> int:
        return self._fixed + sum(self._tokens[id(message)] for message in messages)

    def _remaining(self, messages: Sequence[Any], *, tools: Sequence[Any] = ()) -> int:
        return int(self._client.context_tokens) - self._count(messages)

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        system = [(at, m) for at, m in enumerate(messages) if m.role in INSTRUCTION_ROLES]
        self._fixed = window.tokens - window.message_tokens
        for members in grouped_results(messages)[len(self._held) :]:
            theirs = _theirs([messages[at] for at in members])
            self._tokens[id(theirs)] = sum(window.count(messages[at]) for at in members)
            self._held.append((theirs, members))
            wait_for(self._context.add_message(theirs))
        exchange = Exchange(messages, self._held, _ours)
        return [*system, *exchange.answers(wait_for(self._context.get_messages()))]


def _theirs(ours: Sequence[Message]) -> Any:
    from autogen_core import FunctionCall
    from autogen_core.models import (
        AssistantMessage,
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        UserMessage,
    )

    first = ours[0]
    if first.role == "tool":
        return FunctionExecutionResultMessage(
            content=[
                FunctionExecutionResult(
                    content=message.text,
                    call_id=message.tool_call_id or "",
                    name=message.name or "tool",
                    is_error=message.is_error,
                )
                for message in ours
            ]
        )
    if first.role == "user":
        return UserMessage(content=first.text, source=_source(first.name) or "user")
    if not first.tool_calls:
        return AssistantMessage(content=first.text, source="assistant")
    calls = [
        FunctionCall(id=call.id, name=call.name, arguments=call.arguments)
        for call in first.tool_calls
    ]
    return AssistantMessage(content=calls, thought=first.text or None, source="assistant")


def _source(name: str | None) -> str:
    return re.sub(r"\W", "_", name or "")


def _ours(theirs: Any) -> list[Message]:
    content = theirs.content
    if theirs.type == "FunctionExecutionResultMessage":
        return [
            tool_output(result.call_id, result.content, is_error=bool(result.is_error))
            for result in content
        ]
    if theirs.type == "UserMessage":
        return [user(content)]
    if isinstance(content, str):
        return [assistant(content)]
    calls = [ToolCall(call.id, call.name, call.arguments) for call in content]
    return [assistant(theirs.thought, tool_calls=calls)]
