"""LlamaIndex's chat memories.

Source: llama-index-core 0.14.25, read on 2026-12-01. Its agents put a run's user message into
the memory and read it before each model call; the calls and results of the run stand behind
what was read, on a scratchpad that nothing cuts, until the run ends. Their system prompt is
not in the memory: it stays and does not count. Tokens are those of the texts alone, counted
as gpt-3.5-turbo has them: calls and their arguments count nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Image, Message, Text, system, user
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.chained import chain
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.tokens import counter
from chatmem_lab.window import KEEP, Insert, Revision, SummaryForm, Unit, Window

__all__ = [
    "LlamaIndexBufferTail",
    "LlamaIndexQueue",
    "LlamaIndexSummaryRound",
    "llama_index_chat_memory_buffer",
    "llama_index_chat_summary_memory_buffer",
    "llama_index_memory",
    "remembered",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")
_BLOCK = "<memory>\n<StaticContent>\n{}\n</StaticContent>\n</memory>"
_IMAGE_TOKENS = 256


def remembered(messages: Sequence[Message], *, scratchpad: bool) -> Iterator[list[Message]]:
    """What an agent puts into its memory, one addition after the other.

    A user message alone, then all that its run brought, once it has ended with an answer
    without calls. Without a scratchpad each message is an addition.
    """
    run: list[Message] = []
    for message in messages:
        ends = message.role == "assistant" and not message.tool_calls
        if message.role == "user" and run and scratchpad:
            yield run
            run = []
        run.append(message)
        if ends or message.role == "user" or not scratchpad:
            yield run
            run = []


class _Tokens:
    """Counts texts as the framework's default tokenizer does, each once."""

    def __init__(self) -> None:
        self._counter = counter("gpt-3.5-turbo")
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = self._counter.count_text(text).tokens
        return self._known[text]


def _tokens(window: Window) -> _Tokens:
    """One counter for each window, which remembers."""
    known: _Tokens = window.scratch.setdefault(_Tokens, _Tokens())
    return known


def _content(message: Message) -> str:
    """The text that is counted; the word None for a message that has no text but calls."""
    holds_more = message.tool_calls or any(isinstance(part, Image) for part in message.parts)
    return message.text or ("None" if holds_more else "")


class _Loose(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True


class _View(_Loose):
    """The store keeps everything; what is sent is worked out for each request."""

    scratchpad: bool

    asks: ClassVar[Literal["append", "request"]] = "request"
    sees: ClassVar[Literal["window", "history"]] = "history"

    def additions(self, window: Window) -> list[list[Unit]]:
        """The units in the memory, as they were put there."""
        units = [unit for unit in window.units if unit.role not in INSTRUCTION_ROLES]
        messages = [unit.slots[0].message for unit in units]
        ahead = iter(units)
        return [
            [next(ahead) for _ in added]
            for added in remembered(messages, scratchpad=self.scratchpad)
        ]


@dataclass(frozen=True, repr=False)
class LlamaIndexBufferTail(_View):
    """LlamaIndex 0.14 ``ChatMemoryBuffer.get``: the newest messages whose texts fit."""

    token_limit: Annotated[int, Bounds(1)] = 3000
    _: KW_ONLY
    scratchpad: bool = True

    def revise(self, window: Window) -> Revision:
        stored = [unit for added in self.additions(window) for unit in added]
        start = self._start(stored, _tokens(window))
        if start == 0:
            return KEEP
        return Revision(evict=tuple(stored[:start]), reason=f"over {self.token_limit:,} tokens")

    def _start(self, stored: Sequence[Unit], tokens: _Tokens) -> int:
        """Where the tail begins: at the first message, or behind it at one of the user's."""
        fits = _where_joined_fit(
            [_content(unit.slots[0].message) for unit in stored], tokens, self.token_limit
        )
        start, last = 0, len(stored) - 1
        while start < last and start not in fits:
            start += 1
            while start < last and stored[start].role in ("assistant", "tool"):
                start += 1
        return start


def _where_joined_fit(texts: Sequence[str], tokens: _Tokens, limit: int) -> set[int]:
    """From where on the texts, joined by spaces, have at most `limit` tokens.

    Tokens never reach over the space behind a text that ends in none: there the counts of
    both sides add up, and no text is counted twice.
    """
    fits: set[int] = set()
    behind, glued = 0, ""
    for at in reversed(range(len(texts))):
        text = texts[at]
        ends_itself = bool(text) and not text[-1].isspace()
        if ends_itself and at + 1 < len(texts):
            behind += tokens(" " + glued)
            if behind > limit:
                break
            glued = text
        else:
            glued = f"{text} {glued}" if at + 1 < len(texts) else text
        if tokens(glued) + behind <= limit:
            fits.add(at)
    return fits


@dataclass(frozen=True, repr=False)
class LlamaIndexSummaryRound(_Loose):
    """LlamaIndex 0.14 ``ChatSummaryMemoryBuffer.get``: what does not fit is summarized.

    Agents read before each model call and, `after_answer`, when a run has ended.
    """

    summarizer: Summarizer
    _: KW_ONLY
    token_limit: Annotated[int, Bounds(1)] = 2000
    scratchpad: bool = True
    after_answer: bool = False

    @property
    def asks(self) -> Literal["append", "request"]:  # type: ignore[override]
        return "append" if self.after_answer else "request"

    def revise(self, window: Window) -> Revision:
        newest = window.newest
        if self.after_answer and not (newest is not None and _is_answer(newest)):
            return KEEP
        stored = self._stored(window)
        tokens = _tokens(window)
        room, cut = self.token_limit, len(stored)
        while cut and tokens(_content(stored[cut - 1].slots[0].message)) <= room:
            cut -= 1
            room -= tokens(_content(stored[cut].slots[0].message))
        while cut < len(stored) and stored[cut].role in ("assistant", "tool"):
            cut += 1
        fold = tuple(stored[:cut])
        if all(unit.is_made for unit in fold):
            return KEEP
        return Revision(
            fold=fold,
            by=self.summarizer,
            form=SummaryForm(role="system", place="last"),
            reason=f"over {self.token_limit:,} tokens",
        )

    def _stored(self, window: Window) -> list[Unit]:
        """What is in the memory: all but the scratchpad."""
        units = [u for u in window.units if u.is_made or u.role not in INSTRUCTION_ROLES]
        while self.scratchpad and units:
            last = units[-1]
            if last.is_made or last.role == "user" or _is_answer(last):
                break
            units.pop()
        return units


def _is_answer(unit: Unit) -> bool:
    return unit.role == "assistant" and not unit.slots[0].message.tool_calls


class _Queued(NamedTuple):
    unit: Unit
    tokens: int

    @property
    def is_user(self) -> bool:
        return self.unit.role == "user"


@dataclass(frozen=True, repr=False)
class LlamaIndexQueue(_View):
    """LlamaIndex 0.14 ``Memory``: a queue whose oldest messages are flushed."""

    token_limit: Annotated[int, Bounds(1)] = 30_000
    _: KW_ONLY
    chat_history_token_ratio: Annotated[float, Bounds(0, 1)] = 0.7
    token_flush_size: Annotated[int, Bounds(1)] = 3_000
    static_content: str = ""
    insert_method: Literal["system", "user"] = "system"
    scratchpad: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.insert_method not in ("system", "user"):
            raise PolicyError(
                "LlamaIndexQueue: insert_method must be system or user, not "
                f"{self.insert_method!r}"
            )

    def revise(self, window: Window) -> Revision:
        tokens = _tokens(window)
        additions = self.additions(window)
        queue: list[_Queued] = []
        for added in additions:
            queue += [_Queued(unit, _estimate(unit.slots[0].message, tokens)) for unit in added]
            queue = self._managed(queue)
        held = {id(queued.unit) for queued in queue}
        evict = tuple(unit for added in additions for unit in added if id(unit) not in held)
        told = self._told(window, [queued.unit for queued in queue], sum(map(len, additions)))
        if not evict and told is KEEP:
            return KEEP
        return Revision(
            evict=evict,
            replace=told.replace,
            replaced_as="clamp",
            insert=told.insert,
            reason=f"over {self.chat_history_token_ratio:g} of {self.token_limit:,} tokens",
        )

    @property
    def _flush_size(self) -> int:
        if self.token_flush_size <= self.token_limit:
            return self.token_flush_size
        return int(self.token_limit * 0.7) or int(self.token_limit * 0.1)

    def _managed(self, queue: list[_Queued]) -> list[_Queued]:
        """The queue as it is left after an addition."""
        limit = self.token_limit * self.chat_history_token_ratio
        left = sum(queued.tokens for queued in queue)
        start = 0
        while left > limit and start < len(queue) - 1:
            cut, flushed = start, 0
            while flushed < self._flush_size and cut < len(queue) - 1:
                flushed += queue[cut].tokens
                cut += 1
            while cut < len(queue) - 1 and not queue[cut].is_user:
                cut += 1
            if not queue[cut].is_user:
                users = [at for at in range(start, len(queue)) if queue[at].is_user]
                cut = users[-1] if users else len(queue)
            if cut == start:
                break
            left -= sum(queued.tokens for queued in queue[start:cut])
            start = cut
        return queue[start:]

    def _told(self, window: Window, queue: Sequence[Unit], stored: int) -> Revision:
        """How the static content is put in."""
        if not self.static_content:
            return KEEP
        text = _BLOCK.format(self.static_content)
        units = [unit for unit in window.units if unit.role not in INSTRUCTION_ROLES]
        behind = units[stored] if stored < len(units) else None
        if self.insert_method == "system":
            before = queue[0] if queue else behind
            return Revision(insert=(Insert(system(text), before),))
        users = [unit for unit in queue if unit.role == "user"]
        if not users:
            return Revision(insert=(Insert(user(text), behind),))
        slot = users[-1].slots[0]
        return Revision(replace={slot: _in_front(text, slot.message)})


def _estimate(message: Message, tokens: _Tokens) -> int:
    """Texts, images at a flat rate, and the id of the call that is answered."""
    images = sum(isinstance(part, Image) for part in message.parts)
    answered = ""
    if message.role == "tool":
        answered = str({"tool_call_id": message.tool_call_id or ""})
    return tokens(message.text) + _IMAGE_TOKENS * images + tokens(answered)


def _in_front(text: str, message: Message) -> Message:
    images: Iterable[Image] = (part for part in message.parts if isinstance(part, Image))
    whole = f"{text}\n{message.text}" if message.text or not message.parts else text
    return Message("user", (Text(whole), *images))


def llama_index_chat_memory_buffer(token_limit: int = 3000, *, scratchpad: bool = True) -> Preset:
    """LlamaIndex's ``ChatMemoryBuffer``: the newest messages whose texts fit.

    What is left begins at a message of the user's, so pairs stay whole; only the very first
    message may be another. The last message stays whatever it counts. Calls count as the
    word None, so windows of agents are larger than the limit. The prefix breaks with nearly
    every message once the limit is reached; the store keeps everything.

    Parameters
    ----------
    token_limit : int
    scratchpad : bool
        As agents do: what a run brings is added when it ends. With False each message is
        added as it comes, as in a loop of one's own around ``put`` and ``get``.

    Examples
    --------
    >>> llama_index_chat_memory_buffer()
    llama_index_chat_memory_buffer(3_000)
    """
    return named_preset(
        llama_index_chat_memory_buffer,
        LlamaIndexBufferTail(token_limit, scratchpad=scratchpad),
        _RULES,
        token_limit=token_limit,
        scratchpad=scratchpad,
    )


def llama_index_chat_summary_memory_buffer(
    summarizer: Summarizer, *, token_limit: int = 2000, scratchpad: bool = True
) -> Preset:
    """LlamaIndex's ``ChatSummaryMemoryBuffer``: what does not fit becomes a system message.

    Calls and results are never the first that stays: they are summarized with what is before
    them, so pairs stay whole. The user's last message is summarized too where it does not
    fit. The store is overwritten, an earlier summary is summarized again, and the prefix
    breaks with nearly every message once the limit is reached. Its
    ``count_initial_tokens`` changes nothing with agents, which never say how many there are.
    Where a summary fails nothing changes here; the framework loses what it meant to keep.

    Parameters
    ----------
    summarizer : Summarizer
    token_limit : int
        Of what stays word for word; the summary comes on top.
    scratchpad : bool
        What a run brings is added when it ends; with False each message as it comes.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> llama_index_chat_summary_memory_buffer(Truncate(400), token_limit=1_000)
    llama_index_chat_summary_memory_buffer(Truncate(400), token_limit=1_000)
    """
    at_request = LlamaIndexSummaryRound(summarizer, token_limit=token_limit, scratchpad=scratchpad)
    after_answer = LlamaIndexSummaryRound(
        summarizer, token_limit=token_limit, scratchpad=scratchpad, after_answer=True
    )
    return named_preset(
        llama_index_chat_summary_memory_buffer,
        chain(after_answer, at_request) if scratchpad else at_request,
        _RULES,
        summarizer=summarizer,
        token_limit=token_limit,
        scratchpad=scratchpad,
    )


def llama_index_memory(
    token_limit: int = 30_000,
    *,
    chat_history_token_ratio: float = 0.7,
    token_flush_size: int = 3_000,
    static_content: str = "",
    insert_method: Literal["system", "user"] = "system",
    scratchpad: bool = True,
) -> Preset:
    """LlamaIndex's ``Memory``: the oldest messages are flushed, a few at a time.

    What is left begins at a message of the user's, so pairs stay whole; a run that is over
    the limit alone stays. Without any message of the user's everything may leave. The prefix
    breaks at each flush. Facts that a model extracts from what is flushed are what
    `adapters.LlamaIndexMemory` has.

    Parameters
    ----------
    token_limit : int
    chat_history_token_ratio : float
        The share of it that the messages may have.
    token_flush_size : int
        So many tokens leave at least.
    static_content : str
        Of a ``StaticMemoryBlock``, which is always sent.
    insert_method : {"system", "user"}
        As a system message before the others, or in front of the user's last message, where
        it breaks the prefix once more with each turn.
    scratchpad : bool
        What a run brings is added when it ends; with False each message as it comes.

    Examples
    --------
    >>> llama_index_memory(8_000, static_content="The customer speaks Dutch.")
    llama_index_memory(8_000, static_content='The customer speaks Dutch.')
    """
    given = {
        "chat_history_token_ratio": chat_history_token_ratio,
        "token_flush_size": token_flush_size,
        "static_content": static_content,
        "insert_method": insert_method,
        "scratchpad": scratchpad,
    }
    policy = LlamaIndexQueue(token_limit, **given)  # type: ignore[arg-type]
    return named_preset(llama_index_memory, policy, _RULES, token_limit=token_limit, **given)
