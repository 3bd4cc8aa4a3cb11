"""`ClearToolResults`: old tool results become a stub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import msgspec

from chatmem_lab.messages import Message, ToolCall
from chatmem_lab.policies.amounts import Tokens
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.result_log import ResultLog, ToolResult
from chatmem_lab.window import KEEP, Revision, Slot, Window

__all__ = ["ClearToolResults"]


@dataclass(frozen=True, repr=False)
class ClearToolResults(Policy):
    """Keep the newest tool results whole; older ones keep their place and say `placeholder`.

    A result is cleared only where the placeholder is strictly smaller. Calls, ids and
    pairs stay, and so do arguments unless `clear_arguments` is set. This is Anthropic's
    ``clear_tool_uses_20250919`` and LangChain's ``ClearToolUsesEdit``, with their default of 3.

    Parameters
    ----------
    keep : int
        How many of the newest results stay whole.
    trigger : Tokens, optional
        Act only when the window holds more than this.
    at_least : Tokens, optional
        Act only when at least this much is gained: each clearing breaks the prefix.
    exclude : tuple of str
        Names of tools whose results are never cleared; they do not count as kept either.
    placeholder : str
        The stub.
    clear_arguments : bool
        The call whose result is cleared loses its arguments too: they become ``{}``.

    Examples
    --------
    >>> ClearToolResults(keep=3, exclude=("think",))
    ClearToolResults(3, exclude=('think',))
    """

    keep: Annotated[int, Bounds(0)] = 3
    _: KW_ONLY
    trigger: Tokens | None = None
    at_least: Tokens | None = None
    exclude: tuple[str, ...] = ()
    placeholder: str = "[cleared]"
    clear_arguments: bool = False

    def revise(self, window: Window) -> Revision:
        if self.trigger is not None and window.tokens <= self.trigger.n:
            return KEEP
        seen = window.scratch.setdefault(self, _Seen())
        self._look_at_new(window, seen)
        if not seen.waiting or (self.at_least is not None and seen.gain < self.at_least.n):
            return KEEP
        replace = self._stubs(window, seen.waiting)
        seen.gain = sum(slot.tokens - window.count(stub) for slot, stub in replace.items())
        if not replace or (self.at_least is not None and seen.gain < self.at_least.n):
            return KEEP
        seen.waiting, seen.gain = [], 0
        return Revision(
            replace=replace,
            replaced_as="clear",
            reason=f"older than the newest {self.keep:,} tool results",
        )

    def _look_at_new(self, window: Window, seen: _Seen) -> None:
        """Results that have come since; those beyond the newest `keep` wait to be cleared.

        Results of the newest unit stay: the model has not seen them yet. Each result is
        weighed once, so that a window full of what cannot be cleared costs nothing.
        """
        if window.departures != seen.departures:
            seen.departures = window.departures
            seen.recent = [r for r in seen.recent if window.slot_at(r.slot.order) is not None]
        seen.recent += [
            result
            for result in seen.log.new(window)
            if result.slot.state != "cleared" and not self._is_excluded(result)
        ]
        newest, unseen = window.newest, float("inf")
        if newest is not None and not newest.is_instruction:
            unseen = newest.order
        while len(seen.recent) > self.keep and seen.recent[0].slot.order < unseen:
            result = seen.recent.pop(0)
            stubs = self._stubs(window, [result])
            if stubs:
                seen.waiting.append(result)
                seen.gain += sum(slot.tokens - window.count(m) for slot, m in stubs.items())

    def _stubs(self, window: Window, results: Sequence[ToolResult]) -> dict[Slot, Message]:
        """What becomes of the results, and of their calls, where that is smaller."""
        stubs: dict[Slot, Message] = {}
        for result in results:
            slot = window.slot_at(result.slot.order)
            if slot is None:
                continue
            stub = slot.message.with_text(self.placeholder)
            if window.count(stub) >= slot.tokens:
                continue
            stubs[slot] = stub
            caller = None if result.caller is None else window.slot_at(result.caller.order)
            if self.clear_arguments and caller is not None:
                bare = _without_arguments(
                    stubs.get(caller, caller.message), slot.message.tool_call_id
                )
                if window.count(bare) < caller.tokens:
                    stubs[caller] = bare
        return stubs

    def _is_excluded(self, result: ToolResult) -> bool:
        called = None if result.call is None else result.call.name
        return result.slot.message.name in self.exclude or called in self.exclude


def _without_arguments(message: Message, call_id: str | None) -> Message:
    calls = tuple(
        ToolCall(call.id, call.name, "{}") if call.id == call_id else call
        for call in message.tool_calls
    )
    return msgspec.structs.replace(message, tool_calls=calls)


class _Seen:
    """What was decided about a window before: only a shortcut, the answer is the same without.

    `recent` are the newest results, `waiting` those that may be cleared and `gain` what that
    would free.
    """

    def __init__(self) -> None:
        self.log = ResultLog()
        self.departures = 0
        self.recent: list[ToolResult] = []
        self.waiting: list[ToolResult] = []
        self.gain = 0
