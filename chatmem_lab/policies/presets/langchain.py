"""LangChain's `trim_messages` and the middleware of its agents.

Source: langchain 1.5.2 and langchain-core 1.8.3, read on 2026-12-01. An agent's system prompt
is not among its messages: the middleware never touches it. `trim_messages` is given all
messages, the system message too.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import accumulate, takewhile
from typing import Annotated, Any, ClassVar, Literal

from msgspec.structs import replace as replaced

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Image, Message, Text, ToolCall, user
from chatmem_lab.policies.amounts import Amount, Messages, Share, Turns
from chatmem_lab.policies.amounts_of_window import check_amounts, check_summarizer
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Insert, Revision, Slot, SummaryForm, Unit, Window

__all__ = [
    "LangChainClearToolUses",
    "LangChainSummary",
    "LangChainTrim",
    "langchain_context_editing",
    "langchain_summarization",
    "langchain_trim_messages",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")
#: How LangChain calls our roles.
_TYPES = {
    "system": "system",
    "developer": "system",
    "user": "human",
    "assistant": "ai",
    "tool": "tool",
}
_SUMMARY_PREFIX = "Here is a summary of the conversation to date:\n\n"
#: What stands for a history of which nothing fits into the summarizer's window.
_TOO_LONG = "Previous conversation was too long to summarize."
_IMAGE_TOKENS = 85
_COUNTERS = ("approximate", "replay")


class _Loose(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True


def call_arguments(call: ToolCall) -> dict[str, Any] | None:
    """A call's arguments; None where LangChain takes the call for an invalid one."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def approximate_tokens(message: Message) -> int:
    """LangChain's ``count_tokens_approximately`` for one message.

    Four characters a token, rounded up, three for the message and 85 for an image.
    """
    images = sum(isinstance(part, Image) for part in message.parts)
    texts = [p.text for p in message.parts if isinstance(p, Text)] if images else [message.text]
    size = sum(map(len, texts))
    calls = [
        {"name": call.name, "args": args, "id": call.id, "type": "tool_call"}
        for call in message.tool_calls
        if (args := call_arguments(call)) is not None
    ]
    if calls:
        size += len(repr(calls))
    if message.role == "tool":
        size += len(message.tool_call_id or "")
    named = size + len(message.role) + len(message.name or "")
    return math.ceil(named / 4) + 3 + _IMAGE_TOKENS * images


def counting(window: Window, token_counter: str) -> Callable[[Message], int]:
    """How messages are counted: as LangChain does, or as the replay does."""
    return approximate_tokens if token_counter == "approximate" else window.count


def counts_of(window: Window, units: Sequence[Unit], token_counter: str) -> list[int]:
    """The counts of the messages of `units`; none is counted at two requests."""
    count = counting(window, token_counter)
    known: dict[int, tuple[Message, int]] = window.scratch.get(counts_of, {})
    now: dict[int, tuple[Message, int]] = {}
    for unit in units:
        message = unit.slots[0].message
        found = known.get(id(message))
        now[id(message)] = (message, count(message)) if found is None else found
    window.scratch[counts_of] = now
    return [now[id(unit.slots[0].message)][1] for unit in units]


def check_counter(name: str, token_counter: str) -> None:
    """Say that `token_counter` is none of the two."""
    if token_counter not in _COUNTERS:
        raise PolicyError(
            f"{name}: token_counter must be {' or '.join(_COUNTERS)}, not {token_counter!r}"
        )


def _fit(counts: Iterable[int], room: int) -> int:
    """How many of `counts`, from the first, sum up to at most `room`."""
    return sum(1 for _ in takewhile(lambda total: total <= room, accumulate(counts)))


@dataclass(frozen=True, repr=False)
class LangChainTrim(_Loose):
    """LangChain 1.5 ``trim_messages``, before each model call."""

    max_tokens: Annotated[int, Bounds(0)]
    _: KW_ONLY
    strategy: str = "last"
    allow_partial: bool = False
    include_system: bool = False
    start_on: tuple[str, ...] = ()
    end_on: tuple[str, ...] = ()
    token_counter: str = "approximate"

    sees: ClassVar[Literal["window", "history"]] = "history"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counter("LangChainTrim", self.token_counter)
        if self.strategy not in ("first", "last"):
            raise PolicyError(
                f"LangChainTrim: strategy must be first or last, not {self.strategy!r}"
            )
        unknown = {*self.start_on, *self.end_on} - set(_TYPES.values())
        if unknown:
            raise PolicyError(
                "LangChainTrim: start_on and end_on are system, human, ai and tool, not "
                f"{', '.join(sorted(unknown))}"
            )
        if self.strategy == "first" and (self.start_on or self.include_system):
            raise PolicyError("LangChainTrim: start_on and include_system go with strategy='last'")

    def revise(self, window: Window) -> Revision:
        kept = dict(self._kept(list(window.units), counting(window, self.token_counter)))
        evict = tuple(unit for unit in window.units if unit not in kept)
        replace = {
            unit.slots[0]: message
            for unit, message in kept.items()
            if message is not unit.slots[0].message
        }
        if not evict and not replace:
            return KEEP
        return Revision(
            evict=evict,
            replace=replace,
            replaced_as="clamp",
            reason=f"over {self.max_tokens:,} tokens",
        )

    def _kept(self, units: list[Unit], count: Callable[[Message], int]) -> list[_Kept]:
        if self.strategy == "first":
            return _until_type(self._first(units, self.max_tokens, count), self.end_on)
        units = [unit for unit, _ in _until_type(list(map(_whole, units)), self.end_on)]
        system: list[_Kept] = []
        if self.include_system and units and _type(units[0]) == "system":
            system = [_whole(units.pop(0))]
        room = max(0, self.max_tokens - sum(count(message) for _, message in system))
        newest = self._first(units[::-1], room, count)
        return [*system, *_until_type(newest, self.start_on)]

    def _first(self, units: list[Unit], room: int, count: Callable[[Message], int]) -> list[_Kept]:
        fitting = _fit((count(unit.messages[0]) for unit in units), room)
        kept = list(map(_whole, units[:fitting]))
        if self.allow_partial and fitting < len(units):
            room -= sum(count(message) for _, message in kept)
            message = units[fitting].messages[0]
            part = _part(message, room, count, is_end=self.strategy == "last")
            kept += [] if part is None else [(units[fitting], part)]
        return kept


#: A unit that stays, and what is left of its message.
_Kept = tuple[Unit, Message]


def _whole(unit: Unit) -> _Kept:
    return unit, unit.slots[0].message


def _part(
    message: Message, room: int, count: Callable[[Message], int], *, is_end: bool
) -> Message | None:
    """The beginning or the end of a message that does not fit: blocks, or lines of one."""
    blocks = [part for part in message.parts if isinstance(part, Text | Image)]
    text = message.text
    if any(isinstance(block, Image) for block in blocks):
        for dropped in range(1, len(blocks)):
            left = blocks[dropped:] if is_end else blocks[:-dropped]
            part = replaced(message, parts=tuple(left))
            if count(part) <= room:
                return part
        block = blocks[-1 if is_end else 0]
        text = block.text if isinstance(block, Text) else ""
    if not text:
        return None
    *ended, last = text.split("\n")
    lines = [*(f"{line}\n" for line in ended), last]

    def of_lines(number: int) -> Message:
        return message.with_text("".join(lines[-number:] if is_end else lines[:number]))

    numbers = range(1, len(lines) + 1)
    fitting = bisect_right(numbers, room, key=lambda number: count(of_lines(number)))
    return of_lines(fitting) if fitting else None


def _until_type(kept: list[_Kept], types: tuple[str, ...]) -> list[_Kept]:
    """`kept` up to the last that is of one of `types`, if they matter."""
    end = len(kept)
    while types and end and _type(kept[end - 1][0]) not in types:
        end -= 1
    return kept[:end]


def _type(unit: Unit) -> str:
    return _TYPES[unit.role]


@dataclass(frozen=True, repr=False)
class LangChainClearToolUses(_Loose):
    """LangChain 1.5 ``ClearToolUsesEdit``, in each request anew: the state is left alone."""

    trigger: Annotated[int, Bounds(0)] = 100_000
    _: KW_ONLY
    keep: Annotated[int, Bounds(0)] = 3
    clear_at_least: Annotated[int, Bounds(0)] = 0
    clear_tool_inputs: bool = False
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "[cleared]"
    token_counter: str = "approximate"

    sees: ClassVar[Literal["window", "history"]] = "history"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counter("LangChainClearToolUses", self.token_counter)

    def revise(self, window: Window) -> Revision:
        count = counting(window, self.token_counter)
        units = [unit for unit in window.units if unit.role not in INSTRUCTION_ROLES]
        if sum(counts_of(window, units, self.token_counter)) <= self.trigger:
            return KEEP
        replace: dict[Slot, Message] = {}
        cleared = 0
        for caller, result in self._old_results(units):
            call = self._called(result.message, caller.message)
            if call is None:
                continue
            changed = {result: result.message.with_text(self.placeholder)}
            if self.clear_tool_inputs:
                changed[caller] = _without_input(replace.get(caller, caller.message), call.id)
            if self.clear_at_least:
                cleared += sum(
                    count(replace.get(slot, slot.message)) - count(message)
                    for slot, message in changed.items()
                )
            replace.update(changed)
            if self.clear_at_least and cleared >= self.clear_at_least:
                break
        if not replace:
            return KEEP
        return Revision(
            replace=replace, replaced_as="clear", reason=f"over {self.trigger:,} tokens"
        )

    def _old_results(self, units: Sequence[Unit]) -> Iterator[tuple[Slot, Slot]]:
        """The results that are not kept, each with the assistant message before it."""
        left = sum(unit.role == "tool" for unit in units) - self.keep
        caller: Slot | None = None
        for unit in units:
            if left <= 0:
                break
            if unit.role == "assistant":
                caller = unit.slots[0]
            elif unit.role == "tool":
                left -= 1
                if caller is not None:
                    yield caller, unit.slots[0]

    def _called(self, result: Message, caller: Message) -> ToolCall | None:
        """The call that `result` answers, in the message right before the results."""
        for call in caller.tool_calls:
            if call.id == result.tool_call_id and call_arguments(call) is not None:
                return None if (result.name or call.name) in self.exclude_tools else call
        return None


def _without_input(message: Message, call_id: str) -> Message:
    calls = [
        ToolCall(call.id, call.name, "{}") if call.id == call_id else call
        for call in message.tool_calls
    ]
    return Message("assistant", message.parts, tool_calls=tuple(calls))


@dataclass(frozen=True, repr=False)
class LangChainSummary(_Loose):
    """LangChain 1.5 ``SummarizationMiddleware``: before a model call the oldest is summarized."""

    summarizer: Summarizer
    _: KW_ONLY
    trigger: Amount | None = None
    keep: Amount = Messages(20)
    trim_tokens_to_summarize: Annotated[int, Bounds(1)] | None = 4_000
    context_tokens: Annotated[int, Bounds(1)] | None = None
    token_counter: str = "approximate"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("LangChainSummary", self.summarizer)
        check_counter("LangChainSummary", self.token_counter)
        amounts = {"keep": self.keep}
        if self.trigger is not None:
            amounts["trigger"] = self.trigger
        check_amounts("LangChainSummary", self.context_tokens, **amounts)
        if any(isinstance(amount, Turns) for amount in amounts.values()):
            raise PolicyError("LangChainSummary: amounts are Messages, Tokens or a Share")

    def revise(self, window: Window) -> Revision:
        if self.trigger is None:
            return KEEP
        units = [unit for unit in window.units if unit.role not in INSTRUCTION_ROLES]
        if isinstance(self.trigger, Messages) and len(units) < self.trigger.n:
            return KEEP
        count = counting(window, self.token_counter)
        counts = counts_of(window, units, self.token_counter)
        if not isinstance(self.trigger, Messages) and sum(counts) < self._tokens(self.trigger):
            return KEEP
        cut = _safe_cut(units, self._cut(units, counts))
        if cut <= 0:
            return KEEP
        room = self.trim_tokens_to_summarize
        shown = units[:cut]
        if room is not None:
            shown = newest_that_fit(shown, counts[:cut], room, count)
        unseen = tuple(unit for unit in units[:cut] if unit not in shown)
        reason = f"over {self.trigger!r}"
        if not shown:
            made = user(_SUMMARY_PREFIX + _TOO_LONG)
            behind = (u for u in window.units if u.order > units[0].order and u not in unseen)
            before = next(behind, None)
            return Revision(evict=unseen, insert=(Insert(made, before),), reason=reason)
        return Revision(
            evict=unseen,
            fold=tuple(shown),
            by=self.summarizer,
            form=SummaryForm(role="user", prefix=_SUMMARY_PREFIX),
            reason=reason,
        )

    def _tokens(self, amount: Amount) -> int:
        if isinstance(amount, Share):
            assert self.context_tokens is not None
            return max(1, int(self.context_tokens * amount.x))
        return max(1, amount.n)

    def _cut(self, units: Sequence[Unit], counts: Sequence[int]) -> int:
        if isinstance(self.keep, Messages):
            return max(0, len(units) - self.keep.n)
        room = self._tokens(self.keep)
        if sum(counts) <= room:
            return 0
        return min(len(units) - _fit(counts[::-1], room), len(units) - 1)


def newest_that_fit(
    units: Sequence[Unit],
    counts: Sequence[int],
    room: int,
    count: Callable[[Message], int],
) -> list[Unit]:
    """What a summarizer is shown of what leaves: the newest that fit, from a user message on.

    The oldest of them may have lost its beginning.
    """
    fitting = _fit(counts[::-1], room)
    start = len(units) - fitting
    shown = list(units[start:])
    if start:
        oldest = units[start - 1].messages[0]
        if _part(oldest, room - sum(counts[start:]), count, is_end=True) is not None:
            shown.insert(0, units[start - 1])
    first = next((i for i, unit in enumerate(shown) if unit.role == "user"), len(shown))
    return shown[first:]


def _safe_cut(units: Sequence[Unit], cut: int) -> int:
    """The cut moves back to the call of the results that it would part from it."""
    if cut <= 0 or cut >= len(units) or units[cut].role != "tool":
        return cut
    end = cut
    answered: set[str | None] = set()
    while end < len(units) and units[end].role == "tool":
        answered.add(units[end].messages[0].tool_call_id)
        end += 1
    for at in range(cut - 1, -1, -1):
        calls = units[at].messages[0].tool_calls
        if any(call.id in answered and call_arguments(call) is not None for call in calls):
            return at
    return end


def langchain_trim_messages(
    max_tokens: int,
    *,
    strategy: str = "last",
    allow_partial: bool = False,
    include_system: bool = False,
    start_on: tuple[str, ...] = (),
    end_on: tuple[str, ...] = (),
    token_counter: str = "approximate",
) -> Preset:
    """LangChain's `trim_messages` before each model call: the newest (or oldest) that fit.

    The system message is lost unless `include_system` is set. Calls and results are torn
    apart unless `start_on` and `end_on` happen to prevent it. The prefix breaks at nearly
    every request once the limit is reached.

    Parameters
    ----------
    max_tokens : int
    strategy : {"last", "first"}
    allow_partial : bool
        The lines, or blocks, that still fit of the message at the edge stay.
    include_system : bool
    start_on, end_on : tuple of str
        "system", "human", "ai", "tool": what the first and the last message must be.
    token_counter : {"approximate", "replay"}
        LangChain's four characters a token, or the replay's counter.

    Examples
    --------
    >>> langchain_trim_messages(4_000, include_system=True, start_on=("human",))
    langchain_trim_messages(4_000, include_system=True, start_on=('human',))
    """
    policy = LangChainTrim(
        max_tokens,
        strategy=strategy,
        allow_partial=allow_partial,
        include_system=include_system,
        start_on=start_on,
        end_on=end_on,
        token_counter=token_counter,
    )
    return named_preset(
        langchain_trim_messages,
        policy,
        _RULES,
        max_tokens=max_tokens,
        strategy=strategy,
        allow_partial=allow_partial,
        include_system=include_system,
        start_on=start_on,
        end_on=end_on,
        token_counter=token_counter,
    )


def langchain_context_editing(
    trigger: int = 100_000,
    *,
    keep: int = 3,
    clear_at_least: int = 0,
    clear_tool_inputs: bool = False,
    exclude_tools: tuple[str, ...] = (),
    placeholder: str = "[cleared]",
    token_counter: str = "approximate",
) -> Preset:
    """LangChain's `ContextEditingMiddleware` with a `ClearToolUsesEdit`: old results are blanked.

    Over the trigger all results but the newest say the placeholder; pairs and the system
    prompt stay. Only results right behind their call count. It is done anew in each request,
    so the prefix breaks with each result.

    Parameters
    ----------
    trigger : int
        Tokens of the messages, without system prompt and tool schemas.
    keep, clear_at_least, clear_tool_inputs, exclude_tools, placeholder
        As there.
    token_counter : {"approximate", "replay"}
        LangChain's four characters a token, or the replay's counter.

    Examples
    --------
    >>> langchain_context_editing(20_000)
    langchain_context_editing(20_000)
    """
    given: dict[str, Any] = {
        "keep": keep,
        "clear_at_least": clear_at_least,
        "clear_tool_inputs": clear_tool_inputs,
        "exclude_tools": exclude_tools,
        "placeholder": placeholder,
        "token_counter": token_counter,
    }
    return named_preset(
        langchain_context_editing,
        LangChainClearToolUses(trigger, **given),
        _RULES,
        trigger=trigger,
        **given,
    )


def langchain_summarization(
    summarizer: Summarizer,
    *,
    trigger: Amount | None = None,
    keep: Amount = Messages(20),
    trim_tokens_to_summarize: int | None = 4_000,
    context_tokens: int | None = None,
    token_counter: str = "approximate",
) -> Preset:
    """LangChain's `SummarizationMiddleware`: the oldest messages become a user message in front.

    Without a trigger it never acts. The cut moves back to a call whose results are kept;
    the system prompt stays. By default the summarizer is shown the last 4,000 tokens of what
    leaves, from a user message on; where there is none, it is not called, and a sentence says
    that the conversation was too long. The prefix breaks once at each summary.

    Parameters
    ----------
    summarizer : Summarizer
    trigger, keep : Messages, Tokens or Share
        A `Share` is one of `context_tokens`.
    trim_tokens_to_summarize : int, optional
    context_tokens : int, optional
        The model's context window.
    token_counter : {"approximate", "replay"}
        LangChain's four characters a token, or the replay's counter.

    Examples
    --------
    >>> from chatmem_lab.policies import Tokens
    >>> from chatmem_lab.summarizers import Truncate
    >>> langchain_summarization(Truncate(400), trigger=Tokens(8_000))
    langchain_summarization(Truncate(400), trigger=Tokens(8_000))
    """
    given: dict[str, Any] = {
        "trigger": trigger,
        "keep": keep,
        "trim_tokens_to_summarize": trim_tokens_to_summarize,
        "context_tokens": context_tokens,
        "token_counter": token_counter,
    }
    return named_preset(
        langchain_summarization,
        LangChainSummary(summarizer, **given),
        _RULES,
        summarizer=summarizer,
        **given,
    )
