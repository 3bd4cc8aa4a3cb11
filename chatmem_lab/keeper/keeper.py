"""`Keeper`: the one owner of a session's window.

It takes messages in by the rules, asks the policy, has its decisions applied and records
what happened. A live memory and a replay use the same keeper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from chatmem_lab.errors import PolicyError
from chatmem_lab.keeper.admission import check_admission, check_size, size_excess
from chatmem_lab.keeper.applying import Applier
from chatmem_lab.keeper.event import Event
from chatmem_lab.keeper.event_log import EventLog
from chatmem_lab.keeper.folding import Folding
from chatmem_lab.keeper.left import Left, with_joins
from chatmem_lab.keeper.system_messages import Batch, first_system, replaced_by
from chatmem_lab.messages import Conversation, Message, Segmenter
from chatmem_lab.policies import KeepAll, Policy, Preset, split_preset
from chatmem_lab.tokens import Count, TokenCounter
from chatmem_lab.window import KEEP, Journal, OwnedWindow, Slot

__all__ = ["Keeper"]


class Keeper:
    """Owns the window of one session under one policy.

    Parameters
    ----------
    policy : Policy or Preset
    counter : TokenCounter
    session_id : str
        Handed to summarizers, and to limits that depend on it.
    tools : sequence of dict
        Tool schemas, sent with every request.
    conversation : Conversation, optional
        What is replayed; None for a live session.
    journal : Journal, optional
        Told of every slot that enters or leaves.
    call : callable, optional
        Calls the function that calls a summarizer, which may take long.

    Attributes
    ----------
    window : OwnedWindow
    request : int
        The number of requests so far; the caller counts it up.
    """

    def __init__(
        self,
        policy: Policy | Preset,
        counter: TokenCounter,
        *,
        session_id: str = "",
        tools: Sequence[Mapping[str, Any]] = (),
        tool_schemas: Count | None = None,
        conversation: Conversation | None = None,
        journal: Journal | None = None,
        call: Callable[[Callable[[], Any]], Any] | None = None,
    ) -> None:
        chosen, self.rules = split_preset(policy)
        self.policy = chosen.begin(conversation)
        self._stages = self.policy.stages
        self._by_message = self.policy.segments == "messages"
        self._asks_append = any(stage.asks == "append" for stage in self._stages)
        self._asks_request = any(stage.asks == "request" for stage in self._stages)
        self._asked_while_open = any(stage.asked_while_open for stage in self._stages)
        self._can_exceed = any(type(s).excess is not Policy.excess for s in self._stages)
        self._ignores_blank = self.rules.blank == "ignore"
        self._trims_late = self.rules.first_request == "untrimmed"
        self._segmenter = Segmenter()
        self._open = False
        self._asked_at = -2
        self._is_asking = False
        self._is_over = False
        #: A user message stands untrimmed in the window: its request is still to come.
        self._is_untrimmed = False
        self._batch: Batch | None = None
        self._enters_as_given = False
        self._shown: set[int] = set()
        if tool_schemas is None:
            tool_schemas = counter.count_tools(tools) if tools else Count(0)
        options: dict[str, Any] = {
            "overhead_tokens": counter.request_tokens,
            "tool_schema_tokens": tool_schemas.tokens,
            "tool_schema_kind": tool_schemas.kind,
            "pin_user": self.policy.pins_user,
            "pins": self.policy.pins,
            "budget": self.policy.budget,
            "policy": policy,
            "session_id": session_id,
        }
        self.window = OwnedWindow(counter.count_message, journal=journal, **options)
        self._log = EventLog(self.window)
        self._applier = Applier(self.window, self._log, counter, session_id, self._stages, call)
        #: For policies that see the whole history: what a policy that keeps all would hold.
        self._whole: Keeper | None = None
        if self._stages[0].sees == "history":
            self._whole = Keeper(Preset(KeepAll(), self.rules), counter, tool_schemas=tool_schemas)
            self._whole._by_message = self._by_message
            for name in ("pin_user", "pins", "budget", "policy", "session_id"):
                setattr(self._whole.window, name, options[name])

    @property
    def events(self) -> list[Event]:
        """What happened to the window, oldest first."""
        return self._log.events

    @property
    def request(self) -> int:
        return self._log.request

    @request.setter
    def request(self, number: int) -> None:
        self._log.request = number

    # --- a message arrives

    def check(self, message: Message, count: Count, history: Sequence[Message]) -> None:
        """Refuse what the rules call an error; only a live session asks this.

        `history` is what was added before.

        Raises
        ------
        MessageError
        BudgetError
            Where the rules refuse what alone exceeds the budget.
        """
        check_admission(message, self.rules, self._segmenter, history)
        if self.rules.oversize == "error":
            check_size(count, self.window)

    def is_ignored(self, message: Message) -> bool:
        """Whether the rules let `message` leave no trace."""
        if self.rules.blank == "ignore" and message.is_blank:
            return True
        if message.role != "system" or self.rules.equal_system != "ignore":
            return False
        current = first_system(self.window)
        return current is not None and current.slots[0].message.text == message.text

    def add(self, message: Message, count: Count, position: int) -> None:
        """`message`, at `position` of the history, arrives; the policy is asked."""
        if self._leaves_no_trace(message):
            return
        self.arrive(message, count, position, *self._segment(message))

    def _leaves_no_trace(self, message: Message) -> bool:
        return (
            (message.role == "system" or self._ignores_blank)
            and not self._enters_as_given
            and self.is_ignored(message)
        )

    def _segment(self, message: Message) -> tuple[bool, bool]:
        joins = self._segmenter.joins(message)
        return joins, self._segmenter.is_open

    def arrive(
        self, message: Message, count: Count, position: int, joins: bool, is_open: bool
    ) -> None:
        """The same with the segmentation known: `joins` the newest unit, leaves it open."""
        if self._leaves_no_trace(message):
            return
        if self._is_untrimmed:
            self._trim()
        if self._whole is not None:
            self._shown.add(position)
            self._whole._enters_as_given = self._enters_as_given
            self._whole.arrive(message, count, position, joins, is_open)
        # A unit goes on only where its last message still is, and not where it was taken out.
        newest = self.window.newest
        joins = (
            joins
            and not self._by_message
            and newest is not None
            and newest.slots[-1].position == self._log.position
        )
        self._log.position = position
        self._open = is_open
        slot = Slot(message, count.tokens, position, "kept", float(position), count.kind)
        if not joins:
            self._applier.arrived_units += 1
        if message.role == "system" and not self._enters_as_given:
            self._enter_system(slot)
        else:
            self.window.append(slot, joins=joins)
        if self.rules.oversize == "evict" and not joins and not message.tool_calls:
            self._evict_oversize(slot)
        if self._batch is not None:
            return
        if self._trims_late and message.role == "user":
            self._is_untrimmed = True
        else:
            self._trim()

    def _trim(self) -> None:
        self._is_untrimmed = False
        if self._asks_append and (not self._open or self._asked_while_open):
            self._ask("append")
            # Where a stage waits for the request, the window is not yet what is sent.
            if not self._asks_request:
                self._mark()

    def _evict_oversize(self, slot: Slot) -> None:
        why = size_excess(Count(slot.tokens), self.window)
        unit = self.window.newest
        if why is not None and unit is not None and unit.slots[-1].position == slot.position:
            self._applier.evict([unit], why)

    @contextmanager
    def batch(self, *, as_given: bool = False) -> Iterator[None]:
        """Messages that arrive inside are one addition: the policy is asked once, at the end.

        Parameters
        ----------
        as_given : bool
            They enter as they stand: no rule about system messages applies.
        """
        if self._is_untrimmed:
            self._trim()
        texts = {unit.slots[0].message.text for unit in self.window.units if unit.role == "system"}
        self._batch = Batch(self._log.position, frozenset(texts))
        self._enters_as_given = as_given
        try:
            yield
        finally:
            self._batch = None
            self._enters_as_given = False
        self._trim()

    def before_request(self) -> None:
        """A request is about to be made: ask the policies that wait for it."""
        if self._batch is not None:
            return
        if (
            self._asks_request
            and self._asked_at != self._log.position
            and (not self._open or self._asked_while_open)
        ):
            self._ask("request")
            self._asked_at = self._log.position
        self._mark()

    def resume(self, line: Left, counts: Sequence[Count], slots: Iterable[Slot]) -> None:
        """Go on with a session that was left.

        Parameters
        ----------
        line : Left
            What it left.
        counts : sequence of Count
            Of each message of its history.
        slots : iterable of Slot
            Its window, in order.
        """
        messages = line.messages
        joined: set[int] = set()
        for position, message in enumerate(messages):
            joins, is_open = self._segment(message)
            if joins and not self._by_message:
                joined.add(position)
            if self._whole is not None:
                self._whole._enters_as_given = position < line.given
                self._whole.arrive(message, counts[position], position, joins, is_open)
        newest = len(messages) - 1
        self._open = self._segmenter.is_open
        self._log.position = newest
        self._log.request = sum(m.role == "assistant" and m.generated for m in messages)
        self._log.events.extend(line.events)
        starts = [position for position in range(len(messages)) if position not in joined]
        self.window.replace_all(with_joins(slots, joined))
        self.window.settle(newest, since=starts[-1] if starts else 0)
        self._shown = {slot.position for slot in self.window.slots if slot.position is not None}
        self._applier.resume(starts, self.events)
        self._is_untrimmed = self._trims_late and newest >= 0 and messages[-1].role == "user"
        self._is_over = line.is_over
        if line.was_asked:
            self._asked_at = newest

    # --- reading

    def shown(self) -> OwnedWindow:
        """What a read shows: the window, or what the policy would leave of it now."""
        if self.rules.read == "window" and not self._is_untrimmed:
            return self.window
        window = self.window
        for stage in self._stages:
            revision = stage.revise(window)
            if revision.evict:
                window = window.without(revision.evict)
        return window

    @property
    def was_asked(self) -> bool:
        """Whether the policies that wait for requests were asked about the window as it is."""
        return self._asked_at == self._log.position

    @property
    def is_over_budget(self) -> bool:
        """Whether the window was over the policy's limit when it was last looked at."""
        return self._is_over

    # --- system messages

    def _enter_system(self, slot: Slot) -> None:
        rule = self.rules.new_system
        replaced = replaced_by(slot.message, rule, self.window, self._batch)
        before = self.window.tokens
        self.window.remove(replaced, "system_replaced")
        if rule == "append_front" or (rule == "front" and replaced):
            self.window.put_in_front(slot, newest=True)
        else:
            self.window.append(slot)
        if replaced:
            self._log.record(
                "system_replaced",
                units=tuple(unit.positions for unit in replaced),
                messages=len(replaced),
                tokens_before=before,
                reason="a new system message took its place",
            )

    # --- asking

    def _ask(self, when: str) -> None:
        if self._is_asking:
            return
        self._is_asking = True
        try:
            self._ask_all(when)
        finally:
            self._is_asking = False

    def _ask_all(self, when: str) -> None:
        before = self.window.version
        for number, stage in enumerate(self._stages):
            # Behind a stage that has just changed a request, the others look at it again.
            asked_again = when == "request" and self.window.version != before
            if not (stage.asks == when or asked_again):
                continue
            if self._open and not stage.asked_while_open:
                continue
            if self._whole is not None and stage.sees == "history":
                self._shown = self._applier.recompute(
                    number, stage, self._whole.window, self._shown
                )
                continue
            version = self.window.version
            revision = stage.revise(self.window)
            if self.window.version != version:
                raise PolicyError(f"{stage!r} changed the window itself: it may only decide")
            if revision is not KEEP:
                self._applier.apply(number, stage, revision)

    def lose(self, folding: Folding) -> None:
        """A summary that came when the session had been read anew: it is charged, not used."""
        self._log.record(
            "summarize_failed",
            summarizer_input_tokens=folding.input_tokens,
            summarizer_output_tokens=folding.output_tokens,
            reason="the session was read anew while the summarizer worked",
        )

    def ask_again(self) -> None:
        """The policy or its limit has changed: ask it without a new message."""
        self._is_over, self._asked_at = False, -2
        self._trim()

    @property
    def is_untrimmed(self) -> bool:
        """Whether a user message stands in the window that the policy was not asked about."""
        return self._is_untrimmed

    def _mark(self) -> None:
        if not self._can_exceed or self._is_untrimmed:
            return
        why = self.policy.excess(self.window)
        if why is not None and not self._is_over:
            self._log.record("over_budget", messages=len(self.window), reason=why)
        self._is_over = why is not None
