"""`Applier`: checks what a policy decided, and applies it to the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from typing import Any

import msgspec

from chatmem_lab.errors import PolicyError
from chatmem_lab.keeper.checking import check_revision
from chatmem_lab.keeper.event import Event
from chatmem_lab.keeper.event_log import EventLog
from chatmem_lab.keeper.folding import Folding, Shortened, fold, shorten
from chatmem_lab.keeper.whole_history import slots_left, what_changed
from chatmem_lab.messages import Message
from chatmem_lab.policies import Policy
from chatmem_lab.tokens import TokenCounter
from chatmem_lab.window import OwnedWindow, Revision, Slot, Unit

__all__ = ["Applier"]


class Applier:
    """Applies revisions to one window, calls summarizers, records events.

    Attributes
    ----------
    arrived_units : int
        How many units have arrived so far.
    failed_at : list of int
        For each stage the number of units that had arrived when its summarizer last failed.
    """

    def __init__(
        self,
        window: OwnedWindow,
        log: EventLog,
        counter: TokenCounter,
        session_id: str,
        stages: Sequence[Policy],
        call: Callable[[Callable[[], Any]], Any] | None = None,
    ) -> None:
        self._window = window
        self._log = log
        self._counter = counter
        self._session_id = session_id
        self._call = _directly if call is None else call
        self._is_folding = False
        self.arrived_units = 0
        self.failed_at = [-1] * len(stages)

    def resume(self, starts: Sequence[int], events: Iterable[Event]) -> None:
        """Go on where a session was left: where its units start, and what happened in it."""
        self.arrived_units = len(starts)
        for event in events:
            if event.kind == "summarize_failed" and event.stage < len(self.failed_at):
                since = sum(start > event.position for start in starts)
                self.failed_at[event.stage] = len(starts) - since

    def apply(self, number: int, stage: Policy, revision: Revision) -> None:
        """Apply the decision of stage `number`, all of it or, where it is no legal one, nothing.

        Raises
        ------
        PolicyError
        """
        evict, fold_units, repaired = check_revision(stage, revision, self._window)
        if repaired:
            self._record_repair(number, repaired, revision.reason)
        self._record_own_calls(number, revision)
        if evict:
            self.evict(evict, revision.reason, number)
        if revision.replace:
            self._replace(number, stage, revision)
        if revision.shorten:
            self._shorten(number, revision)
        if fold_units:
            self._fold(number, stage, msgspec.structs.replace(revision, fold=fold_units))
        for insert in revision.insert:
            self._insert(number, insert.message, insert.before, revision.reason)

    def evict(self, units: Sequence[Unit], reason: str, number: int = 0) -> None:
        """`units` leave the window."""
        before = self._window.tokens
        self._window.remove(units, "evict")
        self._log.record(
            "evict",
            number,
            units=tuple(unit.positions for unit in units),
            messages=sum(map(len, units)),
            tokens_before=before,
            reason=reason,
        )

    def _record_repair(self, number: int, repaired: tuple[Unit, ...], reason: str) -> None:
        self._log.record(
            "repair",
            number,
            units=tuple(unit.positions for unit in repaired),
            messages=sum(map(len, repaired)),
            reason=f"{reason}: kept whole and in order",
        )

    def _record_own_calls(self, number: int, revision: Revision) -> None:
        """What another framework's policy did itself: its failure, its calls to a model."""
        if revision.failure:
            self._log.record("policy_failed", number, reason=revision.failure)
        if revision.summarizer_input_tokens or revision.summarizer_output_tokens:
            self._log.record(
                "summarize",
                number,
                summarizer_input_tokens=revision.summarizer_input_tokens,
                summarizer_output_tokens=revision.summarizer_output_tokens,
                reason=revision.reason,
            )

    def _replace(self, number: int, stage: Policy, revision: Revision) -> None:
        before = self._window.tokens
        replaced: list[tuple[int, ...]] = []
        state = "cleared" if revision.replaced_as == "clear" else "clamped"
        for slot, message in revision.replace.items():
            old = slot.message
            count = self._counter.count_message(message)
            is_alike = _outline(message) == _outline(old)
            if stage.contract == "strict" and (not is_alike or count.tokens >= slot.tokens):
                continue
            self._window.replace(slot, message, count.tokens, state)  # type: ignore[arg-type]
            replaced.append((slot.position,) if slot.position is not None else ())
        if replaced:
            self._log.record(
                revision.replaced_as,
                number,
                units=tuple(replaced),
                messages=len(replaced),
                tokens_before=before,
                reason=revision.reason,
            )

    def _insert(self, number: int, message: Message, before: Unit | None, reason: str) -> None:
        window = self._window
        tokens_before = window.tokens
        index = window.end_index() if before is None else window.index_of(before)
        window.insert(self._made(message), index)
        self._log.record(
            "insert",
            number,
            messages=1,
            tokens_before=tokens_before,
            made=message,
            reason=reason,
        )

    def _made(self, message: Message) -> Slot:
        count = self._counter.count_message(message)
        return Slot(message, count.tokens, None, "made", 0.0, count.kind)

    def _shorten(self, number: int, revision: Revision) -> None:
        if self.failed_at[number] == self.arrived_units or self._is_folding:
            return
        window = self._window
        slots = [slot for slot in revision.shorten if window.holds_slot(slot)]
        self._is_folding = True
        try:
            answers: list[Shortened] = self._call(
                lambda: [shorten(s, revision, self._counter, self._session_id) for s in slots]
            )
        finally:
            self._is_folding = False
        for answer in answers:
            slot, failure, before = answer.slot, answer.failure, window.tokens
            if not failure and not window.holds_slot(slot):
                failure = "the window changed while the summarizer worked"
            facts: dict[str, Any] = {
                "units": ((slot.position,),) if slot.position is not None else (),
                "messages": 1,
                "summarizer_input_tokens": answer.input_tokens,
                "summarizer_output_tokens": answer.output_tokens,
            }
            if failure or answer.message is None:
                self.failed_at[number] = self.arrived_units
                self._log.record("summarize_failed", number, reason=failure, **facts)
                continue
            tokens = self._counter.count_message(answer.message).tokens
            window.replace(slot, answer.message, tokens, "clamped")
            self._log.record(
                "clamp",
                number,
                tokens_before=before,
                source_tokens=slot.tokens,
                reason=revision.reason,
                **facts,
            )

    def _fold(self, number: int, stage: Policy, revision: Revision) -> None:
        if self.failed_at[number] == self.arrived_units or self._is_folding:
            return
        window = self._window
        summarize = partial(
            fold,
            revision,
            self._counter,
            self._session_id,
            is_strict=stage.contract == "strict",
        )
        lengths = [len(unit) for unit in revision.fold]
        self._is_folding = True
        try:
            folding: Folding | None = self._call(summarize)
        finally:
            self._is_folding = False
        if folding is None:
            return
        failure = folding.failure
        units = folding.units
        unchanged = lengths == [len(unit) for unit in revision.fold]
        if not failure and not (unchanged and all(map(window.holds, units))):
            failure = "the window changed while the summarizer worked"
        facts: dict[str, Any] = {
            "units": tuple(unit.positions for unit in units),
            "messages": sum(map(len, units)),
            "summarizer_input_tokens": folding.input_tokens,
            "summarizer_output_tokens": folding.output_tokens,
        }
        if failure or folding.made is None:
            self.failed_at[number] = self.arrived_units
            self._log.record("summarize_failed", number, reason=failure, **facts)
            return
        before = window.tokens
        made = self._made(folding.made)
        window.remove(units, "fold")
        if revision.form.place == "front":
            window.put_in_front(made, newest=False)
        else:
            place = units[-1] if revision.form.place == "last" else units[0]
            window.take_place(made, place.order)
        self._log.record(
            "fold",
            number,
            tokens_before=before,
            source_tokens=sum(unit.tokens for unit in units),
            made=made.message,
            reason=revision.reason,
            **facts,
        )

    def recompute(
        self, number: int, stage: Policy, history: OwnedWindow, shown: Set[int]
    ) -> set[int]:
        """The window becomes what `stage` leaves of the whole `history`.

        Parameters
        ----------
        shown : set of int
            The positions that were in the window or have arrived since.

        Returns
        -------
        set of int
            The positions that are in the window now.

        Raises
        ------
        PolicyError
        """
        revision = stage.revise(history)
        _, folded, repaired = check_revision(stage, revision, history)
        if folded:
            raise PolicyError(f"{stage!r} sees the whole history: it cannot fold")
        if repaired:
            self._record_repair(number, repaired, revision.reason)
        self._record_own_calls(number, revision)
        if revision.failure and not (revision.evict or revision.replace or revision.insert):
            return set(shown)
        before, old = self._window.tokens, self._window.slots
        target = slots_left(history, revision, old, self._counter, self._made)
        positions = {slot.position for slot, _ in target}
        self._window.replace_all(
            target,
            lambda slot: "evict" if slot.position not in positions else revision.replaced_as,
        )
        for kind, slots in what_changed(old, [slot for slot, _ in target], shown).items():
            self._log.record(
                kind,
                number,
                units=tuple((s.position,) for s in slots if s.position is not None),
                messages=len(slots),
                tokens_before=before,
                made=slots[0].message if kind == "insert" else None,
                reason=revision.reason,
            )
        return {position for position in positions if position is not None}


def _outline(message: Message) -> tuple[object, ...]:
    """What stays of a message whatever its content becomes."""
    calls = tuple((call.id, call.name) for call in message.tool_calls)
    return message.role, message.tool_call_id, calls


def _directly(work: Callable[[], Any]) -> Any:
    return work()
