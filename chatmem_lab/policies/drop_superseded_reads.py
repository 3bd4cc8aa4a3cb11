"""`DropSupersededReads`: of several reads of a file only the newest keeps its content."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

from chatmem_lab.messages import Message, ToolCall
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.result_log import ResultLog, ToolResult, canonical_arguments
from chatmem_lab.window import KEEP, Revision, Slot, Window

__all__ = ["DropSupersededReads"]


@dataclass(frozen=True, repr=False)
class DropSupersededReads(Policy):
    """A file's content leaves where the file was read again, or written, later.

    Pydantic AI harness's ``DeduplicateFileReads``, with its placeholder; that one asks for a
    function where this one takes names. A later read supersedes an earlier one if it asks for
    the same, or for the whole file: with the path as its only argument. The earlier result
    keeps its place and says `placeholder`, where that is smaller.

    Parameters
    ----------
    tools : tuple of str
        Tools that read a file.
    writers : tuple of str
        Tools after which what was read of the file is out of date.
    path_arguments : tuple of str
        The argument that holds the path: the first of these that a call has.
    placeholder : str

    Examples
    --------
    >>> DropSupersededReads(("open",), writers=("save",), path_arguments=("name",))
    DropSupersededReads(('open',), writers=('save',), path_arguments=('name',))
    """

    tools: tuple[str, ...] = ("read_file", "read", "view_file", "view", "open_file", "cat")
    _: KW_ONLY
    writers: tuple[str, ...] = ()
    path_arguments: tuple[str, ...] = ("path", "file_path", "filename", "file", "target_file")
    placeholder: str = "[superseded file read]"

    def revise(self, window: Window) -> Revision:
        seen = window.scratch.setdefault(self, _Seen())
        stale: list[float] = []
        for result in seen.log.new(window):
            stale += self._superseded_by(result, seen.reads)
        replace: dict[Slot, Message] = {}
        for slot in filter(None, map(window.slot_at, stale)):
            stub = slot.message.with_text(self.placeholder)
            if slot.state != "cleared" and window.count(stub) < slot.tokens:
                replace[slot] = stub
        if not replace:
            return KEEP
        return Revision(
            replace=replace, replaced_as="clear", reason="the file was read or written again"
        )

    def _superseded_by(self, result: ToolResult, reads: dict[str, list[_Read]]) -> list[float]:
        """The places of the reads that `result` makes stale; it becomes the newest read."""
        call = result.call
        if call is None or call.name not in (*self.tools, *self.writers):
            return []
        path, is_whole = self._path(call)
        if path is None or result.slot.message.is_error:
            return []
        before = reads.setdefault(path, [])
        wanted = canonical_arguments(call.arguments)
        is_write = call.name in self.writers
        stale = [read for read in before if is_write or is_whole or read.wanted == wanted]
        reads[path] = [read for read in before if read not in stale]
        if not is_write:
            reads[path].append(_Read(result.slot.order, wanted))
        return [read.order for read in stale]

    def _path(self, call: ToolCall) -> tuple[str | None, bool]:
        """The path of a call, and whether it asks for nothing else; broken JSON has none."""
        try:
            arguments = json.loads(call.arguments)
        except (ValueError, RecursionError):
            return None, False
        if not isinstance(arguments, dict):
            return None, False
        for name in self.path_arguments:
            if isinstance(arguments.get(name), str):
                return arguments[name], len(arguments) == 1
        return None, False


class _Read(NamedTuple):
    order: float
    wanted: str


class _Seen:
    """Of each path the reads that nothing has superseded yet."""

    def __init__(self) -> None:
        self.log = ResultLog()
        self.reads: dict[str, list[_Read]] = {}
