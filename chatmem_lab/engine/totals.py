"""`Totals`: running totals over conversations, shared by all policies with a closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from chatmem_lab.engine.layout import Ints, Layout
from chatmem_lab.messages import Message
from chatmem_lab.tokens import COUNT_KINDS

__all__ = ["Totals"]

Bools = npt.NDArray[np.bool_]


class Totals:
    """Conversations laid end to end, an empty place behind each, and running totals.

    Totals are exclusive: entry ``p`` sums over what stands before place ``p``. *Body* is
    what may be evicted: all but system and developer messages.

    Attributes
    ----------
    offsets : array of int
        Where each conversation begins.
    origin : array of int, shape (n,)
        For each place, where its conversation begins.
    at, base : array of int, shape (requests,)
        The place of each request's reply, and where its conversation begins.
    firsts : array of int
        The numbers of the requests that are their conversation's first.
    instruction_tokens, instructions : array of int, shape (n + 1,)
    body_tokens, body, turns : array of int, shape (n + 1,)
        Tokens, messages and user messages of the body.
    units : array of int, shape (n + 1,)
        Body units that have begun.
    start : array of int, shape (body units + 1,)
        Each body unit's first place; n behind the last.
    tokens : array of int, shape (n + 1,)
        Of each message, not summed; −1 where there is none.
    category, kinds, faults : array of int, shape (n + 1, …)
        Of the body; `instruction_kinds` and `instruction_faults` of the rest.
    fixed : array of int, shape (n,)
        Tool schemas and overhead of each place's conversation.
    """

    def __init__(self, layouts: Sequence[Layout]) -> None:
        self.layouts = layouts
        sizes = np.array([len(layout) + 1 for layout in layouts], np.int64)
        self.offsets: Ints = np.cumsum(sizes) - sizes
        self.origin: Ints = np.repeat(self.offsets, sizes)
        requests = [layout.request_positions for layout in layouts]
        self.requests = np.cumsum([0, *map(len, requests)])
        self.base: Ints = np.repeat(self.offsets, np.diff(self.requests))
        self.at: Ints = np.concatenate(requests) + self.base
        self.firsts: Ints = self.requests[:-1][np.diff(self.requests) > 0]
        instruction = _laid_out(layouts, lambda x: x.is_instruction, np.zeros(1, bool))
        there = _laid_out(layouts, lambda x: np.ones(len(x), bool), np.zeros(1, bool))
        body = there & ~instruction
        joins = _laid_out(layouts, lambda x: np.array(x.joins, bool), np.zeros(1, bool))
        is_open = _laid_out(layouts, lambda x: np.array(x.is_open, bool), np.ones(1, bool))
        tokens = _laid_out(layouts, lambda x: x.tokens, np.zeros(1, np.int64))
        category = _laid_out(layouts, lambda x: x.category, np.zeros(1, np.int64))
        makes_calls = _laid_out(layouts, lambda x: x.makes_calls, np.zeros(1, bool))
        codes = _laid_out(layouts, lambda x: x.kind_codes, np.zeros(1, np.int64))
        begins = body & ~joins
        self.asked: Bools = ~is_open
        self.is_body_before: Bools = np.append(False, body)
        self.instruction_tokens = _before(tokens * instruction)
        self.instructions = _before(instruction)
        self.instruction_places: Ints = np.flatnonzero(instruction)
        self.body_tokens = _before(tokens * body)
        self.body = _before(body)
        self.turns = _before(body & (category == 1))
        self.units = _before(begins)
        self.start: Ints = np.append(np.flatnonzero(begins), len(body)).astype(np.int64)
        self.tokens: Ints = np.append(np.where(there, tokens, -1), -1)
        one_hot = category[:, None] == np.arange(5)
        self.category = _before(one_hot * (tokens * body)[:, None])
        self.call_tokens = _before(tokens * (body & makes_calls))
        by_code = codes[:, None] == np.arange(len(COUNT_KINDS))
        self.kinds = _before(by_code & body[:, None])
        self.instruction_kinds = _before(by_code & instruction[:, None])
        self.has_faults = any(layout.faults for layout in layouts)
        if self.has_faults:
            none = np.zeros((1, layouts[0].fault_table.shape[1]), np.int64)
            faults = _laid_out(layouts, lambda x: x.fault_table, none)
            self.faults = _before(faults * body[:, None])
            self.instruction_faults = _before(faults * instruction[:, None])
        schemas = [layout.tool_schemas.tokens for layout in layouts]
        overhead = [layout.counter.request_tokens for layout in layouts]
        self.fixed: Ints = np.repeat(np.add(schemas, overhead), sizes)
        self.schema_tokens: Ints = np.repeat(np.array(schemas, np.int64), np.diff(self.requests))

    @cached_property
    def first_unit(self) -> Ints:
        """For each place, the first body unit of its conversation."""
        first: Ints = self.units[self.origin]
        return first

    @cached_property
    def schema_kinds(self) -> list[tuple[int, Ints]]:
        """Codes of how sure the tool schemas are, each with the requests that have it."""
        kinds = [COUNT_KINDS.index(layout.tool_schemas.kind) for layout in self.layouts]
        per_request = np.repeat(np.array(kinds, np.int64), np.diff(self.requests))
        codes = sorted({kind for kind in kinds if kind > 0})
        return [(code, np.flatnonzero(per_request == code)) for code in codes]

    @cached_property
    def messages(self) -> list[Message | None]:
        """The messages, place by place."""
        laid_out: list[Message | None] = []
        for layout in self.layouts:
            laid_out.extend(layout.messages)
            laid_out.append(None)
        return laid_out


def _laid_out(
    layouts: Sequence[Layout],
    values: Callable[[Layout], npt.NDArray[Any]],
    behind: npt.NDArray[Any],
) -> npt.NDArray[Any]:
    """The values of all conversations, `behind` standing behind each."""
    return np.concatenate([part for layout in layouts for part in (values(layout), behind)])


def _before(values: npt.NDArray[Any]) -> Ints:
    """Running totals with a 0 in front."""
    total = np.zeros((len(values) + 1, *values.shape[1:]), np.int64)
    np.cumsum(values, axis=0, out=total[1:])
    return total
