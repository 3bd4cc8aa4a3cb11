"""`DropRepeatedCalls`: of identical calls only the newest keeps its result."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from chatmem_lab.messages import Message
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.result_log import ResultLog, canonical_arguments
from chatmem_lab.window import KEEP, Revision, Slot, Window

__all__ = ["DropRepeatedCalls"]


@dataclass(frozen=True, repr=False)
class DropRepeatedCalls(Policy):
    """A result leaves where the same tool was called again later with the same arguments.

    The same whatever the order of the arguments' fields. The earlier result keeps its place
    and says `placeholder`, where that is smaller; Cline does so with files that are read
    again.

    Parameters
    ----------
    exclude : tuple of str
        Tools whose results are never dropped: those whose answer differs each time.
    placeholder : str

    Examples
    --------
    >>> DropRepeatedCalls(exclude=("now",))
    DropRepeatedCalls(('now',))
    """

    exclude: tuple[str, ...] = ()
    _: KW_ONLY
    placeholder: str = "[the same call was made again later]"

    def revise(self, window: Window) -> Revision:
        seen = window.scratch.setdefault(self, _Seen())
        stale: list[float] = []
        for slot, call, _ in seen.log.new(window):
            if call is None or call.name in self.exclude:
                continue
            key = call.name, canonical_arguments(call.arguments)
            if key in seen.newest:
                stale.append(seen.newest[key])
            seen.newest[key] = slot.order
        replace: dict[Slot, Message] = {}
        for slot in filter(None, map(window.slot_at, stale)):
            stub = slot.message.with_text(self.placeholder)
            if slot.state != "cleared" and window.count(stub) < slot.tokens:
                replace[slot] = stub
        if not replace:
            return KEEP
        return Revision(
            replace=replace, replaced_as="clear", reason="the same call was made again"
        )


class _Seen:
    """Of each call the place of its newest result."""

    def __init__(self) -> None:
        self.log = ResultLog()
        self.newest: dict[tuple[str, str], float] = {}
