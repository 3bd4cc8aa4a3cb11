"""`Block`: a slot as pictures see it, read from plain values."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatmem_lab.html.style import ROLES

__all__ = ["Block", "gaps", "read_blocks", "totals", "turn_starts"]

#: Kinds of blocks that are no messages.
SCHEMAS, OVERHEAD = "tool schemas", "overhead"
#: States that have a sign of their own below the strip.
MARKED = ("made", "cleared", "clamped")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a strip.

    Parameters
    ----------
    kind : str
        As in `run.map`: system, developer, user, assistant, tool call, tool result, made.
    tokens : int
    state : str
        kept, cleared, clamped or made.
    pinned : bool
    position : int or None
        Its place in the history; None for a made message.
    text : str
    turn : int or None
        The number of the turn that begins with it, the conversation's first being 1.
    covers : int or None
        How many messages a made one stands for.
    """

    kind: str
    tokens: int
    state: str = "kept"
    pinned: bool = False
    position: int | None = None
    text: str = ""
    turn: int | None = None
    covers: int | None = None

    @property
    def name(self) -> str:
        """How hover texts and tables call it.

        >>> Block("user", 12, position=4).name, Block("made", 80).name
        ('#4', 'made')
        """
        return f"#{self.position}" if self.position is not None else self.kind


def read_blocks(values: Iterable[Mapping[str, Any] | Block]) -> list[Block]:
    """Blocks from mappings with the fields of `Block`, all but kind and tokens optional.

    >>> read_blocks([{"kind": "user", "tokens": 12, "position": 4}])[0].state
    'kept'
    """
    blocks = []
    for value in values:
        if isinstance(value, Block):
            blocks.append(value)
            continue
        get = value.get
        kind, position = str(value["kind"]), get("position")
        blocks.append(
            Block(
                kind,
                max(int(value["tokens"]), 0),
                str(get("state") or ("made" if kind == "made" else "kept")),
                bool(get("pinned")),
                position if position is None else int(position),
                str(get("text") or ""),
                get("turn"),
                get("covers"),
            )
        )
    return blocks


def totals(blocks: Iterable[Block]) -> dict[str, int]:
    """Tokens by kind, in the order of the legend.

    >>> totals([Block("user", 3), Block("system", 9), Block("user", 4)])
    {'system': 9, 'user': 7}
    """
    sums: dict[str, int] = {}
    for block in blocks:
        sums[block.kind] = sums.get(block.kind, 0) + block.tokens
    known = [kind for kind in (*ROLES, SCHEMAS, OVERHEAD) if kind in sums]
    return {kind: sums[kind] for kind in [*known, *sorted(sums.keys() - set(known))]}


def gaps(blocks: Sequence[Block]) -> dict[int, int]:
    """How many messages of the history are missing just before a block, by its index.

    What a made message stands for is not gone: where one stands in a gap and says how
    many messages it covers, only the others count; where it does not say, none.

    >>> a, b, c = (Block("user", 1, position=p) for p in (0, 3, 4))
    >>> gaps([a, b, c])
    {1: 2}
    >>> gaps([a, Block("made", 1, "made", covers=2), b, c])
    {}
    """
    present = sorted({block.position for block in blocks if block.position is not None})
    found: dict[int, int] = {}
    top, covered, unsaid = -1, 0, False
    for index, block in enumerate(blocks):
        if block.position is None:
            if block.state == "made":
                covered, unsaid = covered + (block.covers or 0), unsaid or block.covers is None
        elif block.kind not in ("system", "developer"):
            if block.position > top + 1:
                between = bisect_left(present, block.position) - bisect_left(present, top + 1)
                gone = block.position - top - 1 - between - covered
                if gone > 0 and not unsaid:
                    found[index] = gone
            top = max(top, block.position)
            covered, unsaid = 0, False
    return found


def turn_starts(blocks: Sequence[Block], gone: Mapping[int, int]) -> dict[int, int | None]:
    """The turn that begins with a block, by its index; None where its number is not known.

    Numbers are counted where nothing is missing before, and taken from `Block.turn` else.

    >>> a, b = Block("user", 1, position=0), Block("user", 1, position=5)
    >>> turn_starts([a, b], {}), turn_starts([a, b], {1: 4})
    ({0: 1, 1: 2}, {0: 1, 1: None})
    """
    starts: dict[int, int | None] = {}
    count: int | None = 0
    for index, block in enumerate(blocks):
        if index in gone or block.state == "made":
            count = None
        if block.turn is not None:
            count = starts[index] = block.turn
        elif block.kind == "user" and block.position is not None:
            count = starts[index] = None if count is None else count + 1
    return starts
