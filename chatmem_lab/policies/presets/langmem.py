"""langmem's running summary.

Source: langmem 0.0.30 and langchain-core 1.8.3, read on 2026-12-01. It is given all messages of
an agent's state, the system message too, before each model call; the state keeps them all,
and beside them the summary and the last message that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, system
from chatmem_lab.policies.amounts_of_window import check_summarizer
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.langchain import (
    call_arguments,
    check_counter,
    counting,
    counts_of,
    newest_that_fit,
)
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Unit, Window

__all__ = ["LangMemRunningSummary", "langmem_summarize_messages"]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")
_PREFIX = "Summary of the conversation so far: "


class _Thread(NamedTuple):
    """A window as langmem has it: its first system message, the summary so far, the rest."""

    system: Unit | None
    summary: Unit | None
    rest: list[Unit]


def _thread(window: Window) -> _Thread:
    units = list(window.units)
    made = [unit for unit in units if unit.is_made]
    rest = [unit for unit in units if not unit.is_made]
    first = rest.pop(0) if rest and _is_first_system(rest[0]) else None
    return _Thread(first, made[0] if made else None, rest)


def _is_first_system(unit: Unit) -> bool:
    return unit.role in INSTRUCTION_ROLES and 0 in unit.positions


@dataclass(frozen=True, repr=False)
class LangMemRunningSummary(Policy):
    """langmem 0.0.30 ``summarize_messages``: the oldest become a system message."""

    summarizer: Summarizer
    _: KW_ONLY
    max_tokens: Annotated[int, Bounds(1)]
    max_tokens_before_summary: Annotated[int, Bounds(1)] | None = None
    max_summary_tokens: Annotated[int, Bounds(0)] = 256
    token_counter: str = "approximate"

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("LangMemRunningSummary", self.summarizer)
        check_counter("LangMemRunningSummary", self.token_counter)
        if self.max_summary_tokens >= self.max_tokens:
            raise PolicyError(
                f"LangMemRunningSummary: max_summary_tokens ({self.max_summary_tokens:,}) must be "
                f"less than max_tokens ({self.max_tokens:,})"
            )

    def revise(self, window: Window) -> Revision:
        thread = _thread(window)
        count = counting(window, self.token_counter)
        counts = counts_of(window, thread.rest, self.token_counter)
        room = self.max_tokens - self.max_summary_tokens
        if thread.system is not None:
            room -= count(thread.system.messages[0])
        cut = self._cut(counts, room)
        if cut == 0:
            return KEEP
        leaving = list(range(cut)) + _results_behind(thread.rest, cut)
        units = [thread.rest[at] for at in leaving]
        readable = self.max_tokens
        folded = [] if thread.summary is None else [thread.summary]
        for unit in folded:
            readable -= count(system(unit.messages[0].text.removeprefix(_PREFIX)))
        of_units = [counts[at] for at in leaving]
        shown = units
        if sum(of_units) > readable:
            shown = newest_that_fit(units, of_units, readable, count) or units
        return Revision(
            evict=tuple(unit for unit in units if unit not in shown),
            fold=(*folded, *shown),
            by=self.summarizer,
            form=SummaryForm(role="system", prefix=_PREFIX),
            reason=f"over {self._before_summary:,} tokens",
        )

    @property
    def _before_summary(self) -> int:
        return self.max_tokens_before_summary or self.max_tokens

    def _cut(self, counts: Sequence[int], room: int) -> int:
        """How many messages leave: the fewest that are enough, and behind which all fits."""
        total = sum(counts)
        for at, so_far in enumerate(accumulate(counts)):
            if so_far >= self._before_summary and total - so_far <= room:
                return at + 1
        return 0


def _results_behind(units: Sequence[Unit], cut: int) -> list[int]:
    """Where the results stand that belong to calls in the last message before `cut`."""
    made = [
        call.id
        for call in units[cut - 1].messages[0].tool_calls
        if call_arguments(call) is not None
    ]
    answers = {unit.messages[0].tool_call_id: at for at, unit in enumerate(units) if at >= cut}
    return sorted({answers[id] for id in made if id in answers})


def langmem_summarize_messages(
    summarizer: Summarizer,
    *,
    max_tokens: int,
    max_tokens_before_summary: int | None = None,
    max_summary_tokens: int = 256,
    token_counter: str = "approximate",
) -> Preset:
    """The running summary of langmem: the oldest messages become a system message.

    It stands behind the first one. Nothing happens until `max_tokens_before_summary` tokens are
    there; then as many leave, and more until the rest fits, the user's last message too where it
    must. If the system message leaves no room, nothing ever happens. Only the last `max_tokens`
    of what leaves are shown to the summarizer. A cut right behind calls takes their results
    along; one between two results tears them apart. The prefix breaks once at each summary.

    Where the results of parallel calls do not come in the order of the calls, or something
    else comes between, the framework loses its place: it sends messages again or loses them,
    and raises an error from then on. Here nothing of that happens.

    Parameters
    ----------
    summarizer : Summarizer
    max_tokens : int
    max_tokens_before_summary : int, optional
        `max_tokens` by default.
    max_summary_tokens : int
        Kept free for the summary; a longer one is not refused.
    token_counter : {"approximate", "replay"}
        LangChain's four characters a token, or the replay's counter.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> langmem_summarize_messages(Truncate(400), max_tokens=4_000)
    langmem_summarize_messages(Truncate(400), max_tokens=4_000)
    """
    given: dict[str, Any] = {
        "max_tokens": max_tokens,
        "max_tokens_before_summary": max_tokens_before_summary,
        "max_summary_tokens": max_summary_tokens,
        "token_counter": token_counter,
    }
    return named_preset(
        langmem_summarize_messages,
        LangMemRunningSummary(summarizer, **given),
        _RULES,
        summarizer=summarizer,
        **given,
    )
