"""Semantic Kernel's chat history reducers.

Source: semantic-kernel 1.45.0, read on 2026-12-01. The instructions are messages of the
history like any other and count; the first of them stays. A cut never stands inside a run of
calls and results, so pairs stay whole unless a result comes late; other system and developer
messages leave with what is around them. The prefix breaks behind the first instruction at
each reduction, and a threshold makes those rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from chatmem_lab.messages import INSTRUCTION_ROLES, Message, Usage
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer, Summary, SummaryRequest
from chatmem_lab.window import KEEP, Revision, SummaryForm, Unit, Window

__all__ = [
    "SemanticKernelSummarizing",
    "SemanticKernelTruncating",
    "semantic_kernel_summarization",
    "semantic_kernel_truncation",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")


class _Reducer(Policy):
    """What both reducers do: when they look, and where they cut."""

    target_count: int
    threshold_count: int
    auto_reduce: bool

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True

    def looked_at(self, window: Window) -> list[Unit]:
        """The history that is to be reduced now; empty where it is not, or is short enough.

        A turn's reduction comes before its user message is added.
        """
        ahead = 0 if self.auto_reduce else 1
        if len(window) - ahead <= self.target_count + self.threshold_count:
            return []
        newest = window.newest
        if not self.auto_reduce and (newest is None or newest.role != "user"):
            return []
        units = list(window.units)
        return units[:-1] if ahead else units

    def cut(self, history: Sequence[Unit], instruction: int | None, offset: int) -> int | None:
        """Where the kept tail begins; None where nothing is reduced."""
        target = self.target_count
        if instruction is not None and instruction < len(history) - target:
            target -= 1
            if target <= 0:
                return len(history)
        earliest = len(history) - self.threshold_count - target
        if earliest <= offset:
            return None
        start = len(history) - target
        while start > offset and _is_tooling(history[start]) and _is_tooling(history[start - 1]):
            start -= 1
        for at in range(start, earliest - 1, -1):
            if history[at].role == "user":
                return at
        return start


def _is_tooling(unit: Unit) -> bool:
    return unit.role == "tool" or bool(unit.slots[0].message.tool_calls)


def _first_instruction(history: Sequence[Unit]) -> int | None:
    return next(
        (at for at, u in enumerate(history) if u.role in INSTRUCTION_ROLES and not u.is_made), None
    )


@dataclass(frozen=True, repr=False)
class SemanticKernelTruncating(_Reducer):
    """Semantic Kernel 1.45 ``ChatHistoryTruncationReducer``."""

    target_count: Annotated[int, Bounds(1)]
    _: KW_ONLY
    threshold_count: Annotated[int, Bounds(0)] = 0
    auto_reduce: bool = False

    def revise(self, window: Window) -> Revision:
        history = self.looked_at(window)
        if not history:
            return KEEP
        instruction = _first_instruction(history)
        cut = self.cut(history, instruction, 0)
        evict = tuple(unit for at, unit in enumerate(history[:cut]) if at != instruction)
        if cut is None or not evict:
            return KEEP
        return Revision(evict=evict, reason=f"over {self.target_count:,} messages")


@dataclass(frozen=True, repr=False)
class SemanticKernelSummarizing(_Reducer):
    """Semantic Kernel 1.45 ``ChatHistorySummarizationReducer``."""

    summarizer: Summarizer
    _: KW_ONLY
    target_count: Annotated[int, Bounds(1)]
    threshold_count: Annotated[int, Bounds(0)] = 0
    auto_reduce: bool = False
    use_single_summary: bool = True
    include_function_content_in_summary: bool = False

    def revise(self, window: Window) -> Revision:
        history = self.looked_at(window)
        if not history:
            return KEEP
        instruction = _first_instruction(history)
        summaries = next((at for at, u in enumerate(history) if not u.is_made), 0)
        cut = self.cut(history, instruction, summaries)
        if cut is None:
            return KEEP
        start = 0 if self.use_single_summary else summaries
        leaving = [
            unit for at, unit in enumerate(history[:cut]) if at >= start and at != instruction
        ]
        told = [unit for unit in leaving if self._is_told(unit)]
        if not told:
            return KEEP
        return Revision(
            fold=tuple(leaving),
            by=_Telling(
                self.summarizer,
                tuple(unit.slots[0].message for unit in told),
                sum(unit.tokens for unit in told),
            ),
            form=SummaryForm(place="last"),
            reason=f"over {self.target_count:,} messages",
        )

    def _is_told(self, unit: Unit) -> bool:
        if unit.role in INSTRUCTION_ROLES and not unit.is_made:
            return False
        return self.include_function_content_in_summary or not _is_tooling(unit)


class _Telling:
    """A summarizer that is told of some of the messages which its summary replaces."""

    def __init__(
        self, summarizer: Summarizer, told: tuple[Message, ...], input_tokens: int
    ) -> None:
        self._summarizer = summarizer
        self._told = {id(message) for message in told}
        self._input_tokens = input_tokens

    def summarize(self, request: SummaryRequest) -> Summary:
        told = tuple(m for m in request.messages if id(m) in self._told)
        summary = self._summarizer.summarize(replace(request, messages=told))
        if not isinstance(summary, Summary):
            return summary
        usage = summary.usage or Usage(input_tokens=self._input_tokens)
        return replace(summary, covered=None, usage=usage)

    def __repr__(self) -> str:
        return repr(self._summarizer)


def semantic_kernel_truncation(
    target_count: int, *, threshold_count: int = 0, auto_reduce: bool = False
) -> Preset:
    """Semantic Kernel's truncation: the newest messages, and the first instruction.

    The tail begins at the user message nearest before the cut, if one is within the
    threshold, and never inside a run of calls and results: an agent that only calls tools
    is never cut. With a target of 1 the instruction alone is left.

    Parameters
    ----------
    target_count : int
        Messages that stay, the instruction among them.
    threshold_count : int
        So many more may there be before anything leaves.
    auto_reduce : bool
        After each message, as ``add_message_async`` does; otherwise once a turn, before its
        user message, as the framework's examples and its agents' threads are used.

    Examples
    --------
    >>> semantic_kernel_truncation(20, threshold_count=10)
    semantic_kernel_truncation(20, threshold_count=10)
    """
    given = {"threshold_count": threshold_count, "auto_reduce": auto_reduce}
    policy = SemanticKernelTruncating(
        target_count, threshold_count=threshold_count, auto_reduce=auto_reduce
    )
    return named_preset(
        semantic_kernel_truncation, policy, _RULES, target_count=target_count, **given
    )


def semantic_kernel_summarization(
    summarizer: Summarizer,
    *,
    target_count: int,
    threshold_count: int = 0,
    auto_reduce: bool = False,
    use_single_summary: bool = True,
    include_function_content_in_summary: bool = False,
) -> Preset:
    """Semantic Kernel's summarization: what truncation would drop becomes a message.

    The summarizer is not told of calls and results by default, though they leave: what the
    tools said is lost. Where all that leaves is of that kind, nothing leaves. A failed
    summary changes nothing. An earlier summary is summarized again; unlike the framework, the
    preset makes no call for a summary alone, which long runs of calls lead to there.

    Parameters
    ----------
    summarizer : Summarizer
    target_count : int
        Messages that stay, the instruction among them, the summary not.
    threshold_count : int
        So many more may there be before anything leaves.
    auto_reduce : bool
        After each message; otherwise once a turn, before its user message.
    use_single_summary : bool
        With False summaries stand one after the other. Behind an instruction, where they
        mostly are, this changes nothing: only summaries at the very front are found.
    include_function_content_in_summary : bool

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> semantic_kernel_summarization(Truncate(400), target_count=20)
    semantic_kernel_summarization(Truncate(400), target_count=20)
    """
    policy = SemanticKernelSummarizing(
        summarizer,
        target_count=target_count,
        threshold_count=threshold_count,
        auto_reduce=auto_reduce,
        use_single_summary=use_single_summary,
        include_function_content_in_summary=include_function_content_in_summary,
    )
    return named_preset(
        semantic_kernel_summarization,
        policy,
        _RULES,
        summarizer=summarizer,
        target_count=target_count,
        threshold_count=threshold_count,
        auto_reduce=auto_reduce,
        use_single_summary=use_single_summary,
        include_function_content_in_summary=include_function_content_in_summary,
    )
