"""`Trace`: what one conversation's replay under one policy gave, as arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from chatmem_lab.engine.layout import CATEGORIES, Ints, Layout
from chatmem_lab.keeper import Event
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.window import OwnedWindow, Slot, Window

__all__ = ["Span", "Trace"]


class Span(Struct, frozen=True, eq=False):
    """A slot, and the requests from the first to the last that show it.

    `last_request` is the number of requests for what is still there at the end. `end` says
    why it left or changed; empty if it did not.
    """

    slot: Slot
    first_request: int
    last_request: int
    end: str = ""


class Trace(Struct, frozen=True, eq=False, dict=True, kw_only=True):
    """The replay of one conversation under one policy.

    Attributes
    ----------
    category_tokens : array of int, shape (requests, 5)
        Tokens in the window by category: see `CATEGORIES`.
    tool_call_tokens, messages, units, pinned_tokens, evicted_messages, evicted_tokens,
    absent_messages, prefix_tokens, summarizer_input_tokens, summarizer_output_tokens : array
        A value per request, as in `run.requests`.
    count_kind : array of int
        Index into ``tokens.COUNT_KINDS``.
    over_budget : array of bool
    faults : array of int, shape (requests, kinds of faults)
    """

    layout: Layout
    policy: Policy | Preset
    budget: int | None
    model: str | None
    category_tokens: Ints
    tool_call_tokens: Ints
    messages: Ints
    units: Ints
    pinned_tokens: Ints
    evicted_messages: Ints
    evicted_tokens: Ints
    absent_messages: Ints
    prefix_tokens: Ints
    summarizer_input_tokens: Ints
    summarizer_output_tokens: Ints
    count_kind: Ints
    over_budget: npt.NDArray[np.bool_]
    faults: Ints
    make_events: Callable[[], list[Event]]
    make_spans: Callable[[], list[Span]]

    @property
    def conversation(self) -> Conversation:
        return self.layout.conversation

    @property
    def requests(self) -> int:
        """The number of requests."""
        return len(self.messages)

    @property
    def tool_schema_tokens(self) -> int:
        return self.layout.tool_schemas.tokens

    @property
    def overhead_tokens(self) -> int:
        return self.layout.counter.request_tokens

    @cached_property
    def input_tokens(self) -> Ints:
        """The whole of each request: messages, tool schemas, overhead."""
        fixed = self.tool_schema_tokens + self.overhead_tokens
        total: Ints = self.category_tokens.sum(axis=1) + fixed
        return total

    @cached_property
    def events(self) -> list[Event]:
        """What happened, oldest first."""
        return self.make_events()

    @cached_property
    def spans(self) -> list[Span]:
        """Every slot that a request shows, or the end, in the order of the window."""
        spans = self.make_spans()
        spans.sort(key=lambda span: (span.slot.order, span.first_request, span.last_request))
        return spans

    @property
    def category(self) -> dict[str, Ints]:
        """Tokens in the window by category, a value per request."""
        return {name: self.category_tokens[:, i] for i, name in enumerate(CATEGORIES)}

    def window(self, request: int) -> Window:
        """The window at `request`; −1, or the number of requests, is the final one.

        Raises
        ------
        IndexError
        """
        n = self.requests
        if not -1 <= request <= n:
            raise IndexError(
                f"there is no request {request}: {self.conversation.id!r} has "
                f"{n} requests, 0 to {n - 1}, and the window after the last message is .final"
            )
        at = n if request == -1 else request
        position = len(self.layout) if at == n else int(self.layout.request_positions[at])
        window = OwnedWindow(
            self.layout.counter.count_message,
            overhead_tokens=self.overhead_tokens,
            tool_schema_tokens=self.tool_schema_tokens,
            tool_schema_kind=self.layout.tool_schemas.kind,
            pin_user=_policy_of(self.policy).pins_user,
            pins=_policy_of(self.policy).pins,
            budget=self.budget,
            policy=self.policy,
        )
        shown = [s.slot for s in self.spans if s.first_request <= at <= s.last_request]
        loose = _policy_of(self.policy).segments == "messages"
        window.replace_all(
            [
                (slot, not loose and index > 0 and self._joined(shown[index - 1], slot))
                for index, slot in enumerate(shown)
            ]
        )
        window.settle(newest=position - 1)
        window.request = at if at < n else None
        window.turn_numbers = {
            turn.start: number for number, turn in enumerate(self.conversation.turns, 1)
        }
        originals = sum(slot.position is not None for slot in shown)
        window.absent_messages = position - originals
        if at < n:
            window.prefix_tokens = int(self.prefix_tokens[at])
        return window

    def _joined(self, before: Slot, slot: Slot) -> bool:
        return (
            slot.position is not None
            and before.position == slot.position - 1
            and self.layout.joins[slot.position]
        )

    def made_messages(self) -> list[Message]:
        """Every made message that entered, oldest first."""
        return [event.made for event in self.events if event.made is not None]

    def __repr__(self) -> str:
        return f"<Trace of {self.conversation.id!r} under {self.policy!r}>"


def _policy_of(policy: Policy | Preset) -> Policy:
    return policy.policy if isinstance(policy, Preset) else policy
