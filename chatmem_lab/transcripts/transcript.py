"""`Transcript`: one file as its format's reader sees it: bytes, JSON values, and a report."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple

from chatmem_lab.errors import TranscriptError
from chatmem_lab.transcripts.json_text import (
    BrokenJson,
    decode,
    mend_surrogates,
    split_values,
)
from chatmem_lab.transcripts.load_report import LoadReport, Note
from chatmem_lab.transcripts.yaml_text import decode_yaml, looks_like_yaml

__all__ = ["Line", "Transcript", "Unrecognised"]

#: Longest mark first: the one of UTF-32 begins with the one of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Unrecognised(TranscriptError):
    """A file that holds no transcript of a known format."""


class Line(NamedTuple):
    """A line that is not blank; `last` if nothing but blank lines follows, `ended` by a break."""

    number: int
    data: bytes
    last: bool
    ended: bool


class Transcript:
    """A file's bytes and what they hold, and where notes about them go.

    Parameters
    ----------
    data : bytes
        UTF-8, or UTF-16 and UTF-32 with their mark.
    name : str
        How messages call it: its path.
    report : LoadReport
    lenient : bool
        Whether what cannot be read is noted in the report and left out, and no error.
    source : str, optional
        What its conversations name as their source.
    """

    def __init__(
        self,
        data: bytes,
        *,
        name: str,
        report: LoadReport,
        lenient: bool = False,
        source: str | None = None,
    ) -> None:
        self.name = name
        self.source = source
        self.report = report
        self.lenient = lenient
        self._noted: set[Note] = set()
        self.data = self._as_utf8(data)
        if not self.data.strip():
            raise Unrecognised("is empty", source=self.name)

    @property
    def stem(self) -> str:
        """The name of the file without its ending: conversations without an id get it."""
        return PurePath(self.source).stem if self.source else "conversation"

    def _as_utf8(self, data: bytes) -> bytes:
        if data.startswith(codecs.BOM_UTF8):
            return data[len(codecs.BOM_UTF8) :]
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                try:
                    return data.decode(encoding).encode("utf-8")
                except UnicodeError as wrong:
                    raise self.error(f"begins as {encoding.upper()}, but {wrong}") from None
        return data

    # Notes and errors

    def error(self, what: str, line: int | None = None) -> TranscriptError:
        """An error that names the file."""
        return TranscriptError(what, source=self.name, line=line)

    def refuse(self, what: str, line: int | None = None) -> None:
        """What cannot be read: an error; when lenient, a note, and reading goes on."""
        if not self.lenient:
            raise self.error(what, line) from None
        self.skip(what, line)

    def skip(self, what: str, line: int | None = None) -> None:
        """Note what is left out."""
        self._note(self.report.skipped, Note(self.name, line, what))

    def repair(self, what: str, line: int | None = None) -> None:
        """Note what is read although the file has it another way."""
        self._note(self.report.repaired, Note(self.name, line, what))

    def _note(self, notes: list[Note], note: Note) -> None:
        # Detection looks at the first records before they are read.
        if note not in self._noted:
            self._noted.add(note)
            notes.append(note)

    # Values

    @cached_property
    def _whole(self) -> tuple[bool, Any]:
        """Whether the file is one JSON (or YAML) value, and that value; else the first record."""
        lines = self.lines()
        first = next(lines)
        try:
            return first.last, self._decode(first.data, first.number)
        except BrokenJson as wrong:
            broken = wrong
        if not first.last:
            try:
                return True, self._decode(self.data, None)
            except BrokenJson as wrong:
                if split_values(first.data) is None and not _is_record(next(lines).data):
                    return True, self._other_than_json(wrong)
        # A line a record, and the first line is damaged or holds several.
        if first.last and not first.data.lstrip().startswith((b"{", b"[")):
            return True, self._other_than_json(broken)
        for _, value in self._line_by_line():
            return False, value
        raise self.error(broken.reason, first.number)

    def _other_than_json(self, wrong: BrokenJson) -> Any:
        if not looks_like_yaml(self.data):
            if self.data.lstrip().startswith((b"{", b"[")):
                raise self.error(wrong.reason, wrong.line) from None
            what = "is neither JSON nor YAML with a history"
            raise Unrecognised(what, source=self.name) from None
        try:
            return decode_yaml(self.data)
        except BrokenJson as wrong_yaml:
            raise self.error(wrong_yaml.reason, wrong_yaml.line) from None

    @property
    def is_document(self) -> bool:
        """Whether the whole file is one value, and not a record a line."""
        return self._whole[0]

    @property
    def first(self) -> Any:
        """The value of the whole file, or its first record that can be read."""
        return self._whole[1]

    def lines(self) -> Iterator[Line]:
        """The lines that are not blank. Only line breaks part them, not U+2028."""
        data = self.data
        end = len(data.rstrip())
        position = 0
        for number, line in enumerate(io.BytesIO(data), start=1):
            position += len(line)
            if line.strip():
                yield Line(number, line, position >= end, line.endswith(b"\n"))

    def records(self) -> Iterator[tuple[int | None, Any]]:
        """(line, value) of each record; a file that is one value has one, without a line."""
        if self.is_document:
            yield None, self.first
        else:
            yield from self._line_by_line()

    def _line_by_line(self) -> Iterator[tuple[int, Any]]:
        for line in self.lines():
            try:
                yield line.number, self._decode(line.data, line.number)
            except BrokenJson as wrong:
                yield from ((line.number, decode(data)) for data in self.rescue(line, wrong))

    def rescue(self, line: Line, wrong: BrokenJson) -> list[bytes]:
        """Records of a line that is no JSON value: several, or none and a note or an error."""
        pieces = split_values(line.data)
        if pieces is not None:
            try:
                for piece in pieces:
                    decode(piece)
            except BrokenJson as inner:
                wrong = inner
            else:
                self.repair(f"{len(pieces)} records stand on one line", line.number)
                return pieces
        if line.last and line.number > 1 and (wrong.torn or not line.ended):
            self.skip(f"the last line is torn: it {wrong.reason}", line.number)
        else:
            self.refuse(wrong.reason, line.number)
        return []

    def _decode(self, data: bytes, line: int | None) -> Any:
        try:
            return decode(data)
        except BrokenJson:
            mended = mend_surrogates(data)
            if mended == data:
                raise
            value = decode(mended)
            self.repair("half of a surrogate pair became U+FFFD", line)
            return value


def _is_record(data: bytes) -> bool:
    if not data.lstrip().startswith((b"{", b"[")):
        return False
    try:
        decode(data)
    except BrokenJson:
        return False
    return True
