"""`Slot`: one message in a window. `Unit`: the slots that stay or leave together."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from chatmem_lab.messages import INSTRUCTION_ROLES, Message

__all__ = ["Slot", "State", "Unit", "order_of"]

State = Literal["kept", "cleared", "clamped", "made"]


class Slot(Struct, frozen=True, eq=False, gc=False):
    """One message in a window, with its tokens.

    Parameters
    ----------
    message : Message
        What is sent.
    tokens : int
        Its tokens, its own overhead included.
    position : int or None
        Its place in the history; None for a made message.
    state : {"kept", "cleared", "clamped", "made"}
    order : float
        Its place in the window: slots are sent by rising order.
    count_kind : str
        How sure `tokens` is.

    Notes
    -----
    Slots are compared by identity: two windows may hold equal messages.
    """

    message: Message
    tokens: int
    position: int | None = None
    state: State = "kept"
    order: float = 0.0
    count_kind: str = "exact"

    @property
    def kind(self) -> str:
        """The message's kind as pictures name it; ``"made"`` for a made message."""
        return "made" if self.position is None else self.message.kind


class Unit:
    """The slots that stay or leave together, oldest first.

    Attributes
    ----------
    slots : list of Slot
    tokens : int
        The sum of its slots' tokens.
    is_held : bool
        Whether it stays for good by the user's own rule.
    """

    __slots__ = ("is_held", "slots", "tokens")

    def __init__(self, slot: Slot, is_held: bool = False) -> None:
        self.slots = [slot]
        self.tokens = slot.tokens
        self.is_held = is_held

    def __len__(self) -> int:
        return len(self.slots)

    def __repr__(self) -> str:
        return f"<Unit {list(self.positions)}, {self.tokens} tokens>"

    @property
    def messages(self) -> tuple[Message, ...]:
        """Its messages, as they are sent."""
        return tuple(slot.message for slot in self.slots)

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions in the history; empty for a made message."""
        return tuple(slot.position for slot in self.slots if slot.position is not None)

    @property
    def order(self) -> float:
        """Its place in the window: that of its first slot."""
        return self.slots[0].order

    @property
    def role(self) -> str:
        """The role of its first message."""
        return self.slots[0].message.role

    @property
    def is_made(self) -> bool:
        """Whether it is a made message: a summary, a marker."""
        return self.slots[0].position is None

    @property
    def is_summary(self) -> bool:
        """Whether it is a summary, made here or added as one."""
        return self.slots[0].message.summary is not None

    @property
    def is_instruction(self) -> bool:
        """Whether it is a recorded system or developer message, which is always pinned."""
        slot = self.slots[0]
        return slot.position is not None and slot.message.role in INSTRUCTION_ROLES

    @property
    def starts_turn(self) -> bool:
        """Whether it is a recorded user message: a turn begins with it."""
        slot = self.slots[0]
        return slot.position is not None and slot.message.role == "user"


def order_of(unit: Unit) -> float:
    """Where a unit stands, as a key for bisection."""
    return unit.order
