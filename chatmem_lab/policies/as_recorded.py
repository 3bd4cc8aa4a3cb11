"""`AsRecorded`: what the recording agent itself did to its context."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation, Message, RecordedEvent
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Insert, Revision, Slot, Unit, Window

__all__ = ["AsRecorded"]

#: What changes no window, or is the recording's own repair.
_NOT_APPLIED = {
    "over_budget",
    "policy_failed",
    "repair",
    "return",
    "summarize",
    "summarize_failed",
    "system_replaced",
}


class _Recorded(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class AsRecorded(_Recorded):
    """The window as the recording agent had it, by the conversation's `recorded_events`.

    A compaction or any event with a `made` message: what stood before it leaves, and that
    message takes its place. ``evict``: it leaves. ``clear`` and ``clamp``: it stays with
    other content. Which messages are concerned, the event's ``extra["positions"]`` says; else
    all before it but system and developer messages. Loose: what the agent tore apart, shows
    in `faults`. Without recorded events it keeps everything.

    Examples
    --------
    >>> AsRecorded()
    AsRecorded()
    """

    def begin(self, conversation: Conversation | None) -> Policy:
        if conversation is None:
            raise PolicyError(
                "AsRecorded replays what a recording did: a live memory has none. Use the "
                "policy that the agent used"
            )
        applied = [e for e in conversation.recorded_events if e.kind not in _NOT_APPLIED]
        return _Replayed(tuple(sorted(applied, key=lambda event: event.position)))

    def revise(self, window: Window) -> Revision:
        raise PolicyError("AsRecorded needs a recording: begin(conversation).revise(window)")


@dataclass(frozen=True, repr=False, eq=False)
class _Replayed(_Recorded):
    """The recorded events of one conversation, each at its place."""

    events: tuple[RecordedEvent, ...]

    def __post_init__(self) -> None:
        """Built by `AsRecorded.begin` only."""

    def revise(self, window: Window) -> Revision:
        newest = window.newest
        if newest is None or not newest.positions:
            return KEEP
        arrived = newest.positions[-1] + 1
        done: list[int] = window.scratch.setdefault(self, [0])
        while done[0] < len(self.events) and self.events[done[0]].position <= arrived:
            event = self.events[done[0]]
            done[0] += 1
            revision = _revision(window, event)
            if revision is not KEEP:
                return revision
        return KEEP

    @property
    def stages(self) -> tuple[Policy, ...]:
        """So often as events fall on one place: each decides about one of them."""
        at_one_place = Counter(event.position for event in self.events)
        return (self,) * max(at_one_place.values(), default=1)

    def __repr__(self) -> str:
        return "AsRecorded()"


def _revision(window: Window, event: RecordedEvent) -> Revision:
    units = _concerned(window, event)
    reason = f"{event.kind}, as recorded"
    extra: dict[str, Any] = event.extra or {}
    if event.kind in ("clear", "clamp"):
        stub = str(extra.get("placeholder", "[cleared]"))
        replace: dict[Slot, Message] = {
            slot: slot.message.with_text(stub)
            for unit in units
            for slot in unit.slots
            if slot.state == "kept"
        }
        replaced_as: Literal["clear", "clamp"] = "clear" if event.kind == "clear" else "clamp"
        return Revision(replace=replace, replaced_as=replaced_as, reason=reason)
    if event.kind == "insert":
        units = []
    if not units and (event.made is None or event.kind != "insert"):
        return KEEP
    insert: tuple[Insert, ...] = ()
    if event.made is not None:
        insert = (Insert(event.made, _behind(window, units, event)),)
    return Revision(evict=tuple(units), insert=insert, reason=reason)


def _concerned(window: Window, event: RecordedEvent) -> list[Unit]:
    positions = (event.extra or {}).get("positions")
    if isinstance(positions, list):
        found = {p for p in positions if isinstance(p, int)}
        made = [u for u in window.units if u.is_made] if event.made is not None else []
        return [*made, *(u for u in window.units if found & set(u.positions))]
    return [
        unit
        for unit in window.units
        if not unit.is_instruction and (unit.is_made or unit.positions[0] < event.position)
    ]


def _behind(window: Window, leaving: list[Unit], event: RecordedEvent) -> Unit | None:
    """What the made message stands before: the first that stays behind what leaves."""
    gone = set(map(id, leaving))
    start = min((unit.order for unit in leaving), default=float(event.position))
    return next(
        (u for u in window.units if id(u) not in gone and u.order > start),
        None,
    )
