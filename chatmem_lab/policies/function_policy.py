"""`policy_from`: a plain function ``messages -> messages`` as a policy."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message
from chatmem_lab.policies.aligning import align, revision_of
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Revision, Unit, Window

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
        return revision_of(
            window,
            align(slots, returned),
            reason=_name(self.function),
            repair=self.repair,
            again=again,
        )

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
