"""`Policy`: decides what stays in the window. Subclass it to write your own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from chatmem_lab.messages import Conversation, Message
from chatmem_lab.policies.bounds import check_fields
from chatmem_lab.window import Revision, Window

if TYPE_CHECKING:
    from chatmem_lab.policies.chained import Chain

__all__ = ["Policy"]


class Policy:
    """Decides what the model still sees. Pure: no state, the same answer for the same window.

    A policy is a frozen dataclass with a `revise` method. Its first field is positional,
    fields annotated with `Bounds` are checked when it is built, and its ``repr`` is the
    recipe to build it again.

    Attributes
    ----------
    asks : {"append", "request"}
        Asked after each message (default), or before each request.
    sees : {"window", "history"}
        The window as it stands, where what left stays out (default); or, for each request,
        the whole history anew: then messages may return.
    contract : {"strict", "loose"}
        Strict: checked; units whole, pinned messages kept, order kept. Loose: applied as it
        comes; faults are recorded. Loose pairing is `segments`, not a looser revision.
    segments : {"units", "messages"}
        Whether calls and their results are one unit, or each message is its own.
    asked_while_open : bool
        Whether it is asked while a call of the newest unit still awaits its result.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class KeepTurns(Policy):
    ...     turns: int = 4
    ...
    ...     def revise(self, window):
    ...         return Revision(evict=window.units_before_turn(-self.turns), reason="old turn")
    >>> KeepTurns(2)
    KeepTurns(turns=2)
    """

    asks: ClassVar[Literal["append", "request"]] = "append"
    sees: ClassVar[Literal["window", "history"]] = "window"
    contract: ClassVar[Literal["strict", "loose"]] = "strict"
    segments: ClassVar[Literal["units", "messages"]] = "units"
    asked_while_open: ClassVar[bool] = False
    #: False, in a class's own body, for one that cannot be built from plain values.
    exported: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if is_dataclass(self):
            check_fields(self)

    def revise(self, window: Window) -> Revision:
        """Decide about `window`; `KEEP` for no change."""
        raise NotImplementedError(f"{type(self).__name__} needs a method revise(self, window)")

    def begin(self, conversation: Conversation | None) -> Policy:
        """The policy for one session: itself, unless it must know the conversation."""
        return self

    def excess(self, window: Window) -> str | None:
        """Why `window` is over the limit, with the parts of the sum; None if it is not."""
        return None

    @property
    def budget(self) -> int | None:
        """The most tokens that it lets a window hold, if it has such a limit."""
        return None

    @property
    def pins_user(self) -> bool:
        """Whether it keeps the latest user message whatever happens."""
        return bool(getattr(self, "pin_user", False))

    @property
    def pins(self) -> Callable[[Message], bool] | None:
        """Says of a message whether its unit is never evicted; None for no such rule."""
        return None

    @property
    def stages(self) -> tuple[Policy, ...]:
        """The policies that are asked in turn: itself, or the parts of a chain."""
        return (self,)

    def __or__(self, other: Policy) -> Chain:
        from chatmem_lab.policies.chained import chain

        return chain(self, other)

    def __repr__(self) -> str:
        return recipe(self)


def recipe(value: Any) -> str:
    """The call that builds `value` again: first field positional, defaults left out."""
    if not is_dataclass(value):
        return f"{type(value).__name__}()"
    parts: list[str] = []
    for field in sorted(fields(value), key=lambda field: bool(field.kw_only)):
        given = getattr(value, field.name)
        first = not parts and not field.kw_only
        if field.repr and (first or given != field.default):
            shown = f"{given:_}" if type(given) is int else repr(given)
            parts.append(shown if first else f"{field.name}={shown}")
    return f"{type(value).__name__}({', '.join(parts)})"
