"""LlamaIndex's chat memories, as its agents use them.

Read in llama-index-core 0.14.25. A run's user message is put into the memory, which is read
before each model call and once more when the run has ended; calls and results of the run
stand behind what was read, on a scratchpad, and are put into the memory together at its end.
The system prompt is not in the memory: it stays. With ``scratchpad=False`` each message is put
as it comes and the memory is read before each model call, as in a loop of one's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from chatmem_lab.adapters.adapter import Adapter, Answer, Raised, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import (
    INSTRUCTION_ROLES,
    Image,
    Message,
    Part,
    Text,
    ToolCall,
    tool_output,
)
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.presets.llama_index import remembered
from chatmem_lab.summarizers import Summarizer, Truncate
from chatmem_lab.window import Window

__all__ = [
    "LlamaIndexBaseMemory",
    "LlamaIndexChatMemoryBuffer",
    "LlamaIndexChatSummaryMemoryBuffer",
    "LlamaIndexMemory",
]

Theirs = Any


class _Remembering(Adapter):
    """An agent's memory: what all of them have in common."""

    packages = ("llama-index-core",)
    extra = "llama-index"
    scratchpad: bool

    @abstractmethod
    def memory(self, calls: ModelCalls, copies: _Copies) -> Any:
        """A new memory, for one conversation."""
        raise NotImplementedError

    def open(self, calls: ModelCalls) -> Session:
        return _Agent(self, calls)


@dataclass(frozen=True, repr=False)
class LlamaIndexBaseMemory(_Remembering):
    """Any memory of LlamaIndex, with `put`, `put_messages` and `get`.

    Parameters
    ----------
    make : callable
        Builds a memory from an LLM that answers with `summarizer`, a new one for each
        conversation.
    scratchpad : bool
        What a run brings is put when it ends, as agents do; or each message as it comes.
    sees_what : {"history", "window"}
        Whether its store keeps everything, or reading overwrites it.
    summarizer : Summarizer

    Examples
    --------
    >>> LlamaIndexBaseMemory(dict, sees_what="window").sees
    'window'
    """

    make: Callable[[Any], Any]
    _: KW_ONLY
    scratchpad: bool = True
    sees_what: Literal["history", "window"] = "history"
    summarizer: Summarizer = field(default_factory=Truncate)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise PolicyError(f"LlamaIndexBaseMemory needs a function, not {self.make!r}")
        if self.sees_what not in ("window", "history"):
            raise PolicyError(f"sees_what must be window or history, not {self.sees_what!r}")

    @property
    def sees(self) -> Any:  # type: ignore[override]
        return self.sees_what

    def memory(self, calls: ModelCalls, copies: _Copies) -> Any:
        return self.make(_llm(self.summarizer, calls))


@dataclass(frozen=True, repr=False)
class LlamaIndexChatMemoryBuffer(_Remembering):
    """``ChatMemoryBuffer``; its default limit where it is given no LLM.

    Examples
    --------
    >>> LlamaIndexChatMemoryBuffer(1_500)
    LlamaIndexChatMemoryBuffer(1_500)
    """

    token_limit: Annotated[int, Bounds(1)] = 3000
    _: KW_ONLY
    scratchpad: bool = True

    sees: ClassVar[Literal["window", "history"]] = "history"

    def memory(self, calls: ModelCalls, copies: _Copies) -> Any:
        from llama_index.core.memory import ChatMemoryBuffer

        return ChatMemoryBuffer.from_defaults(token_limit=self.token_limit)


@dataclass(frozen=True, repr=False)
class LlamaIndexChatSummaryMemoryBuffer(_Remembering):
    """``ChatSummaryMemoryBuffer``; its default limit where its LLM has no say.

    Without `summarize_prompt` the framework's own stands.

    Examples
    --------
    >>> LlamaIndexChatSummaryMemoryBuffer(1_500)
    LlamaIndexChatSummaryMemoryBuffer(1_500, summarizer=Truncate(2_000))
    """

    token_limit: Annotated[int, Bounds(1)] = 2000
    _: KW_ONLY
    summarize_prompt: str = ""
    scratchpad: bool = True
    summarizer: Summarizer = field(default_factory=Truncate)

    def memory(self, calls: ModelCalls, copies: _Copies) -> Any:
        from llama_index.core.memory import ChatSummaryMemoryBuffer

        return ChatSummaryMemoryBuffer.from_defaults(
            llm=_llm(self.summarizer, calls),
            token_limit=self.token_limit,
            summarize_prompt=self.summarize_prompt or None,
        )


@dataclass(frozen=True, repr=False)
class LlamaIndexMemory(_Remembering):
    """``Memory`` with a static block and one of extracted facts, if they are asked for.

    Parameters
    ----------
    token_limit, chat_history_token_ratio, token_flush_size
        As there.
    static_content : str
        Of a ``StaticMemoryBlock``.
    max_facts : int
        Of a ``FactExtractionMemoryBlock``; 0 for none. It is told of what is flushed: what
        the summarizer answers is one fact, or several within ``<fact>`` and ``</fact>``.
    block_priority : int
        Of the facts: 0 is never cut.
    insert_method : {"system", "user"}
    scratchpad : bool
    summarizer : Summarizer

    Examples
    --------
    >>> LlamaIndexMemory(8_000, static_content="Be brief.")
    LlamaIndexMemory(8_000, static_content='Be brief.', summarizer=Truncate(2_000))
    """

    token_limit: Annotated[int, Bounds(1)] = 30_000
    _: KW_ONLY
    chat_history_token_ratio: Annotated[float, Bounds(0, 1)] = 0.7
    token_flush_size: Annotated[int, Bounds(1)] = 3_000
    static_content: str = ""
    max_facts: Annotated[int, Bounds(0)] = 0
    block_priority: Annotated[int, Bounds(0)] = 0
    insert_method: Literal["system", "user"] = "system"
    scratchpad: bool = True
    summarizer: Summarizer = field(default_factory=Truncate)

    sees: ClassVar[Literal["window", "history"]] = "history"

    def memory(self, calls: ModelCalls, copies: _Copies) -> Any:
        from llama_index.core.memory import (
            FactExtractionMemoryBlock,
            InsertMethod,
            Memory,
            StaticMemoryBlock,
        )

        blocks: list[Any] = []
        if self.static_content:
            blocks.append(StaticMemoryBlock(static_content=self.static_content))
        if self.max_facts:
            llm = _llm(self.summarizer, calls, wrap=_as_fact)
            blocks.append(
                FactExtractionMemoryBlock(
                    llm=llm, max_facts=self.max_facts, priority=self.block_priority
                )
            )
        return Memory.from_defaults(
            token_limit=self.token_limit,
            chat_history_token_ratio=self.chat_history_token_ratio,
            token_flush_size=self.token_flush_size,
            memory_blocks=blocks,
            insert_method=InsertMethod(self.insert_method),
            chat_store=_store(copies),
        )


def _as_fact(text: str) -> str:
    return text if "<fact>" in text else f"<fact>{text}</fact>"


class _Copies:
    """Which message each one is that a store handed out last."""

    def __init__(self) -> None:
        self._handed: dict[int, tuple[Theirs, Theirs]] = {}

    def of(self, messages: Iterable[Theirs]) -> list[Theirs]:
        handed = [(message.model_copy(deep=True), message) for message in messages]
        self._handed = {id(copied): (copied, message) for copied, message in handed}
        return [copied for copied, _ in handed]

    def tag(self, message: Theirs) -> int:
        return id(self._handed.get(id(message), (message, message))[1])


class _Agent:
    """An agent's memory at work."""

    def __init__(self, adapter: _Remembering, calls: ModelCalls) -> None:
        self._copies = _Copies()
        self._memory = adapter.memory(calls, self._copies)
        self._has_scratchpad = adapter.scratchpad
        #: What it has of each of our messages, and those of a run that has not ended.
        self._known: dict[int, tuple[Message, Theirs]] = {}
        self._scratchpad: list[Message] = []

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        stay = [
            at
            for at, message in enumerate(messages)
            if message.role in INSTRUCTION_ROLES and id(message) not in self._known
        ]
        inside = [at for at in range(len(messages)) if at not in set(stay)]
        new = [messages[at] for at in inside if id(messages[at]) not in self._known]
        for message in new:
            self._known[id(message)] = (message, _theirs(message))
        groups = [(self._known[id(messages[at])][1], (at,)) for at in inside]
        exchange = Exchange(messages, groups, _ours, self._copies.tag)

        def left(held: Iterable[Theirs]) -> list[Answer]:
            theirs = [*held, *(self._known[id(message)][1] for message in self._scratchpad)]
            answers = exchange.answers(theirs)
            for (at, message), their in zip(answers, theirs, strict=True):
                if at is None:
                    self._known[id(message)] = (message, their)
            return _with_those_that_stay([(at, messages[at]) for at in stay], answers)

        try:
            self._take_in(new)
            return left(self._memory.get())
        except Exception as error:
            raise Raised(error, left(self._memory.get_all())) from error

    def _take_in(self, new: Sequence[Message]) -> None:
        """Put what came into the memory, when its run has ended."""
        run = [*self._scratchpad, *new]
        taken = 0
        for added in remembered(run, scratchpad=self._has_scratchpad):
            taken += len(added)
            self._scratchpad = run[taken:]
            theirs = [self._known[id(message)][1] for message in added]
            if len(theirs) == 1 and (added[0].role == "user" or not self._has_scratchpad):
                self._memory.put(theirs[0])
            else:
                self._memory.put_messages(theirs)
            if self._has_scratchpad and _is_answer(added[-1]):
                self._memory.get()
        self._scratchpad = run[taken:]


def _with_those_that_stay(stay: list[Answer], answers: list[Answer]) -> list[Answer]:
    """Both in the window's order; a new message comes just before the next that is none."""
    merged: list[Answer] = []
    end = float("inf")
    for at, message in reversed(answers):
        end = end if at is None else at
        while stay and (stay[-1][0] or 0) > end:
            merged.append(stay.pop())
        merged.append((at, message))
    return [*stay, *reversed(merged)]


def _is_answer(message: Message) -> bool:
    return message.role == "assistant" and not message.tool_calls


def _llm(
    summarizer: Summarizer, calls: ModelCalls, wrap: Callable[[str], str] = lambda text: text
) -> Any:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.core.llms import CustomLLM, LLMMetadata

    class Answering(CustomLLM):
        """A model that answers with the adapter's summarizer."""

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
            prompt = [message for theirs in messages for message in _ours(theirs)]
            text = wrap(calls.answer(prompt, summarizer))
            return ChatResponse(message=ChatMessage(role="assistant", content=text))

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            raise NotImplementedError("it chats")

        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            raise NotImplementedError("it chats")

    return Answering()


def _store(copies: _Copies) -> Any:
    """A store in memory that, as the framework's SQL one, hands out copies."""
    from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

    rows: list[list[Any]] = []

    class Store(AsyncDBChatStore):
        """The messages of one session, with what became of them."""

        async def get_messages(
            self,
            key: str,
            status: Any = MessageStatus.ACTIVE,
            limit: int | None = None,
            offset: int | None = None,
        ) -> list[Theirs]:
            found = [m for m, has in rows if status is None or has == status]
            start = offset or 0
            return copies.of(found[start : None if limit is None else start + limit])

        async def count_messages(self, key: str, status: Any = MessageStatus.ACTIVE) -> int:
            return sum(status is None or has == status for _, has in rows)

        async def add_message(
            self, key: str, message: Theirs, status: Any = MessageStatus.ACTIVE
        ) -> None:
            rows.append([message, status])

        async def add_messages(
            self, key: str, messages: list[Theirs], status: Any = MessageStatus.ACTIVE
        ) -> None:
            rows.extend([message, status] for message in messages)

        async def set_messages(
            self, key: str, messages: list[Theirs], status: Any = MessageStatus.ACTIVE
        ) -> None:
            rows[:] = [[message, status] for message in messages]

        async def archive_oldest_messages(self, key: str, n: int) -> list[Theirs]:
            oldest = [row for row in rows if row[1] == MessageStatus.ACTIVE][:n]
            for row in oldest:
                row[1] = MessageStatus.ARCHIVED
            return [row[0] for row in oldest]

        async def delete_message(self, key: str, idx: int) -> Theirs:
            return rows.pop(idx)[0]

        async def delete_messages(self, key: str, status: Any = None) -> None:
            rows[:] = [row for row in rows if status not in (None, row[1])]

        async def delete_oldest_messages(self, key: str, n: int) -> list[Theirs]:
            oldest = rows[:n]
            del rows[:n]
            return [row[0] for row in oldest]

        async def get_keys(self) -> list[str]:
            return []

    return Store()


def _theirs(message: Message) -> Theirs:
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ToolCallBlock

    blocks: list[Any] = [TextBlock(text=message.text)] if message.text else []
    blocks += [ImageBlock(url=part.url) for part in message.parts if isinstance(part, Image)]
    blocks += [
        ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=call.arguments)
        for call in message.tool_calls
    ]
    answers = {"tool_call_id": message.tool_call_id or ""}
    return ChatMessage(
        role=message.role,
        blocks=blocks or [TextBlock(text="")],
        additional_kwargs=answers if message.role == "tool" else {},
    )


def _ours(theirs: Theirs) -> list[Message]:
    text = theirs.content or ""
    if theirs.role.value == "tool":
        return [tool_output(theirs.additional_kwargs.get("tool_call_id", ""), text)]
    images = [Image(str(block.url)) for block in theirs.blocks if block.block_type == "image"]
    calls = [
        ToolCall(block.tool_call_id or "", block.tool_name, str(block.tool_kwargs or ""))
        for block in theirs.blocks
        if block.block_type == "tool_call"
    ]
    parts: list[Part] = [Text(text), *images] if text else list(images)
    return [Message(theirs.role.value, tuple(parts), tool_calls=tuple(calls))]
