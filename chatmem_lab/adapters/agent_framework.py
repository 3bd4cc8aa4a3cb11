"""Microsoft Agent Framework's compaction strategies, asked before each model call.

Read in agent-framework-core 1.23.0. One list of messages goes through a conversation: a
strategy marks in it what is not sent, and puts summaries into it, as a chat client does with
the list that it is given and ``CompactionProvider`` with the stored history. System messages
are in the list; developer messages are system messages there, and all results of one answer
are one message. Images and files are not handed over.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from chatmem_lab.adapters.adapter import Adapter, Answer, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange, grouped_results
from chatmem_lab.adapters.waiting import wait_for
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import (
    INSTRUCTION_ROLES,
    Message,
    Reasoning,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.summarizers import Summarizer, Truncate
from chatmem_lab.window import Window

__all__ = [
    "AgentFrameworkContextWindow",
    "AgentFrameworkSelectiveToolCall",
    "AgentFrameworkSlidingWindow",
    "AgentFrameworkStrategy",
    "AgentFrameworkSummarization",
    "AgentFrameworkTokenBudget",
    "AgentFrameworkToolResult",
    "AgentFrameworkTruncation",
]

#: How a strategy counts: its own estimate of four characters a token, or the replay's counter
#: on the same text.
Tokenizer = Literal["characters", "replay"]


class _Parts:
    """What a strategy is built with: a tokenizer by name, and a client where it needs one."""

    def __init__(self, calls: ModelCalls) -> None:
        self.window: Window | None = None
        self._calls = calls

    def tokenizer(self, name: str | None) -> Any:
        from agent_framework import CharacterEstimatorTokenizer

        return {"characters": CharacterEstimatorTokenizer(), "replay": self}.get(name or "")

    def count_tokens(self, text: str) -> int:
        assert self.window is not None
        return self.window.count(user(text))

    def client(self, summarizer: Summarizer) -> Any:
        return _client(self._calls, summarizer)


class _Strategy(Adapter):
    """A compaction strategy: what all of them have in common."""

    packages = ("agent-framework-core",)
    extra = "agent-framework"
    sees: ClassVar[Literal["window", "history"]] = "history"

    def __post_init__(self) -> None:
        super().__post_init__()
        tokenizer = getattr(self, "tokenizer", None)
        if tokenizer not in (None, "characters", "replay"):
            raise PolicyError(
                f"{type(self).__name__}: tokenizer must be characters or replay, not {tokenizer!r}"
            )

    @abstractmethod
    def strategy(self, parts: _Parts) -> Any:
        """A new strategy, for one conversation."""
        raise NotImplementedError

    def open(self, calls: ModelCalls) -> Session:
        return _Client(self, calls)


@dataclass(frozen=True, repr=False)
class AgentFrameworkStrategy(_Strategy):
    """Any compaction strategy.

    Parameters
    ----------
    make : callable
        Builds a strategy, a new one for each conversation. It is given a chat client, which
        answers with `summarizer`.
    summarizer : Summarizer

    Examples
    --------
    >>> AgentFrameworkStrategy(dict).packages
    ('agent-framework-core',)
    """

    make: Callable[[Any], Any]
    _: KW_ONLY
    summarizer: Summarizer = field(default_factory=Truncate)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise PolicyError(f"AgentFrameworkStrategy needs a function, not {self.make!r}")

    def strategy(self, parts: _Parts) -> Any:
        return self.make(parts.client(self.summarizer))


@dataclass(frozen=True, repr=False)
class AgentFrameworkTruncation(_Strategy):
    """``TruncationStrategy``; it counts messages unless it has a `tokenizer`.

    Examples
    --------
    >>> AgentFrameworkTruncation(20, compact_to=10)
    AgentFrameworkTruncation(20, compact_to=10)
    """

    max_n: Annotated[int, Bounds(1)]
    _: KW_ONLY
    compact_to: Annotated[int, Bounds(1)]
    tokenizer: Tokenizer | None = None
    preserve_system: bool = True
    preserve_first_user_group: bool = False

    def strategy(self, parts: _Parts) -> Any:
        from agent_framework import TruncationStrategy

        return TruncationStrategy(
            max_n=self.max_n,
            compact_to=self.compact_to,
            tokenizer=parts.tokenizer(self.tokenizer),
            preserve_system=self.preserve_system,
            preserve_first_user_group=self.preserve_first_user_group,
        )


@dataclass(frozen=True, repr=False)
class AgentFrameworkSlidingWindow(_Strategy):
    """``SlidingWindowStrategy``.

    Examples
    --------
    >>> AgentFrameworkSlidingWindow(10)
    AgentFrameworkSlidingWindow(10)
    """

    keep_last_groups: Annotated[int, Bounds(1)]
    _: KW_ONLY
    preserve_system: bool = True

    def strategy(self, parts: _Parts) -> Any:
        from agent_framework import SlidingWindowStrategy

        return SlidingWindowStrategy(
            keep_last_groups=self.keep_last_groups, preserve_system=self.preserve_system
        )


@dataclass(frozen=True, repr=False)
class AgentFrameworkSelectiveToolCall(_Strategy):
    """``SelectiveToolCallCompactionStrategy``.

    Examples
    --------
    >>> AgentFrameworkSelectiveToolCall(3)
    AgentFrameworkSelectiveToolCall(3)
    """

    keep_last_tool_call_groups: Annotated[int, Bounds(0)] = 1

    def strategy(self, parts: _Parts) -> Any:
        from agent_framework import SelectiveToolCallCompactionStrategy

        return SelectiveToolCallCompactionStrategy(
            keep_last_tool_call_groups=self.keep_last_tool_call_groups
        )


@dataclass(frozen=True, repr=False)
class AgentFrameworkToolResult(_Strategy):
    """``ToolResultCompactionStrategy``.

    Examples
    --------
    >>> AgentFrameworkToolResult(3)
    AgentFrameworkToolResult(3)
    """

    keep_last_tool_call_groups: Annotated[int, Bounds(0)] = 1

    def strategy(self, parts: _Parts) -> Any:
        from agent_framework import ToolResultCompactionStrategy

        return ToolResultCompactionStrategy(
            keep_last_tool_call_groups=self.keep_last_tool_call_groups
        )


@dataclass(frozen=True, repr=False)
class AgentFrameworkSummarization(_Strategy):
    """``SummarizationStrategy``; `summarizer` answers for its client's model.

    Examples
    --------
    >>> AgentFrameworkSummarization(Truncate(400), target_count=8)
    AgentFrameworkSummarization(Truncate(400), target_count=8)
    """

    summarizer: Summarizer
    _: KW_ONLY
    target_count: Annotated[int, Bounds(1)] = 4
    threshold: Annotated[int, Bounds(0)] | None = 2
    prompt: str | None = None
    max_summary_input_tokens: Annotated[int, Bounds(1)] | None = 8_000
    tokenizer: Tokenizer = "characters"

    def strategy(self, parts: _Parts) -> Any:
        from agent_framework import SummarizationStrategy

        return SummarizationStrategy(
            client=parts.client(self.summarizer),
            target_count=self.target_count,
            threshold=self.threshold,
            prompt=self.prompt,
            max_summary_input_tokens=self.max_summary_input_tokens,
            tokenizer=parts.tokenizer(self.tokenizer),
        )


@dataclass(frozen=True, repr=False)
class AgentFrameworkContextWindow(_Strategy):
    """``ContextWindowCompactionStrategy``.

    Examples
    --------
    >>> AgentFrameworkContextWindow(8_000, max_output_tokens=1_000)
    AgentFrameworkContextWindow(8_000, max_output_tokens=1_000)
    """

    max_context_window_tokens: Annotated[int, Bounds(1)]
    _: KW_ONLY
    max_output_tokens: Annotated[int, Bounds(0)]
    tokenizer: Tokenizer = "characters"
    tool_eviction_threshold: Annotated[float, Bounds(0, 1)] = 0.5
    truncation_threshold: Annotated[float, Bounds(0, 1)] = 0.8
    keep_last_tool_call_groups: Annotated[int, Bounds(0)] = 4
    preserve_first_user_group: bool = False

    def strategy(self, parts: _Parts) -> Any:
        from agent_framework import ContextWindowCompactionStrategy

        return ContextWindowCompactionStrategy(
            max_context_window_tokens=self.max_context_window_tokens,
            max_output_tokens=self.max_output_tokens,
            tokenizer=parts.tokenizer(self.tokenizer),
            tool_eviction_threshold=self.tool_eviction_threshold,
            truncation_threshold=self.truncation_threshold,
            keep_last_tool_call_groups=self.keep_last_tool_call_groups,
            preserve_first_user_group=self.preserve_first_user_group,
        )


@dataclass(frozen=True, repr=False)
class AgentFrameworkTokenBudget(_Strategy):
    """``TokenBudgetComposedStrategy`` of other strategies, which are adapters of this module.

    Examples
    --------
    >>> AgentFrameworkTokenBudget(8_000, strategies=(AgentFrameworkToolResult(2),))
    AgentFrameworkTokenBudget(8_000, strategies=(AgentFrameworkToolResult(2),))
    """

    token_budget: Annotated[int, Bounds(0)]
    _: KW_ONLY
    strategies: Sequence[Adapter]
    tokenizer: Tokenizer = "characters"
    early_stop: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "strategies", tuple(self.strategies))
        for strategy in self.strategies:
            if not isinstance(strategy, _Strategy):
                raise PolicyError(
                    "AgentFrameworkTokenBudget: strategies are AgentFramework… adapters, not "
                    f"{strategy!r}"
                )

    def strategy(self, parts: _Parts) -> Any:
        from agent_framework import TokenBudgetComposedStrategy

        return TokenBudgetComposedStrategy(
            token_budget=self.token_budget,
            tokenizer=parts.tokenizer(self.tokenizer),
            strategies=[s.strategy(parts) for s in self.strategies if isinstance(s, _Strategy)],
            early_stop=self.early_stop,
        )


class _Client:
    """A chat client with its strategy and the one list of messages that it is given."""

    def __init__(self, adapter: _Strategy, calls: ModelCalls) -> None:
        self._parts = _Parts(calls)
        self._strategy = adapter.strategy(self._parts)
        #: The framework's messages with the messages of the history that they hold.
        self._held: list[tuple[Any, tuple[int, ...]]] = []
        #: The same, and the summaries that the strategy put between them.
        self._messages: list[Any] = []

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        from agent_framework import apply_compaction

        self._parts.window = window
        for members in grouped_results(messages, instructions=True)[len(self._held) :]:
            theirs = _theirs([messages[at] for at in members], f"msg_{members[0]}")
            self._held.append((theirs, members))
            self._messages.append(theirs)
        exchange = Exchange(messages, self._held, _ours)
        left = wait_for(apply_compaction(self._messages, strategy=self._strategy))
        return exchange.answers(left)


def _client(calls: ModelCalls, summarizer: Summarizer) -> Any:
    from agent_framework import BaseChatClient, ChatResponse
    from agent_framework import Message as Theirs

    class Answering(BaseChatClient):  # type: ignore[type-arg]
        """A chat client that answers with the adapter's summarizer."""

        async def _inner_get_response(
            self, *, messages: Sequence[Any], stream: bool, options: Mapping[str, Any], **_: Any
        ) -> Any:
            prompt = [ours for theirs in messages for ours in _ours(theirs)]
            text = calls.answer(prompt, summarizer)
            return ChatResponse(messages=[Theirs(role="assistant", contents=[text])])

    return Answering()


def _theirs(ours: Sequence[Message], message_id: str) -> Any:
    from agent_framework import Message as Theirs

    first = ours[0]
    role = "system" if first.role in INSTRUCTION_ROLES else first.role
    contents = _results(ours) if role == "tool" else _contents(first)
    return Theirs(
        role=role, contents=contents, author_name=first.name or None, message_id=message_id
    )


def _results(ours: Sequence[Message]) -> list[Any]:
    from agent_framework import Content

    return [
        Content.from_function_result(
            message.tool_call_id or "",
            result=message.text,
            exception=message.text if message.is_error else None,
        )
        for message in ours
    ]


def _contents(message: Message) -> list[Any]:
    from agent_framework import Content

    contents = [
        Content.from_text_reasoning(text=part.text)
        for part in message.parts
        if isinstance(part, Reasoning)
    ]
    if message.text or message.role != "assistant":
        contents.append(Content.from_text(message.text))
    contents += [
        Content.from_function_call(call.id, call.name, arguments=call.arguments)
        for call in message.tool_calls
    ]
    return contents


def _ours(theirs: Any) -> list[Message]:
    if theirs.role == "tool":
        return [
            tool_output(result.call_id, result.result, is_error=result.exception is not None)
            for result in theirs.contents
        ]
    text = "".join(content.text for content in theirs.contents if content.type == "text")
    if theirs.role != "assistant":
        return [(system if theirs.role == "system" else user)(text)]
    calls = [
        ToolCall(content.call_id, content.name, content.arguments)
        for content in theirs.contents
        if content.type == "function_call"
    ]
    return [assistant(text or None, tool_calls=calls)]
