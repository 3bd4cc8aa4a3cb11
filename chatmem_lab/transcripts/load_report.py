"""`LoadReport`: what was read, what was skipped, what was repaired; `Conversations` with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from chatmem_lab.messages import Conversation

__all__ = ["Conversations", "LoadReport", "Note", "Reading"]

#: How many notes of a kind a report shows.
SHOWN = 5


@dataclass(frozen=True)
class Note:
    """Something that was skipped or repaired: where, and why.

    Examples
    --------
    >>> print(Note("run.jsonl", 14, "a torn last line"))
    run.jsonl, line 14: a torn last line
    """

    source: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{place}: {self.reason}"


@dataclass(frozen=True)
class Reading:
    """What one transcript gave."""

    source: str
    format: str
    conversations: int
    messages: int


@dataclass
class LoadReport:
    """What loading did: nothing is left out or changed without a note.

    Parameters
    ----------
    read : list of Reading
        One per transcript: source, format, conversations, messages.
    skipped : list of Note
        Files, lines and records that were left out.
    repaired : list of Note
        What was read although the file had it another way.
    """

    read: list[Reading] = field(default_factory=list)
    skipped: list[Note] = field(default_factory=list)
    repaired: list[Note] = field(default_factory=list)

    def rows(self) -> list[dict[str, str | int | None]]:
        """A row per transcript read and per note, ready for ``pandas.DataFrame``.

        >>> LoadReport([Reading("a.json", "own", 2, 40)], [Note("b.txt", 3, "is torn")]).rows()[1]
        {'what': 'skipped', 'source': 'b.txt', 'line': 3, 'reason': 'is torn',
         'format': None, 'conversations': None, 'messages': None}
        """
        rows: list[dict[str, str | int | None]] = [
            {"what": "read", "source": reading.source, "line": None, "reason": None,
             "format": reading.format, "conversations": reading.conversations,
             "messages": reading.messages}
            for reading in self.read
        ]  # fmt: skip
        for what, notes in (("skipped", self.skipped), ("repaired", self.repaired)):
            rows += [
                {"what": what, "source": note.source, "line": note.line, "reason": note.reason,
                 "format": None, "conversations": None, "messages": None}
                for note in notes
            ]  # fmt: skip
        return rows

    def to_dict(self) -> dict[str, list[dict[str, str | int | None]]]:
        """The same as plain values, for JSON.

        >>> LoadReport([Reading("a.json", "own", 2, 40)]).to_dict()["read"]
        [{'source': 'a.json', 'format': 'own', 'conversations': 2, 'messages': 40}]
        """
        return asdict(self)

    def __repr__(self) -> str:
        files = Counter(reading.format for reading in self.read)
        conversations = sum(reading.conversations for reading in self.read)
        messages = sum(reading.messages for reading in self.read)
        formats = ", ".join(f"{name} {n:,}" for name, n in sorted(files.items()))
        lines = [
            f"read      {_many(conversations, 'conversation')}, {_many(messages, 'message')} "
            f"from {_many(len(self.read), 'file')}" + (f" ({formats})" if formats else "")
        ]
        for name, notes in (("skipped", self.skipped), ("repaired", self.repaired)):
            lines.append(f"{name:<9} {len(notes):,}" if notes else f"{name:<9} nothing")
            lines += [f"    {note}" for note in notes[:SHOWN]]
            if len(notes) > SHOWN:
                lines.append(f"    … and {len(notes) - SHOWN:,} more")
        return "\n".join(lines)


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


class Conversations(list[Conversation]):
    """A list of conversations, with the report of how they were loaded.

    Examples
    --------
    >>> conversations = Conversations([Conversation("empty")])
    >>> len(conversations), conversations.report.skipped
    (1, [])
    """

    report: LoadReport

    def __init__(
        self, conversations: Iterable[Conversation] = (), report: LoadReport | None = None
    ) -> None:
        super().__init__(conversations)
        self.report = report if report is not None else LoadReport()

    def __repr__(self) -> str:
        if not self:
            return "Conversations: none"
        messages = sum(len(conversation) for conversation in self)
        ids = ", ".join(repr(conversation.id) for conversation in self[:3])
        more = ", …" if len(self) > 3 else ""
        head = f"{_many(len(self), 'conversation')}, {_many(messages, 'message')}"
        return f"Conversations: {head}: {ids}{more}"
