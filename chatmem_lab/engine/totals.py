"""`Totals`: running totals over a conversation, shared by all policies with a closed form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from chatmem_lab.engine.layout import Ints, Layout
from chatmem_lab.tokens import COUNT_KINDS

__all__ = ["Totals"]


class Totals:
    """Running totals, exclusive: entry ``p`` sums over the messages before position ``p``.

    *Body* is what may be evicted: all but system and developer messages.

    Attributes
    ----------
    instruction_tokens, instructions : array of int, shape (n + 1,)
    body_tokens, body, turns : array of int, shape (n + 1,)
        Tokens, messages and user messages of the body.
    units : array of int, shape (n + 1,)
        Body units that have begun.
    tokens : array of int, shape (n + 1,)
        Of each message, not summed; −1 behind the last.
    start : array of int, shape (body units + 1,)
        Each body unit's first position; n behind the last.
    category, kinds, faults : array of int, shape (n + 1, …)
        Of the body; `instruction_kinds` and `instruction_faults` of the rest.
    """

    def __init__(self, layout: Layout) -> None:
        n = len(layout)
        instruction = layout.is_instruction
        body = ~instruction
        tokens = layout.tokens
        begins = body & ~np.array(layout.joins, bool)
        self.positions = layout.request_positions
        self.instruction_tokens = _before(tokens * instruction)
        self.instructions = _before(instruction)
        self.instruction_positions: list[int] = np.flatnonzero(instruction).tolist()
        self.body_tokens = _before(tokens * body)
        self.body = _before(body)
        self.turns = _before(body & (layout.category == 1))
        self.units = _before(begins)
        self.start: Ints = np.append(np.flatnonzero(begins), n).astype(np.int64)
        one_hot = layout.category[:, None] == np.arange(5)
        self.category = _before(one_hot * (tokens * body)[:, None])
        self.call_tokens = _before(tokens * (body & layout.makes_calls))
        codes = layout.kind_codes[:, None] == np.arange(len(COUNT_KINDS))
        self.kinds = _before(codes & body[:, None])
        self.instruction_kinds = _before(codes & instruction[:, None])
        self.has_faults = bool(layout.faults)
        if self.has_faults:
            faults = layout.fault_table
            self.faults = _before(faults * body[:, None])
            self.instruction_faults = _before(faults * instruction[:, None])
        self.tokens: Ints = np.append(tokens, -1)
        self.is_body_before: npt.NDArray[np.bool_] = np.append(False, body)
        self.asked: npt.NDArray[np.bool_] = ~np.array(layout.is_open, bool)
        self.fixed = layout.tool_schemas.tokens + layout.counter.request_tokens


def _before(values: npt.NDArray[np.generic]) -> Ints:
    """Running totals with a 0 in front."""
    total = np.zeros((len(values) + 1, *values.shape[1:]), np.int64)
    np.cumsum(values, axis=0, out=total[1:])
    return total
