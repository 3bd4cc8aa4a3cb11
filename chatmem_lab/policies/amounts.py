"""Amounts: `Messages(20)`, `Tokens(8_000)`, `Turns(4)`, `Share(0.8)`.

An amount says in its type what it counts, so that no parameter means two things.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from chatmem_lab.policies.bounds import Bounds, check_fields

__all__ = ["Amount", "Messages", "Share", "Tokens", "Turns"]


@dataclass(frozen=True)
class Messages:
    """A number of messages."""

    n: Annotated[int, Bounds(0)]

    def __post_init__(self) -> None:
        check_fields(self)

    def __repr__(self) -> str:
        return f"Messages({self.n:_})"


@dataclass(frozen=True)
class Tokens:
    """A number of tokens."""

    n: Annotated[int, Bounds(0)]

    def __post_init__(self) -> None:
        check_fields(self)

    def __repr__(self) -> str:
        return f"Tokens({self.n:_})"


@dataclass(frozen=True)
class Turns:
    """A number of turns."""

    n: Annotated[int, Bounds(0)]

    def __post_init__(self) -> None:
        check_fields(self)

    def __repr__(self) -> str:
        return f"Turns({self.n:_})"


@dataclass(frozen=True)
class Share:
    """A share of the budget, from 0 to 1."""

    x: Annotated[float, Bounds(0, 1)]

    def __post_init__(self) -> None:
        check_fields(self)

    def __repr__(self) -> str:
        return f"Share({self.x:g})"


Amount = Messages | Tokens | Turns | Share
