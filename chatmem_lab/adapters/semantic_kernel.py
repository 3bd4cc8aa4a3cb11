"""Semantic Kernel's chat history reducers, as its examples and its threads use them.

Read in semantic-kernel 1.45.0. The history is the reducer itself: system and developer
messages are in it, and each tool result is a message. It is reduced before a turn's user
message is added; with ``auto_reduce`` each message is added by ``add_message_async``, which
reduces behind it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from chatmem_lab.adapters.adapter import Adapter, Answer, Raised, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.waiting import wait_for
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message, Text, ToolCall, tool_output
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.summarizers import Summarizer, Truncate
from chatmem_lab.window import Window

__all__ = ["SemanticKernelReducer", "SemanticKernelSummarization", "SemanticKernelTruncation"]

Theirs = Any


class _Reducing(Adapter):
    """A history that reduces itself: what all of them have in common."""

    packages = ("semantic-kernel",)
    extra = "semantic-kernel"
    asks: ClassVar[Literal["append", "request"]] = "append"

    @abstractmethod
    def history(self, service: Callable[[], Any]) -> Any:
        """A new reducer, for one conversation; `service` makes its model."""
        raise NotImplementedError

    @property
    def answering(self) -> Summarizer:
        """Answers where the reducer calls a model."""
        return Truncate()

    def open(self, calls: ModelCalls) -> Session:
        return _History(self, calls)


@dataclass(frozen=True, repr=False)
class SemanticKernelReducer(_Reducing):
    """Any ``ChatHistoryReducer`` of Semantic Kernel.

    Parameters
    ----------
    make : callable
        Builds a reducer from a model (a ``ChatCompletionClientBase`` that answers with
        `summarizer`), a new one for each conversation. Its own ``auto_reduce`` decides when
        it is reduced.
    summarizer : Summarizer
        Answers where the reducer calls the model.

    Examples
    --------
    >>> SemanticKernelReducer(list).packages
    ('semantic-kernel',)
    """

    make: Callable[[Any], Any]
    _: KW_ONLY
    summarizer: Summarizer = field(default_factory=Truncate)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise PolicyError(f"SemanticKernelReducer needs a function, not {self.make!r}")

    @property
    def answering(self) -> Summarizer:
        return self.summarizer

    def history(self, service: Callable[[], Any]) -> Any:
        return self.make(service())


@dataclass(frozen=True, repr=False)
class SemanticKernelTruncation(_Reducing):
    """``ChatHistoryTruncationReducer`` with its own parameters and defaults.

    Examples
    --------
    >>> SemanticKernelTruncation(20, threshold_count=5)
    SemanticKernelTruncation(20, threshold_count=5)
    """

    target_count: Annotated[int, Bounds(1)]
    _: KW_ONLY
    threshold_count: Annotated[int, Bounds(0)] = 0
    auto_reduce: bool = False

    def history(self, service: Callable[[], Any]) -> Any:
        from semantic_kernel.contents import ChatHistoryTruncationReducer

        return ChatHistoryTruncationReducer(
            target_count=self.target_count,
            threshold_count=self.threshold_count,
            auto_reduce=self.auto_reduce,
        )


@dataclass(frozen=True, repr=False)
class SemanticKernelSummarization(_Reducing):
    """``ChatHistorySummarizationReducer`` with its own parameters and defaults.

    Without `summarization_instructions` the framework's own stand.

    Examples
    --------
    >>> SemanticKernelSummarization(20, use_single_summary=False)
    SemanticKernelSummarization(20, use_single_summary=False, summarizer=Truncate(2_000))
    """

    target_count: Annotated[int, Bounds(1)]
    _: KW_ONLY
    threshold_count: Annotated[int, Bounds(0)] = 0
    auto_reduce: bool = False
    summarization_instructions: str = ""
    use_single_summary: bool = True
    fail_on_error: bool = True
    include_function_content_in_summary: bool = False
    summarizer: Summarizer = field(default_factory=Truncate)

    @property
    def answering(self) -> Summarizer:
        return self.summarizer

    def history(self, service: Callable[[], Any]) -> Any:
        from semantic_kernel.contents import ChatHistorySummarizationReducer

        given = {"summarization_instructions": self.summarization_instructions}
        return ChatHistorySummarizationReducer(
            target_count=self.target_count,
            threshold_count=self.threshold_count,
            auto_reduce=self.auto_reduce,
            service=service(),
            use_single_summary=self.use_single_summary,
            fail_on_error=self.fail_on_error,
            include_function_content_in_summary=self.include_function_content_in_summary,
            **(given if self.summarization_instructions else {}),
        )


class _History:
    """A reducer at work."""

    def __init__(self, adapter: _Reducing, calls: ModelCalls) -> None:
        self._reducer = adapter.history(lambda: _service(adapter.answering, calls))
        #: Its message of each of ours, as long as it has it.
        self._known: dict[int, tuple[Message, Theirs]] = {}

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        new = [message for message in messages if id(message) not in self._known]
        for message in new:
            self._known[id(message)] = (message, _theirs(message))
        theirs = {id(self._known[id(m)][1]): at for at, m in enumerate(messages)}
        failure = wait_for(self._take_in([self._known[id(message)][1] for message in new]))
        # It hands its messages on as they are: one that is another object is a new one.
        answers: list[Answer] = []
        left: dict[int, tuple[Message, Theirs]] = {}
        for held in self._reducer.messages:
            at = theirs.get(id(held))
            (message,) = _ours(held) if at is None else (messages[at],)
            answers.append((at, message))
            left[id(message)] = (message, held)
        self._known = left
        if failure is not None:
            raise Raised(failure, answers) from failure
        return answers

    async def _take_in(self, new: Sequence[Theirs]) -> Exception | None:
        """Add what is new; the last error of a reduction that failed on the way."""
        failure: Exception | None = None
        for theirs in new:
            try:
                if not self._reducer.auto_reduce and theirs.role == "user":
                    await self._reducer.reduce()
            except Exception as error:
                failure = error
            try:
                await self._reducer.add_message_async(theirs)
            except Exception as error:
                failure = error
        return failure


def _service(summarizer: Summarizer, calls: ModelCalls) -> Any:
    from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
    from semantic_kernel.contents import ChatHistory, ChatMessageContent

    class Answering(ChatCompletionClientBase):
        """A model that answers with the adapter's summarizer."""

        async def _inner_get_chat_message_contents(
            self, chat_history: ChatHistory, settings: Any
        ) -> list[ChatMessageContent]:
            prompt = [message for theirs in chat_history.messages for message in _ours(theirs)]
            text = calls.answer(prompt, summarizer)
            return [ChatMessageContent(role="assistant", content=text)]

    return Answering(ai_model_id="summarizer")


def _theirs(message: Message) -> Theirs:
    from semantic_kernel.contents import (
        ChatMessageContent,
        FunctionCallContent,
        FunctionResultContent,
        TextContent,
    )

    items: list[Any] = []
    if message.role == "tool":
        result = FunctionResultContent(
            id=message.tool_call_id,
            call_id=message.tool_call_id,
            name=message.name or "tool",
            result=message.text,
            metadata={"is_error": True} if message.is_error else None,
        )
        items.append(result)
    elif message.text:
        items.append(TextContent(text=message.text))
    items += [
        FunctionCallContent(id=call.id, call_id=call.id, name=call.name, arguments=call.arguments)
        for call in message.tool_calls
    ]
    return ChatMessageContent(role=message.role, items=items)


def _ours(theirs: Theirs) -> list[Message]:
    kinds: dict[str, list[Any]] = {}
    for item in theirs.items:
        kinds.setdefault(item.content_type, []).append(item)
    results = kinds.get("function_result", [])
    if results:
        return [
            tool_output(
                result.id or "",
                str(result.result),
                is_error=bool(result.metadata.get("is_error")),
            )
            for result in results
        ]
    texts = tuple(Text(item.text) for item in kinds.get("text", ()))
    calls = tuple(
        ToolCall(call.id or "", call.name, str(call.arguments or ""))
        for call in kinds.get("function_call", ())
    )
    return [Message(theirs.role.value, texts, tool_calls=calls)]
