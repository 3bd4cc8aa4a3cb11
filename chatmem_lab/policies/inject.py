"""`Inject`: what is looked up before a request stands in it, and in no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import msgspec

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message, system, user
from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Insert, Revision, Unit, Window

__all__ = ["Inject"]

_PLACES = ("system", "latest_user", "end")


@dataclass(frozen=True, repr=False)
class Inject(Policy):
    """Before each request a message from `function` enters; the one of the request before leaves.

    For retrieved facts, the time, instructions. It is never part of the history, and no
    other policy evicts it: in ``Inject(facts) | TokenWindow(8_000)`` the window makes room
    for it. Equal text at the same place stays as it is, and so does the prefix.

    Parameters
    ----------
    function : callable
        From the messages of the window, as a list, to a str, a `Message` or None for nothing.
    where : {"system", "latest_user", "end"}
        Behind the instructions, as a system message; before the latest user message, or at
        the end, as a user message. A `Message` keeps its own role.

    Examples
    --------
    >>> def facts(messages):
    ...     return "The customer's number is K-8841."
    >>> Inject(facts, where="latest_user")
    Inject(facts, where='latest_user')
    """

    function: Callable[[list[Message]], Any]
    _: KW_ONLY
    where: str = "system"

    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True
    exported = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise PolicyError(f"Inject needs a function, not {self.function!r}")
        if self.where not in _PLACES:
            raise PolicyError(
                f"Inject: where must be one of {', '.join(_PLACES)}, not {self.where!r}"
            )

    def revise(self, window: Window) -> Revision:
        mine = [unit for unit in window.units if self._is_mine(unit)]
        shown = [m for unit in window.units if unit not in mine for m in unit.messages]
        made = self._made(shown)
        before = self._place(window, mine)
        is_there = made is not None and [u.messages[0].key for u in mine] == [made.key]
        if (made is None and not mine) or (is_there and _behind(window, mine[0]) is before):
            return KEEP
        return Revision(
            evict=tuple(mine),
            insert=() if made is None else (Insert(made, before),),
            reason=f"{self._name} before the request",
        )

    @property
    def _name(self) -> str:
        return getattr(self.function, "__qualname__", repr(self.function)).rpartition(".")[2]

    def _is_mine(self, unit: Unit) -> bool:
        message = unit.messages[0]
        return unit.is_made and (message.metadata or {}).get("injected_by") == repr(self)

    def _made(self, shown: list[Message]) -> Message | None:
        try:
            given = self.function(shown)
        except Exception as error:
            raise PolicyError(f"{self!r}: {type(error).__name__}: {error}") from error
        if isinstance(given, str):
            given = system(given) if self.where == "system" else user(given)
        if given is None or (isinstance(given, Message) and given.is_blank):
            return None
        if not isinstance(given, Message):
            raise PolicyError(
                f"{self!r} must return a str, a Message or None, not {type(given).__name__}"
            )
        if given.tool_calls or given.role == "tool":
            raise PolicyError(f"{self!r} may not inject tool calls or results")
        return msgspec.structs.replace(
            given, generated=False, metadata={**(given.metadata or {}), "injected_by": repr(self)}
        )

    def _place(self, window: Window, mine: list[Unit]) -> Unit | None:
        """The unit that it stands before; None at the end."""
        if self.where == "end":
            return None
        if self.where == "latest_user" and window.latest_user is not None:
            return window.latest_user
        return next(
            (
                unit
                for unit in window.units
                if not unit.is_instruction and not unit.messages[0].is_injected
            ),
            None,
        )

    def __repr__(self) -> str:
        return f"Inject({self._name}, where={self.where!r})"


def _behind(window: Window, mine: Unit) -> Unit | None:
    """The unit behind `mine`, and behind what else was injected there."""
    units = iter(window.units)
    for unit in units:
        if unit is mine:
            break
    return next((unit for unit in units if not unit.messages[0].is_injected), None)
