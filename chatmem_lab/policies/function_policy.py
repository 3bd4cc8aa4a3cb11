"""`policy_from`: a plain function ``messages -> messages`` as a policy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Insert, Revision, Slot, Unit, Window

__all__ = ["FunctionPolicy", "policy_from"]

MessageFunction = Callable[[list[Message]], Iterable[Message]]


@dataclass(frozen=True, repr=False)
class FunctionPolicy(Policy):
    """A function from messages to messages. Build it with `policy_from`."""

    function: MessageFunction
    _: KW_ONLY
    sees_what: Literal["window", "history"] = "window"
    repair: bool = True

    contract = "loose"
    exported = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise PolicyError(f"policy_from needs a function, not {self.function!r}")
        if self.sees_what not in ("window", "history"):
            raise PolicyError(f"sees must be 'window' or 'history', not {self.sees_what!r}")

    @property
    def sees(self) -> Any:  # type: ignore[override]
        return self.sees_what

    @property
    def asks(self) -> Any:  # type: ignore[override]
        return "request" if self.sees_what == "history" else "append"

    @property
    def segments(self) -> Any:  # type: ignore[override]
        return "units" if self.repair else "messages"

    def revise(self, window: Window) -> Revision:
        slots = window.slots
        given = [slot.message for slot in slots]
        result = self.function(list(given))
        if not isinstance(result, Iterable):
            raise PolicyError(
                f"{self!r} must return messages, not {type(result).__name__}: "
                "return the ones to keep"
            )
        returned = list(result)
        if len(returned) == len(given) and all(map(operator.is_, returned, given)):
            return KEEP
        for message in returned:
            if not isinstance(message, Message):
                raise PolicyError(f"{self!r} must return messages, not {type(message).__name__}")
        again: list[Unit] = []
        if self.repair:
            returned, again = _once(window, returned)
        aligned = _align(slots, returned)
        kept = {id(slot): message for slot, message in aligned if slot is not None}
        evict, repaired = self._missing(window, kept)
        repaired += [unit for unit in _moved(window, aligned) + again if unit not in repaired]
        replace = {
            slot: message
            for slot, message in aligned
            if slot is not None
            and message is not slot.message
            and not message.same_as(slot.message)
        }
        insert = _inserts(window, aligned, repair=self.repair)
        if not (evict or replace or insert or repaired):
            return KEEP
        return Revision(
            evict=tuple(evict),
            replace=replace,
            replaced_as="clamp",
            insert=insert,
            repaired=tuple(repaired),
            reason=_name(self.function),
        )

    def _missing(self, window: Window, kept: dict[int, Message]) -> tuple[list[Unit], list[Unit]]:
        evict: list[Unit] = []
        repaired: list[Unit] = []
        for unit in window.units:
            held = sum(id(slot) in kept for slot in unit.slots)
            if held == 0 and not (self.repair and window.is_pinned(unit)):
                evict.append(unit)
            elif held < len(unit):
                repaired.append(unit)
        return evict, repaired

    def __repr__(self) -> str:
        options = [_name(self.function)]
        if self.sees_what != "window":
            options.append(f"sees={self.sees_what!r}")
        if not self.repair:
            options.append("repair=False")
        return f"policy_from({', '.join(options)})"


def policy_from(
    function: MessageFunction,
    *,
    sees: Literal["window", "history"] = "window",
    repair: bool = True,
) -> FunctionPolicy:
    """Make a policy of a plain function that takes messages and returns messages.

    What it returns is aligned with what it was given, by object identity, then by id or the
    id of the call that is answered, then by content: missing messages are evicted, the same
    id with other content is a replacement, a new message is inserted.

    Parameters
    ----------
    function : callable
        From a list of `Message` to an iterable of `Message`.
    sees : {"window", "history"}
        The window as it stands; or, before each request, the whole history anew.
    repair : bool
        A unit of which the function kept a part is kept whole, so is one that is pinned (the
        current system and developer messages, the newest unit), a message that is returned
        twice counts once, and an event says so. With False each message stands alone, and
        orphans and a lost system message show as faults.

    Examples
    --------
    >>> policy_from(lambda messages: messages[-3:])
    policy_from(<lambda>)
    """
    return FunctionPolicy(function, sees_what=sees, repair=repair)


def _name(function: object) -> str:
    return getattr(function, "__qualname__", repr(function)).rpartition(".")[2]


def _align(
    slots: Sequence[Slot], returned: Sequence[Message]
) -> list[tuple[Slot | None, Message]]:
    """Each returned message with the slot that it came from, or None for a new one."""
    by_object: dict[int, list[Slot]] = {}
    by_id: dict[object, list[Slot]] = {}
    by_content: dict[object, list[Slot]] = {}
    for slot in slots:
        by_object.setdefault(id(slot.message), []).append(slot)
        identity = _identity(slot.message)
        if identity is not None:
            by_id.setdefault(identity, []).append(slot)
        by_content.setdefault(slot.message.key, []).append(slot)
    taken: set[int] = set()

    def take(candidates: list[Slot] | None) -> Slot | None:
        for slot in candidates or ():
            if id(slot) not in taken:
                taken.add(id(slot))
                return slot
        return None

    found: list[Slot | None] = [take(by_object.get(id(message))) for message in returned]
    for index, message in enumerate(returned):
        if found[index] is None:
            found[index] = take(by_id.get(_identity(message)))
    for index, message in enumerate(returned):
        if found[index] is None:
            found[index] = take(by_content.get(message.key))
    return list(zip(found, returned))


def _once(window: Window, returned: Sequence[Message]) -> tuple[list[Message], list[Unit]]:
    """Each message that is the window's own once, and the units of those that came again."""
    unit_of = {id(slot.message): unit for unit in window.units for slot in unit.slots}
    seen: set[int] = set()
    once: list[Message] = []
    again: list[Unit] = []
    for message in returned:
        if id(message) in seen and id(message) in unit_of:
            again.append(unit_of[id(message)])
            continue
        seen.add(id(message))
        once.append(message)
    return once, again


def _moved(window: Window, aligned: Sequence[tuple[Slot | None, Message]]) -> list[Unit]:
    """Units that a function put elsewhere; a window keeps its order."""
    unit_of = {id(slot): unit for unit in window.units for slot in unit.slots}
    moved: dict[int, Unit] = {}
    last = float("-inf")
    for slot, _ in aligned:
        if slot is not None and slot.order < last:
            unit = unit_of[id(slot)]
            moved[id(unit)] = unit
        elif slot is not None:
            last = slot.order
    return list(moved.values())


def _identity(message: Message) -> object:
    """What stays the same where a function rewrites a message; None if nothing does."""
    if message.id is not None:
        return message.id
    if message.role == "tool" and message.tool_call_id:
        return ("answers", message.tool_call_id)
    return ("calls", message.tool_calls) if message.tool_calls else None


def _inserts(
    window: Window, aligned: Sequence[tuple[Slot | None, Message]], *, repair: bool
) -> tuple[Insert, ...]:
    """The new messages; with `repair` no calls and results, which would be in no unit."""
    unit_of = {id(slot): unit for unit in window.units for slot in unit.slots}
    inserts: list[Insert] = []
    before: Unit | None = None
    for slot, message in reversed(aligned):
        if slot is not None:
            before = unit_of[id(slot)]
        elif not (repair and (message.tool_calls or message.role == "tool")):
            inserts.append(Insert(message, before))
    return tuple(reversed(inserts))
