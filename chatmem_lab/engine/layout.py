"""`Layout`: what a replay needs to know of a conversation, once for all policies."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from chatmem_lab.messages import (
    FAULTS,
    INSTRUCTION_ROLES,
    Conversation,
    Message,
    Segmenter,
    Text,
    count_faults,
)
from chatmem_lab.tokens import COUNT_KINDS, Count, TokenCounter

if TYPE_CHECKING:
    from chatmem_lab.engine.totals import Totals

__all__ = ["CATEGORIES", "Ints", "Layout"]

Ints = npt.NDArray[np.int64]

#: The token columns of `run.requests` that messages add to, in their order there.
CATEGORIES = ("system", "user", "assistant", "tool_result", "made")

_CATEGORY = {"system": 0, "developer": 0, "user": 1, "assistant": 2, "tool": 3}


class Layout:
    """A conversation's tokens, units and requests as arrays: a value per message.

    Parameters
    ----------
    conversation : Conversation
    counter : TokenCounter
    model : str, optional
        What the replay counts for; None when it is each recorded reply's own model.
    counts : list of Count, optional
        One per message, where they have been counted already (for a whole corpus at once).

    Attributes
    ----------
    tokens : array of int
    joins, is_open : list of bool
        Whether a message belongs to the unit before it; whether that unit awaits a result
        after it.
    request_positions : array of int
    """

    def __init__(
        self,
        conversation: Conversation,
        counter: TokenCounter,
        *,
        model: str | None = None,
        counts: list[Count] | None = None,
    ) -> None:
        self.conversation = conversation
        self.counter = counter
        self.model = model
        messages = conversation.messages
        self.messages: tuple[Message, ...] = messages
        self.counts = counter.count_messages(messages) if counts is None else counts
        self.tool_schemas = _count_schemas(conversation, counter)
        self.tokens: Ints = np.fromiter((c.tokens for c in self.counts), np.int64, len(messages))
        segmenter = Segmenter()
        self.joins: list[bool] = []
        self.is_open: list[bool] = []
        for message in messages:
            self.joins.append(segmenter.joins(message))
            self.is_open.append(segmenter.is_open)
        self.request_positions: Ints = np.array(conversation.requests, np.int64)

    def __len__(self) -> int:
        return len(self.messages)

    @cached_property
    def category(self) -> Ints:
        return np.array([_CATEGORY[m.role] for m in self.messages], np.int64)

    @cached_property
    def makes_calls(self) -> npt.NDArray[np.bool_]:
        return np.array([bool(m.tool_calls) for m in self.messages], bool)

    @cached_property
    def is_instruction(self) -> npt.NDArray[np.bool_]:
        return np.array([m.role in INSTRUCTION_ROLES for m in self.messages], bool)

    @cached_property
    def kind_codes(self) -> Ints:
        """How sure each count is, as its place in `COUNT_KINDS`."""
        codes = {kind: code for code, kind in enumerate(COUNT_KINDS)}
        return np.array([codes[count.kind] for count in self.counts], np.int64)

    @cached_property
    def faults(self) -> dict[int, dict[str, int]]:
        """The recording's own faults, by the position that is to blame."""
        found: dict[int, dict[str, int]] = {}
        for unit in self.conversation.units:
            members = self.messages[unit.start : unit.stop]
            if len(members) == 1 and _is_sound_alone(members[0]):
                continue
            if not count_faults(members):
                continue
            segmenter = Segmenter()
            for position, message in zip(unit, members):
                faults: dict[str, int] = {}
                if message.role == "tool" and not segmenter.answers(message):
                    faults["orphan_result"] = 1
                if message.is_blank:
                    faults["blank_message"] = 1
                segmenter.joins(message)
                if faults:
                    found[position] = faults
            if segmenter.open_calls:
                call = next(p for p, m in zip(reversed(unit), reversed(members)) if m.tool_calls)
                found.setdefault(call, {})["unanswered_call"] = len(segmenter.open_calls)
        return found

    @cached_property
    def fault_table(self) -> Ints:
        """The same as an array: a row per message, a column per kind in `FAULTS`."""
        table = np.zeros((len(self), len(FAULTS)), np.int64)
        for position, faults in self.faults.items():
            for kind, n in faults.items():
                table[position, FAULTS.index(kind)] = n
        return table

    @cached_property
    def output(self) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Per request the reply's tokens, and whether they were recorded or counted."""
        tokens, recorded = [], []
        for position in self.request_positions.tolist():
            usage = self.messages[position].usage
            known = usage is not None and usage.output_tokens is not None
            recorded.append(known)
            tokens.append(
                usage.output_tokens if usage is not None and known else self.tokens[position]
            )
        return np.array(tokens, np.int64), np.array(recorded, bool)

    @cached_property
    def same_model(self) -> npt.NDArray[np.bool_]:
        """Per request, whether it goes to the same model as the request before."""
        n = len(self.request_positions)
        if self.model is not None:
            return np.ones(n, bool)
        own = self.conversation.model
        models = [self.messages[p].model or own for p in self.request_positions.tolist()]
        return np.array(
            [
                i == 0 or models[i] is None or models[i - 1] is None or models[i] == models[i - 1]
                for i in range(n)
            ],
            bool,
        )

    @cached_property
    def system_messages(self) -> int:
        """How many system messages the recording has."""
        return sum(m.role == "system" for m in self.messages)

    @cached_property
    def totals(self) -> Totals:
        """Running totals for policies with a closed form."""
        from chatmem_lab.engine.totals import Totals

        return Totals([self])


def _count_schemas(conversation: Conversation, counter: TokenCounter) -> Count:
    """Where tools were called and their schemas are not recorded, 0 is only a lower bound."""
    if conversation.tools:
        return counter.count_tools(conversation.tools)
    called = any(message.tool_calls for message in conversation.messages)
    return Count(0, "lower_bound" if called else "exact")


def _is_sound_alone(message: Message) -> bool:
    """Whether a unit of this one message has no fault, seen without looking closely."""
    parts = message.parts
    return (
        message.role != "tool"
        and not message.tool_calls
        and len(parts) > 0
        and type(parts[0]) is Text
        and parts[0].text[:1].strip() != ""
    )
