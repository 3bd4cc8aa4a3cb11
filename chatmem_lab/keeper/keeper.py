"""`Keeper`: the one owner of a session's window.

It asks the policy, checks the answer, calls summarizers, applies what was decided and
records what happened. A live memory and a replay use the same keeper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from chatmem_lab.errors import PolicyError
from chatmem_lab.keeper.admission import check_admission
from chatmem_lab.keeper.checking import check_revision
from chatmem_lab.keeper.event import Event
from chatmem_lab.keeper.folding import fold
from chatmem_lab.keeper.whole_history import slots_left, what_changed
from chatmem_lab.messages import Conversation, Message, Segmenter
from chatmem_lab.policies import Policy, Preset, split_preset
from chatmem_lab.tokens import Count, TokenCounter
from chatmem_lab.window import KEEP, Journal, OwnedWindow, Revision, Slot, Unit

__all__ = ["Keeper"]


class Keeper:
    """Owns the window of one session under one policy.

    Parameters
    ----------
    policy : Policy or Preset
    counter : TokenCounter
    session_id : str
        Handed to summarizers.
    tools : sequence of dict
        Tool schemas, sent with every request.
    conversation : Conversation, optional
        What is replayed; None for a live session.
    journal : Journal, optional
        Told of every slot that enters or leaves.

    Attributes
    ----------
    window : OwnedWindow
    events : list of Event
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
    ) -> None:
        chosen, self.rules = split_preset(policy)
        self.policy = chosen.begin(conversation)
        self.counter = counter
        self.session_id = session_id
        self.request = 0
        self.events: list[Event] = []
        self._stages = self.policy.stages
        self._by_message = self.policy.segments == "messages"
        self._asks_append = any(stage.asks == "append" for stage in self._stages)
        self._asks_request = any(stage.asks == "request" for stage in self._stages)
        self._asked_while_open = any(stage.asked_while_open for stage in self._stages)
        self._can_exceed = any(type(s).excess is not Policy.excess for s in self._stages)
        self._ignores_blank = self.rules.blank == "ignore"
        self._segmenter = Segmenter()
        self._history_segmenter = Segmenter()
        self._open = False
        self._asked_at = -2
        self._position = -1
        self._arrived_units = 0
        self._failed_at = [-1] * len(self._stages)
        self._is_over = False
        self._is_folding = False
        self._shown: set[int] = set()
        if tool_schemas is None:
            tool_schemas = counter.count_tools(tools) if tools else Count(0)
        options: dict[str, Any] = {
            "overhead_tokens": counter.request_tokens,
            "tool_schema_tokens": tool_schemas.tokens,
            "tool_schema_kind": tool_schemas.kind,
            "pin_user": self.policy.pins_user,
            "budget": self.policy.budget,
            "policy": policy,
        }
        self.window = OwnedWindow(counter.count_message, journal=journal, **options)
        self._history: OwnedWindow | None = None
        if self._stages[0].sees == "history":
            self._history = OwnedWindow(counter.count_message, **options)

    # --- a message arrives

    def check(self, message: Message) -> None:
        """Refuse what the rules call an error; only a live session asks this.

        Raises
        ------
        MessageError
        """
        check_admission(message, self.rules, self._segmenter)

    def is_ignored(self, message: Message) -> bool:
        """Whether the rules let `message` leave no trace."""
        if self.rules.blank == "ignore" and message.is_blank:
            return True
        if message.role != "system" or self.rules.equal_system != "ignore":
            return False
        current = self._first_system()
        return current is not None and current.slots[0].message.text == message.text

    def add(self, message: Message, count: Count, position: int) -> None:
        """`message`, at `position` of the history, arrives; the policy is asked."""
        if self._leaves_no_trace(message):
            return
        self.arrive(message, count, position, *self._segment(message))

    def _leaves_no_trace(self, message: Message) -> bool:
        return (message.role == "system" or self._ignores_blank) and self.is_ignored(message)

    def _segment(self, message: Message) -> tuple[bool, bool]:
        joins = self._segmenter.joins(message)
        return joins, self._segmenter.is_open

    def arrive(
        self, message: Message, count: Count, position: int, joins: bool, is_open: bool
    ) -> None:
        """The same with the segmentation known: `joins` the newest unit, leaves it open."""
        if self._leaves_no_trace(message):
            return
        # A unit goes on only where its last message still is, and not where it was taken out.
        newest = self.window.newest
        joins = (
            joins
            and not self._by_message
            and newest is not None
            and newest.slots[-1].position == self._position
        )
        self._position = position
        self._open = is_open
        slot = Slot(message, count.tokens, position, "kept", float(position), count.kind)
        if not joins:
            self._arrived_units += 1
        if message.role == "system":
            self._enter_system(slot)
        else:
            self.window.append(slot, joins=joins)
        if self._history is not None:
            self._enter_history(slot)
        if self._asks_append and (not is_open or self._asked_while_open):
            self._ask("append")
            self._mark()

    def _enter_history(self, slot: Slot) -> None:
        history = self._history
        assert history is not None
        assert slot.position is not None
        self._shown.add(slot.position)
        if slot.message.role == "system" and self.window.newest is not None:
            placed = self.window.newest.slots[0]
            if placed.order < slot.order:
                history.put_in_front(placed, newest=True)
                return
        joined = history.newest
        joins = (
            not self._by_message
            and joined is not None
            and self._history_segmenter.joins(slot.message)
        )
        history.append(slot, joins=joins)

    def before_request(self) -> None:
        """A request is about to be made: ask the policies that wait for it."""
        if (
            self._asks_request
            and self._asked_at != self._position
            and (not self._open or self._asked_while_open)
        ):
            self._asked_at = self._position
            self._ask("request")
        self._mark()

    # --- system messages

    def _first_system(self) -> Unit | None:
        if not self.window.instruction_messages:
            return None
        return next(
            (u for u in self.window.units if u.role == "system" and u.is_instruction), None
        )

    def _enter_system(self, slot: Slot) -> None:
        rule = self.rules.new_system
        current = self._first_system() if rule != "keep" else None
        before = self.window.tokens
        if current is not None:
            self.window.remove([current], "system_replaced")
            if self._history is not None:
                gone = current.slots[0].position
                self._history.remove(
                    [u for u in self._history.units if u.slots[0].position == gone],
                    "system_replaced",
                )
        if rule == "append_front" or (rule == "front" and current is not None):
            self.window.put_in_front(slot, newest=True)
        else:
            self.window.append(slot)
        if current is not None:
            self._record(
                "system_replaced",
                units=(current.positions,),
                messages=1,
                tokens_before=before,
                reason="a new system message took its place",
            )

    # --- asking and applying

    def _ask(self, when: str) -> None:
        for number, stage in enumerate(self._stages):
            if stage.asks != when or (self._open and not stage.asked_while_open):
                continue
            if stage.sees == "history":
                self._recompute(number, stage)
                continue
            version = self.window.version
            revision = stage.revise(self.window)
            if self.window.version != version:
                raise PolicyError(f"{stage!r} changed the window itself: it may only decide")
            if revision is not KEEP:
                self._apply(number, stage, revision)

    def _apply(self, number: int, stage: Policy, revision: Revision) -> None:
        evict, fold_units, repaired = check_revision(stage, revision, self.window)
        if repaired:
            self._record_repair(number, repaired, revision.reason)
        if evict:
            before = self.window.tokens
            self.window.remove(evict, "evict")
            self._record(
                "evict",
                number,
                units=tuple(unit.positions for unit in evict),
                messages=sum(map(len, evict)),
                tokens_before=before,
                reason=revision.reason,
            )
        if revision.replace:
            self._replace(number, stage, revision)
        if fold_units:
            self._fold(number, msgspec.structs.replace(revision, fold=fold_units))
        for insert in revision.insert:
            self._insert(number, insert.message, insert.before, revision.reason)

    def _record_repair(self, number: int, repaired: tuple[Unit, ...], reason: str) -> None:
        self._record(
            "repair",
            number,
            units=tuple(unit.positions for unit in repaired),
            messages=sum(map(len, repaired)),
            reason=f"{reason}: kept whole and in order",
        )

    def _replace(self, number: int, stage: Policy, revision: Revision) -> None:
        before = self.window.tokens
        replaced: list[tuple[int, ...]] = []
        state = "cleared" if revision.replaced_as == "clear" else "clamped"
        for slot, message in revision.replace.items():
            old = slot.message
            count = self.counter.count_message(message)
            is_alike = (message.role, message.tool_call_id, message.tool_calls) == (
                old.role,
                old.tool_call_id,
                old.tool_calls,
            )
            if stage.contract == "strict" and (not is_alike or count.tokens >= slot.tokens):
                continue
            self.window.replace(slot, message, count.tokens, state)  # type: ignore[arg-type]
            replaced.append((slot.position,) if slot.position is not None else ())
        if replaced:
            self._record(
                revision.replaced_as,
                number,
                units=tuple(replaced),
                messages=len(replaced),
                tokens_before=before,
                reason=revision.reason,
            )

    def _insert(self, number: int, message: Message, before: Unit | None, reason: str) -> None:
        tokens_before = self.window.tokens
        index = self.window.end_index() if before is None else self.window.index_of(before)
        self.window.insert(self._made(message), index)
        self._record(
            "insert",
            number,
            messages=1,
            tokens_before=tokens_before,
            made=message,
            reason=reason,
        )

    def _made(self, message: Message) -> Slot:
        count = self.counter.count_message(message)
        return Slot(message, count.tokens, None, "made", 0.0, count.kind)

    # --- summaries

    def _fold(self, number: int, revision: Revision) -> None:
        if self._failed_at[number] == self._arrived_units or self._is_folding:
            return
        version = self.window.version
        self._is_folding = True
        try:
            folding = fold(revision, self.counter, self.session_id)
        finally:
            self._is_folding = False
        if folding is None:
            return
        failure = folding.failure
        if not failure and self.window.version != version:
            failure = "the window changed while the summarizer worked"
        units = folding.units
        facts: dict[str, Any] = {
            "units": tuple(unit.positions for unit in units),
            "messages": sum(map(len, units)),
            "summarizer_input_tokens": folding.input_tokens,
            "summarizer_output_tokens": folding.output_tokens,
        }
        if failure or folding.made is None:
            self._failed_at[number] = self._arrived_units
            self._record("summarize_failed", number, reason=failure, **facts)
            return
        before = self.window.tokens
        made = self._made(folding.made)
        self.window.remove(units, "fold")
        if revision.form.place == "front":
            self.window.put_in_front(made, newest=False)
        else:
            self.window.take_place(made, units[0].order)
        self._record(
            "fold",
            number,
            tokens_before=before,
            source_tokens=sum(unit.tokens for unit in units),
            made=made.message,
            reason=revision.reason,
            **facts,
        )

    # --- policies that see the whole history

    def _recompute(self, number: int, stage: Policy) -> None:
        history = self._history
        assert history is not None
        revision = stage.revise(history)
        _, folded, repaired = check_revision(stage, revision, history)
        if folded:
            raise PolicyError(f"{stage!r} sees the whole history: it cannot fold")
        if repaired:
            self._record_repair(number, repaired, revision.reason)
        before, old = self.window.tokens, self.window.slots
        target = slots_left(history, revision, old, self.counter, self._made)
        positions = {slot.position for slot, _ in target}
        self.window.replace_all(
            target, lambda slot: "evict" if slot.position not in positions else "clamp"
        )
        shown, self._shown = self._shown, {p for p in positions if p is not None}
        for kind, slots in what_changed(old, [slot for slot, _ in target], shown).items():
            self._record(
                kind,
                number,
                units=tuple((s.position,) for s in slots if s.position is not None),
                messages=len(slots),
                tokens_before=before,
                made=slots[0].message if kind == "insert" else None,
                reason=revision.reason,
            )

    # --- marks and records

    def _mark(self) -> None:
        if not self._can_exceed:
            return
        why = self.policy.excess(self.window)
        if why is not None and not self._is_over:
            self._record("over_budget", messages=len(self.window), reason=why)
        self._is_over = why is not None

    @property
    def is_over_budget(self) -> bool:
        """Whether the window was over the policy's limit when it was last looked at."""
        return self._is_over

    def _record(
        self,
        kind: str,
        stage: int = 0,
        *,
        tokens_before: int | None = None,
        **facts: Any,
    ) -> None:
        after = self.window.tokens
        self.events.append(
            Event(
                kind=kind,
                position=self._position,
                request=self.request,
                stage=stage,
                tokens_before=after if tokens_before is None else tokens_before,
                tokens_after=after,
                **facts,
            )
        )
