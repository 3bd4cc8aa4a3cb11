"""`Document`: the bytes of a transcript, as JSON, as lines of JSON, or as text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from chatmem_lab.errors import TranscriptError
from chatmem_lab.tokens.encodings import normalised
from chatmem_lab.transcripts.load_report import LoadReport

__all__ = ["Document", "decoded", "mended", "not_finite"]

#: How many records of a JSON Lines file detection looks at.
_SAMPLE = 20


class Document:
    """One transcript: its name, and its content in whatever way it can be read.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without byte order mark, or UTF-16 with one.
    source : str
        Its name, for errors and reports.
    report : LoadReport
    """

    def __init__(self, data: bytes, source: str, report: LoadReport) -> None:
        self.source = source
        self.report = report
        self.data = _as_utf8(data, source)

    @cached_property
    def whole(self) -> Any:
        """The document as one JSON value; None where it is none."""
        if self.data.lstrip()[:1] not in (b"{", b"["):
            return None
        try:
            return msgspec.json.decode(self.data)
        except (msgspec.DecodeError, RecursionError):
            return None

    @cached_property
    def sample(self) -> list[Any]:
        """The first records of a JSON Lines document; empty where it is none."""
        records: list[Any] = []
        for number, line in self.lines():
            if len(records) == _SAMPLE:
                break
            try:
                records.append(decoded(line, self.source, number, self.report, note=False))
            except TranscriptError:
                return records
        return records

    @property
    def is_lines(self) -> bool:
        """Whether it is to be read line by line."""
        return self.whole is None and bool(self.sample)

    @property
    def stem(self) -> str:
        """The source without its ending, for ids."""
        return self.source.rpartition(".")[0] or self.source

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Lines that are not blank, with their number from 1; split at line feeds alone."""
        start, number = 0, 0
        data = self.data
        while start < len(data):
            number += 1
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            line = data[start:end].strip()
            if line:
                yield number, line
            start = end + 1

    def records(self) -> Iterator[tuple[int, Any]]:
        """The values of a JSON Lines document; a torn last line is reported and left out."""
        for number, line in self.lines():
            try:
                yield number, decoded(line, self.source, number, self.report)
            except TranscriptError as error:
                if not self.is_torn(number, line):
                    raise
                self.report.skipped(self.source, number, f"torn last line: {error.what}")

    def is_torn(self, number: int, line: bytes) -> bool:
        """Whether `line` is the last one and was never finished."""
        return (
            not self.data.endswith(b"\n")
            and self.data.rstrip().endswith(line)
            and (self.data.count(b"\n") + 1 == number)
        )

    def value(self) -> Any:
        """The document as one JSON value.

        Raises
        ------
        TranscriptError
            Saying where it is broken.
        """
        if self.whole is not None:
            return self.whole
        return decoded(self.data, self.source, None, self.report)


def decoded(
    data: bytes, source: str, line: int | None, report: LoadReport, *, note: bool = True
) -> Any:
    """One JSON value; what msgspec refuses and Python's reader takes is mended or explained."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise TranscriptError("the JSON is nested too deeply", source=source, line=line) from None
    except msgspec.DecodeError as error:
        first = str(error)
    try:
        value = json.loads(data)
    except RecursionError:
        raise TranscriptError("the JSON is nested too deeply", source=source, line=line) from None
    except ValueError as error:
        what = getattr(error, "msg", first)
        within = getattr(error, "lineno", 1)
        where = line if line is not None else within
        raise TranscriptError(f"broken JSON: {what}", source=source, line=where) from None
    path = not_finite(value)
    if path is not None:
        raise TranscriptError(
            f"{path} is NaN or infinite, which JSON does not have", source=source, line=line
        )
    if note:
        report.repaired(source, line, "lone surrogates became U+FFFD")
    return mended(value)


def not_finite(value: Any, path: str = "$") -> str | None:
    """Where in `value` a number is NaN or infinite; None if nowhere."""
    if isinstance(value, float):
        return None if math.isfinite(value) else path
    children: Any = ()
    if isinstance(value, dict):
        children = ((f"{path}.{key}", child) for key, child in value.items())
    elif isinstance(value, list):
        children = ((f"{path}[{i}]", child) for i, child in enumerate(value))
    return next((found for p, c in children if (found := not_finite(c, p)) is not None), None)


def mended(value: Any) -> Any:
    """The same value with `normalised` strings."""
    if isinstance(value, str):
        return normalised(value)
    if isinstance(value, list):
        return [mended(child) for child in value]
    if isinstance(value, dict):
        return {normalised(key): mended(child) for key, child in value.items()}
    return value


def _as_utf8(data: bytes, source: str) -> bytes:
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16").encode()
        except UnicodeError as error:
            raise TranscriptError(f"broken UTF-16: {error}", source=source) from None
    return data
