"""`LoadReport`: what was read, skipped and repaired, file by file. `Conversations`: with one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chatmem_lab.messages import Conversation

__all__ = ["Conversations", "LoadReport", "Problem"]


class Problem(NamedTuple):
    """Something that was not read as it stands."""

    kind: str
    source: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{self.kind}: {place}: {self.reason}"


class LoadReport:
    """What became of the transcripts.

    Attributes
    ----------
    read : dict of str to int
        Conversations by transcript.
    formats : dict of str to str
        The format of each transcript.
    problems : list of Problem
        With kind "skipped" or "repaired".
    """

    def __init__(self) -> None:
        self.read: dict[str, int] = {}
        self.formats: dict[str, str] = {}
        self.problems: list[Problem] = []

    def skipped(self, source: str, line: int | None, reason: str) -> None:
        """Note what was left out."""
        self.problems.append(Problem("skipped", source, line, reason))

    def repaired(self, source: str, line: int | None, reason: str) -> None:
        """Note what was changed so that it could be read."""
        self.problems.append(Problem("repaired", source, line, reason))

    def counted(self, source: str, format: str) -> None:
        """Note one more conversation of a transcript."""
        self.read[source] = self.read.get(source, 0) + 1
        self.formats[source] = format

    def __repr__(self) -> str:
        conversations = sum(self.read.values())
        kinds = [problem.kind for problem in self.problems]
        lines = [
            f"read {conversations:,} conversations from {len(self.read):,} transcripts"
            + "".join(
                f", {kinds.count(kind):,} {kind}"
                for kind in ("skipped", "repaired")
                if kind in kinds
            )
        ]
        by_format: dict[str, int] = {}
        for source, format in self.formats.items():
            by_format[format] = by_format.get(format, 0) + self.read[source]
        lines += [f"  {name}: {n:,}" for name, n in sorted(by_format.items())]
        lines += [f"  {problem}" for problem in self.problems[:20]]
        if len(self.problems) > 20:
            lines.append(f"  … and {len(self.problems) - 20:,} more in .problems")
        return "\n".join(lines)


class Conversations(list[Conversation]):
    """Conversations as a list, with the `report` of how they were read."""

    def __init__(
        self, conversations: Iterable[Conversation] = (), report: LoadReport | None = None
    ) -> None:
        super().__init__(conversations)
        self.report = report if report is not None else LoadReport()

    def __repr__(self) -> str:
        messages = sum(map(len, self))
        return f"<{len(self):,} conversations, {messages:,} messages>"
