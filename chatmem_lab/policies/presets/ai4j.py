"""AI4J's chat memory: message window, summary, unbounded.

Source: AI4J 2.4, read and run. Blank items are ignored, system items are never merged, and
calls and results are not paired.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.keep_all import KeepAll
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, SummaryForm, Window

__all__ = [
    "AI4JMessageWindow",
    "AI4JSummary",
    "ai4j_message_window",
    "ai4j_summary",
    "ai4j_unbounded",
]


def _rules(batch: Literal["each", "once"] = "each") -> Rules:
    return Rules(
        blank="ignore", orphan="keep", equal_system="keep", new_system="keep", batch=batch
    )


@dataclass(frozen=True, repr=False)
class AI4JMessageWindow(Policy):
    """AI4J 2.4 ``MessageWindowChatMemoryPolicy``: all system messages, the newest n others."""

    max_messages: Annotated[int, Bounds(0)] = 20

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True

    def revise(self, window: Window) -> Revision:
        over = sum(unit.role != "system" for unit in window.units) - self.max_messages
        if over <= 0:
            return KEEP
        others = (unit for unit in window.units if unit.role != "system")
        evict = tuple(unit for unit, _ in zip(others, range(over)))
        return Revision(evict=evict, reason=f"over {self.max_messages:,} messages")


@dataclass(frozen=True, repr=False)
class AI4JSummary(Policy):
    """AI4J 2.4 ``SummaryChatMemoryPolicy``: an earlier summary counts as one message."""

    summarizer: Summarizer
    _: KW_ONLY
    max_recent: Annotated[int, Bounds(0)] = 12
    trigger: Annotated[int, Bounds(1)] = 20
    role: Literal["assistant", "system"] = "assistant"
    prefix: str = "Summary of earlier conversation:\n"

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(getattr(self.summarizer, "summarize", None)):
            raise PolicyError(
                "AI4JSummary: summarizer must have a method summarize(request), not "
                f"{self.summarizer!r}: wrap a plain function with summarizer_from(function)"
            )
        if self.role not in ("assistant", "system"):
            raise PolicyError(f"AI4JSummary: role must be system or assistant, not {self.role!r}")
        if self.trigger <= self.max_recent:
            raise PolicyError(
                f"AI4JSummary: trigger must be > max_recent, {self.max_recent}, not {self.trigger}"
            )

    def revise(self, window: Window) -> Revision:
        eligible = [unit for unit in window.units if unit.role != "system" or unit.is_summary]
        if len(eligible) <= self.trigger:
            return KEEP
        return Revision(
            fold=tuple(eligible[: len(eligible) - self.max_recent]),
            by=self.summarizer,
            form=SummaryForm(role=self.role, prefix=self.prefix),
            reason=f"over {self.trigger:,} messages",
        )


def ai4j_message_window(max_messages: int = 20) -> Preset:
    """AI4J's message window: system messages never count and all stay; pairs are torn.

    A limit of 0 is legal; blank items are ignored.

    >>> ai4j_message_window(8)
    ai4j_message_window(8)
    """
    return named_preset(
        ai4j_message_window,
        AI4JMessageWindow(max_messages),
        _rules(),
        max_messages=max_messages,
    )


def ai4j_summary(
    summarizer: Summarizer,
    *,
    max_recent: int = 12,
    trigger: int = 20,
    role: Literal["assistant", "system"] = "assistant",
    prefix: str = "Summary of earlier conversation:\n",
    batch: Literal["each", "once"] = "each",
) -> Preset:
    """AI4J's summary policy: over `trigger` messages, all but `max_recent` become one.

    System messages are left alone. An earlier summary counts, and goes to the summarizer
    without its prefix. A summary need not be smaller than what it replaces, calls and
    results are parted. A summarizer that fails changes nothing and is asked again at the
    next message; it raises nothing here (there, its exception comes out of ``add``).

    Parameters
    ----------
    batch : {"each", "once"}
        Whether `add_all` asks after each message, as there in memory, or once, as in JDBC.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> ai4j_summary(Truncate(400), max_recent=6, trigger=10)
    ai4j_summary(Truncate(400), max_recent=6, trigger=10)
    """
    return named_preset(
        ai4j_summary,
        AI4JSummary(summarizer, max_recent=max_recent, trigger=trigger, role=role, prefix=prefix),
        _rules(batch),
        summarizer=summarizer,
        max_recent=max_recent,
        trigger=trigger,
        role=role,
        prefix=prefix,
        batch=batch,
    )


def ai4j_unbounded() -> Preset:
    """AI4J's default: everything stays, blank items are ignored.

    >>> ai4j_unbounded()
    ai4j_unbounded()
    """
    return named_preset(ai4j_unbounded, KeepAll(), _rules())
