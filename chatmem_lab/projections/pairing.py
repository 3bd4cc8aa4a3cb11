"""Calls and their results as every API wants them: each call answered, each result called for.

Pairs are found by open call inside one call group, as units are, never by id alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from chatmem_lab.messages import Message, Segmenter, Text, ToolCall
from chatmem_lab.projections.arguments import arguments_object
from chatmem_lab.projections.repair import Repairs, quoted
from chatmem_lab.projections.source import Given

__all__ = ["INTERRUPTED", "CallIds", "Placed", "paired"]

#: What the made result of an unanswered call says.
INTERRUPTED = "(interrupted: no result was recorded)"


class Placed(NamedTuple):
    """A message, and its position in the list that was given."""

    position: int
    message: Message


class CallIds:
    """The ids that calls are sent under: as recorded, unless the API would refuse them.

    Parameters
    ----------
    repairs : Repairs
    spell : callable, optional
        An id in the characters that the API takes.
    once : bool
        Whether an id stands for one call in the whole request, not only in its message.
        Ids are but labels: a later one is renamed, which is no repair.

    Examples
    --------
    >>> ids = CallIds(Repairs("", False), once=True)
    >>> ids.for_calls(0, [ToolCall("c1", "f")]), ids.for_calls(2, [ToolCall("c1", "f")])
    (['c1'], ['c1_2'])
    """

    def __init__(
        self, repairs: Repairs, *, spell: Callable[[str], str] | None = None, once: bool = False
    ) -> None:
        self._repairs = repairs
        self._spell = spell
        self._once = once
        self._uses: dict[str, int] = {}

    def for_calls(self, index: int, calls: Iterable[ToolCall]) -> list[str]:
        """The ids of the calls that message `index` makes."""
        if not self._once:
            self._uses = {}
        recorded: set[str] = set()
        sent: list[str] = []
        for number, call in enumerate(calls):
            id = call.id
            if not id.strip():
                wrong = f"makes a call of {quoted(call.name)} without an id"
                self._repairs.needed("missing_call_id", index, wrong)
                id = f"call_{index}_{number}"
            elif id in recorded:
                wrong = f"makes two calls {quoted(id)}"
                self._repairs.needed("repeated_call_id", index, wrong, id)
            recorded.add(id)
            sent.append(self._free(self._spelt(index, id)))
        return sent

    def _spelt(self, index: int, id: str) -> str:
        if self._spell is None or (spelt := self._spell(id)) == id:
            return id
        wrong = f"makes call {quoted(id)}, whose id may hold only letters, digits, _ and -"
        self._repairs.needed("bad_call_id", index, wrong, id)
        return spelt

    def _free(self, id: str) -> str:
        candidate = id
        while candidate in self._uses:
            self._uses[id] += 1
            candidate = f"{id}_{self._uses[id]}"
        self._uses[candidate] = 1
        return candidate


def paired(given: Given, repairs: Repairs, ids: CallIds) -> list[Placed]:
    """The messages, every call with one result directly after it and no result without a call.

    One message alone is not asked for its neighbours.

    Examples
    --------
    >>> from chatmem_lab.messages import assistant, tool_output
    >>> repairs = Repairs("", True)
    >>> asked = assistant(tool_calls=[ToolCall("A", "read"), ToolCall("B", "read")])
    >>> given = Given([asked, tool_output("A", "1")], alone=False)
    >>> placed = paired(given, repairs, CallIds(repairs))
    >>> [(index, message.tool_call_id) for index, message in placed]
    [(0, None), (1, 'A'), (0, 'B')]
    """
    if given.alone:
        return [Placed(0, given.messages[0])]
    pairing = _Pairing(repairs, ids)
    for index, message in enumerate(given.messages):
        pairing.take(index, message)
    pairing.close_group()
    return pairing.placed


class _Pairing:
    def __init__(self, repairs: Repairs, ids: CallIds) -> None:
        self.placed: list[Placed] = []
        self._repairs = repairs
        self._ids = ids
        self._segmenter = Segmenter()
        self._start = 0
        self._open: dict[str, deque[str]] = {}

    def take(self, index: int, message: Message) -> None:
        if message.role != "tool":
            self.close_group()
            self._open_group(index, message)
        elif self._segmenter.answers(message):
            self._answer(index, message)
        else:
            id = message.tool_call_id
            wrong = "is a result without a call id, and no call is open there"
            if id:
                wrong = f"is a result for call {quoted(id)}, which is not open there"
            self._repairs.needed("orphan_result", index, wrong, id)
        self._segmenter.joins(message)

    def _open_group(self, index: int, message: Message) -> None:
        if message.tool_calls:
            sent = self._ids.for_calls(index, message.tool_calls)
            for call, id in zip(message.tool_calls, sent):
                self._open.setdefault(call.id, deque()).append(id)
            calls = tuple(_renamed(call, id) for call, id in zip(message.tool_calls, sent))
            message = replace(message, tool_calls=calls)
            self._start = len(self.placed)
        self.placed.append(Placed(index, message))

    def _answer(self, index: int, message: Message) -> None:
        id = self._open[message.tool_call_id or self._segmenter.open_calls[0]].popleft()
        if not message.tool_call_id:
            wrong = f"is a result without a call id while call {quoted(id)} is open"
            self._repairs.needed("missing_call_id", index, wrong, id)
        self.placed.append(Placed(index, replace(message, tool_call_id=id)))

    def close_group(self) -> None:
        """What is still open gets a made result, after the results that are there."""
        unanswered = [(call_id, id) for call_id, ids in self._open.items() for id in ids]
        self._open = {}
        if not unanswered:
            return
        index, message = self.placed[self._start]
        call_ids = [call_id or id for call_id, id in unanswered]
        for named in [[id] for id in call_ids] if self._repairs.allowed else [call_ids]:
            wrong = f"makes call {', '.join(map(quoted, named))}, and no result follows"
            self._repairs.needed("unanswered_call", index, wrong, named[0])
        sent = {id for _, id in unanswered}
        calls_made = tuple(
            self._whole(index, call) if call.id in sent else call for call in message.tool_calls
        )
        self.placed[self._start] = Placed(index, replace(message, tool_calls=calls_made))
        self.placed += [
            Placed(index, Message("tool", (Text(INTERRUPTED),), tool_call_id=id, is_error=True))
            for _, id in unanswered
        ]

    def _whole(self, index: int, call: ToolCall) -> ToolCall:
        """A call that was cut off in the middle of its arguments was never made with them."""
        if arguments_object(call.arguments) is not None:
            return call
        wrong = f"breaks off in the arguments of call {quoted(call.id)}"
        self._repairs.needed("bad_arguments", index, wrong, call.id)
        return replace(call, arguments="{}")


def _renamed(call: ToolCall, id: str) -> ToolCall:
    return call if call.id == id else replace(call, id=id)
