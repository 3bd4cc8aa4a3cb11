"""Strands' conversation managers.

Source: strands-agents 1.62.0, read on 2026-12-01. Its system prompt is not among its
messages: it never leaves and does not count. The results of one answer are one message
there. Where a window may begin is looked for, so pairs stay whole: at a user message, and
only where there is none at a call with its results. The prefix breaks whenever something
leaves: at the end of nearly each turn, once the window is full.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.messages import Message
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.chained import chain
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.grouped import grouped_results
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, Slot, SummaryForm, Unit, Window

__all__ = [
    "StrandsBeforeCall",
    "StrandsSummaryRound",
    "StrandsTurnEnd",
    "strands_sliding_window",
    "strands_summarizing",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")
#: What a result keeps at either end when a request overflows.
_KEPT_CHARS = 200
_MARKER = "... [truncated:"
#: So often in a row is an overflowing request summarized.
_ROUNDS = 8


class _Loose(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True


class _Their:
    """One of Strands' messages: ours, or all results of one answer."""

    def __init__(self, units: Sequence[Unit], window: Window) -> None:
        self.units = units
        self.slots = [unit.slots[0] for unit in units]
        self.shown = [slot.message for slot in self.slots]
        self._count = window.count
        self.tokens = sum(unit.tokens for unit in units)

    @property
    def is_result(self) -> bool:
        return self.shown[0].role == "tool"

    @property
    def is_plain_user(self) -> bool:
        return self.shown[0].role == "user"

    @property
    def makes_calls(self) -> bool:
        return bool(self.shown[0].tool_calls)

    @property
    def call_ids(self) -> set[str]:
        """The calls that it makes or answers."""
        calls = {call.id for message in self.shown for call in message.tool_calls}
        return calls | {m.tool_call_id or "" for m in self.shown if m.role == "tool"} - {""}

    def clamp(self) -> bool:
        """Cut its long results, once; whether that changed anything."""
        cut = [_clamped(message) for message in self.shown]
        changed = any(new is not old for new, old in zip(cut, self.shown))
        self.shown = cut
        self.tokens = sum(map(self._count, cut)) if changed else self.tokens
        return changed


def _clamped(message: Message) -> Message:
    text = message.text
    if len(text) <= 2 * _KEPT_CHARS or _MARKER in text:
        return message
    removed = len(text) - 2 * _KEPT_CHARS
    return message.with_text(
        f"{text[:_KEPT_CHARS]}...\n\n{_MARKER} {removed} chars removed] ...\n\n"
        f"...{text[-_KEPT_CHARS:]}"
    )


def _theirs(window: Window) -> list[_Their]:
    """The window as Strands has it."""
    return [_Their(units, window) for units in grouped_results(window)]


def _is_pinned(thread: Sequence[_Their], at: int, pin_first: int) -> bool:
    """The first are pinned, and the other half of a pair whose one half is."""
    if at < pin_first:
        return True
    return 0 < at == pin_first and bool(thread[at].call_ids & thread[at - 1].call_ids)


def _trim_point(thread: Sequence[_Their], start: int) -> int | None:
    """Where the window may begin, at `start` or behind it."""
    for at in range(start, len(thread)):
        if thread[at].is_plain_user:
            return at
    for at in range(start, len(thread) - 1):
        if thread[at].makes_calls and thread[at + 1].is_result:
            return at
    return None


class _Sliding(_Loose):
    window_size: int
    pin_first: int | None

    def trimmed(self, thread: list[_Their]) -> list[_Their] | None:
        """What one reduction leaves; None if it finds no place to cut."""
        pins = self.pin_first or 0
        if self.window_size == 0:
            return [their for at, their in enumerate(thread) if _is_pinned(thread, at, pins)]
        size = len(thread)
        cut = _trim_point(thread, 2 if size <= self.window_size else size - self.window_size)
        if cut is None:
            return None
        kept = [their for at, their in enumerate(thread[:cut]) if _is_pinned(thread, at, pins)]
        return None if len(kept) == cut else kept + thread[cut:]

    def managed(self, thread: list[_Their]) -> list[_Their]:
        """What is left where the window is over its size."""
        if len(thread) <= self.window_size:
            return thread
        left = self.trimmed(thread)
        return thread if left is None else left


@dataclass(frozen=True, repr=False)
class StrandsTurnEnd(_Sliding):
    """Strands 1.62 ``SlidingWindowConversationManager.apply_management``, at a turn's end."""

    window_size: Annotated[int, Bounds(0)] = 40
    _: KW_ONLY
    pin_first: Annotated[int, Bounds(0)] | None = None

    def revise(self, window: Window) -> Revision:
        newest = window.newest
        if newest is None or newest.role != "assistant" or newest.messages[0].tool_calls:
            return KEEP
        if len(window) <= self.window_size:
            return KEEP
        thread = _theirs(window)
        return _revision(thread, self.managed(thread), f"over {self.window_size:,} messages")


@dataclass(frozen=True, repr=False)
class StrandsBeforeCall(_Sliding):
    """Strands 1.62 ``SlidingWindowConversationManager`` before a model call.

    A look at the share of `context_tokens`, one at the window's size, and where the request
    still overflows the oldest results are cut and the oldest messages leave until it fits.
    """

    window_size: Annotated[int, Bounds(0)] = 40
    _: KW_ONLY
    should_truncate_results: bool = True
    per_turn: bool = False
    pin_first: Annotated[int, Bounds(0)] | None = None
    compression_threshold: Annotated[float, Bounds(0, 1)] | None = None
    context_tokens: Annotated[int, Bounds(1)] | None = None

    asks: ClassVar[Literal["append", "request"]] = "request"

    @property
    def budget(self) -> int | None:
        return self.context_tokens

    def excess(self, window: Window) -> str | None:
        return _over(self.context_tokens, window)

    def revise(self, window: Window) -> Revision:
        if not self._has_to_look(window):
            return KEEP
        before = _theirs(window)
        thread = list(before)
        if _threatens(window, self.context_tokens, self.compression_threshold):
            thread = self.trimmed(thread) or thread
        if self.per_turn:
            thread = self.managed(thread)
        if self.context_tokens is not None:
            fixed = window.tokens - sum(their.tokens for their in before)
            thread = self._made_to_fit(thread, self.context_tokens - fixed)
        return _revision(before, thread, "before the model call")

    def _has_to_look(self, window: Window) -> bool:
        limit = self.context_tokens
        over = limit is not None and window.tokens > limit
        full = self.per_turn and len(window) > self.window_size
        return over or full or _threatens(window, limit, self.compression_threshold)

    def _made_to_fit(self, thread: list[_Their], room: int) -> list[_Their]:
        while sum(their.tokens for their in thread) > room:
            if self.should_truncate_results and self._clamp_oldest(thread):
                continue
            left = self.trimmed(thread)
            if left is None or len(left) == len(thread):
                break
            thread = left
        return thread

    def _clamp_oldest(self, thread: Sequence[_Their]) -> bool:
        """Only the oldest message with results is ever looked at, cut already or not."""
        for at, their in enumerate(thread):
            if their.is_result and not _is_pinned(thread, at, self.pin_first or 0):
                return their.clamp()
        return False


@dataclass(frozen=True, repr=False)
class StrandsSummaryRound(_Loose):
    """Strands 1.62 ``SummarizingConversationManager.reduce_context``, once.

    The oldest `summary_ratio` of the messages become a user message, where the request
    overflows; the cut moves on to where no pair is torn.
    """

    summarizer: Summarizer
    _: KW_ONLY
    summary_ratio: Annotated[float, Bounds(0, 1)] = 0.3
    preserve_recent_messages: Annotated[int, Bounds(0)] = 10
    pin_first: Annotated[int, Bounds(0)] | None = None
    compression_threshold: Annotated[float, Bounds(0, 1)] | None = None
    context_tokens: Annotated[int, Bounds(1)] | None = None

    asks: ClassVar[Literal["append", "request"]] = "request"

    @property
    def budget(self) -> int | None:
        return self.context_tokens

    def excess(self, window: Window) -> str | None:
        return _over(self.context_tokens, window)

    def revise(self, window: Window) -> Revision:
        limit = self.context_tokens
        over = limit is not None and window.tokens > limit
        if not over and not _threatens(window, limit, self.compression_threshold):
            return KEEP
        thread = _theirs(window)
        ratio = max(0.1, min(0.8, self.summary_ratio))
        cut = min(max(1, int(len(thread) * ratio)), len(thread) - self.preserve_recent_messages)
        cut = _whole_pairs(thread, cut)
        folded = [
            unit
            for at, their in enumerate(thread[:cut])
            if not _is_pinned(thread, at, self.pin_first or 0)
            for unit in their.units
        ]
        if not folded:
            return KEEP
        return Revision(
            fold=tuple(folded),
            by=self.summarizer,
            form=SummaryForm(role="user"),
            reason=f"over {limit:,} tokens",
        )


def _whole_pairs(thread: Sequence[_Their], cut: int) -> int:
    """The next cut that parts no call from its results; 0 if there is none."""
    if cut <= 0 or cut == len(thread):
        return max(0, cut)
    for at in range(cut, len(thread)):
        is_unanswered = (
            thread[at].makes_calls and at + 1 < len(thread) and not thread[at + 1].is_result
        )
        if not thread[at].is_result and not is_unanswered:
            return at
    return 0


def _threatens(window: Window, limit: int | None, threshold: float | None) -> bool:
    return limit is not None and threshold is not None and window.tokens / limit >= threshold


def _over(limit: int | None, window: Window) -> str | None:
    if limit is None or window.tokens <= limit:
        return None
    return over_budget_reason(limit, parts_of_window(window))


def _revision(before: Sequence[_Their], left: Iterable[_Their], reason: str) -> Revision:
    kept = list(left)
    held = set(map(id, kept))
    evict = tuple(unit for their in before if id(their) not in held for unit in their.units)
    replace: dict[Slot, Message] = {
        slot: message
        for their in kept
        for slot, message in zip(their.slots, their.shown)
        if message is not slot.message
    }
    if not evict and not replace:
        return KEEP
    return Revision(evict=evict, replace=replace, replaced_as="clamp", reason=reason)


def strands_sliding_window(
    window_size: int = 40,
    *,
    should_truncate_results: bool = True,
    per_turn: bool = False,
    pin_first: int | None = None,
    compression_threshold: float | None = None,
    context_tokens: int | None = None,
) -> Preset:
    """Strands' sliding window: the newest messages, from a user message on.

    At the end of a turn; a request that overflows `context_tokens` first loses the middle
    of its oldest results. Pairs stay whole, the system prompt stays.

    Parameters
    ----------
    window_size : int
    should_truncate_results : bool
    per_turn : bool
        Also before each model call.
    pin_first : int, optional
        So many messages at the start never leave.
    compression_threshold : float, optional
        The share of `context_tokens` at which a request is shortened before it overflows.
    context_tokens : int, optional
        The model's context window. Without it nothing overflows.

    Examples
    --------
    >>> strands_sliding_window(20)
    strands_sliding_window(20)
    """
    before_call = StrandsBeforeCall(
        window_size,
        should_truncate_results=should_truncate_results,
        per_turn=per_turn,
        pin_first=pin_first,
        compression_threshold=compression_threshold,
        context_tokens=context_tokens,
    )
    return named_preset(
        strands_sliding_window,
        chain(StrandsTurnEnd(window_size, pin_first=pin_first), before_call),
        _RULES,
        window_size=window_size,
        should_truncate_results=should_truncate_results,
        per_turn=per_turn,
        pin_first=pin_first,
        compression_threshold=compression_threshold,
        context_tokens=context_tokens,
    )


def strands_summarizing(
    summarizer: Summarizer,
    *,
    summary_ratio: float = 0.3,
    preserve_recent_messages: int = 10,
    pin_first: int | None = None,
    compression_threshold: float | None = None,
    context_tokens: int | None = None,
) -> Preset:
    """Strands' summarizing manager: where a request overflows, its oldest part is summarized.

    The summary is a user message, and is summarized again like any other. At most eight
    rounds a request.

    Parameters
    ----------
    summarizer : Summarizer
    summary_ratio : float
        Of the messages; between 0.1 and 0.8 whatever is given.
    preserve_recent_messages : int
    pin_first : int, optional
    compression_threshold : float, optional
        The share of `context_tokens` at which a request is shortened before it overflows.
    context_tokens : int, optional
        The model's context window. Without it nothing is ever summarized.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> strands_summarizing(Truncate(400), context_tokens=8_000)
    strands_summarizing(Truncate(400), context_tokens=8_000)
    """
    early = StrandsSummaryRound(
        summarizer,
        summary_ratio=summary_ratio,
        preserve_recent_messages=preserve_recent_messages,
        pin_first=pin_first,
        compression_threshold=compression_threshold,
        context_tokens=context_tokens,
    )
    on_overflow = StrandsSummaryRound(
        summarizer,
        summary_ratio=summary_ratio,
        preserve_recent_messages=preserve_recent_messages,
        pin_first=pin_first,
        context_tokens=context_tokens,
    )
    return named_preset(
        strands_summarizing,
        chain(early, *[on_overflow] * _ROUNDS),
        _RULES,
        summarizer=summarizer,
        summary_ratio=summary_ratio,
        preserve_recent_messages=preserve_recent_messages,
        pin_first=pin_first,
        compression_threshold=compression_threshold,
        context_tokens=context_tokens,
    )
