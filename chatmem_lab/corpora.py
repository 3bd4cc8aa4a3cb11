"""`read`, `scan` and `write`: transcripts in, conversations out, and back."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import msgspec

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation
from chatmem_lab.transcripts import (
    Conversations,
    Document,
    LoadReport,
    UnrecognisedError,
    detect,
    write_own,
)

__all__ = ["read", "scan", "write"]

AnyPath = str | PathLike[str]


def read(
    paths: AnyPath | bytes | Iterable[AnyPath | bytes],
    format: str | None = None,
    *,
    lenient: bool = False,
) -> Conversations:
    """Read every conversation of a transcript, of several, or of a folder.

    Parameters
    ----------
    paths : path, bytes, or iterable of them
        A folder is searched through; what no format recognises there is reported as skipped.
    format : str, optional
        The format's name; without it the content decides.
    lenient : bool
        Skip and report what cannot be read, instead of raising.

    Returns
    -------
    Conversations
        A list, with the `report` of what was read, skipped and repaired.

    Raises
    ------
    TranscriptError
        With the file, and the line where there is one.

    Examples
    --------
    >>> conversations = read(b'[{"role": "user", "content": "hi"}]')
    >>> conversations, conversations[0].messages[0].text
    (<1 conversations, 1 messages>, 'hi')
    """
    report = LoadReport()
    with _gc_paused():
        return Conversations(_unique(_scan(paths, format, lenient, report), report), report)


def scan(
    paths: AnyPath | bytes | Iterable[AnyPath | bytes],
    format: str | None = None,
    *,
    lenient: bool = False,
) -> Iterator[Conversation]:
    """The same one conversation at a time; each is read when it is asked for."""
    report = LoadReport()
    yield from _unique(_scan(paths, format, lenient, report), report)


def write(conversations: Conversation | Iterable[Conversation], path: AnyPath) -> Path:
    """Write conversations in the project's own format, in which nothing is lost.

    The file is written beside its place first: it is whole or not there.
    """
    if isinstance(conversations, Conversation):
        conversations = [conversations]
    return write_own(conversations, Path(path))


def _scan(
    paths: AnyPath | bytes | Iterable[AnyPath | bytes],
    format: str | None,
    lenient: bool,
    report: LoadReport,
) -> Iterator[Conversation]:
    many: Iterable[AnyPath | bytes]
    many = [paths] if isinstance(paths, str | bytes | PathLike) else paths
    for path in many:
        if isinstance(path, bytes):
            yield from _documents(path, "bytes", format, lenient, report, forgiving=False)
        elif Path(path).is_dir():
            yield from _folder(Path(path), format, lenient, report)
        else:
            yield from _file(Path(path), Path(path).name, format, lenient, report)


def _folder(
    folder: Path, format: str | None, lenient: bool, report: LoadReport
) -> Iterator[Conversation]:
    before = sum(report.read.values())
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            yield from _file(path, str(relative), format, lenient, report, forgiving=True)
    if sum(report.read.values()) == before:
        raise TranscriptError(
            "no transcript in this folder: a format must recognise at least one of its files",
            source=str(folder),
        )


def _file(
    path: Path,
    source: str,
    format: str | None,
    lenient: bool,
    report: LoadReport,
    *,
    forgiving: bool = False,
) -> Iterator[Conversation]:
    try:
        data = path.read_bytes()
    except OSError as error:
        why = error.strerror or type(error).__name__
        if not lenient:
            raise TranscriptError(f"cannot be read: {why}", source=str(path)) from None
        report.skipped(source, None, why)
        return
    yield from _documents(data, source, format, lenient, report, forgiving=forgiving)


def _documents(
    data: bytes,
    source: str,
    format: str | None,
    lenient: bool,
    report: LoadReport,
    *,
    forgiving: bool,
) -> Iterator[Conversation]:
    """`forgiving` skips what no format recognises, as in a folder with other files."""
    try:
        document = Document(data, source, report)
        found = detect(document, format)
    except UnrecognisedError as error:
        if not (lenient or forgiving):
            raise
        report.skipped(source, None, error.what.partition(".")[0])
        return
    except TranscriptError as error:
        if not lenient:
            raise
        report.skipped(source, error.line, error.what)
        return
    try:
        for conversation in found.read(document):
            report.counted(source, found.name)
            yield conversation
    except TranscriptError as error:
        if not lenient:
            raise
        report.skipped(source, error.line, error.what)


def _unique(conversations: Iterable[Conversation], report: LoadReport) -> Iterator[Conversation]:
    seen: dict[str, int] = {}
    for conversation in conversations:
        n = seen[conversation.id] = seen.get(conversation.id, 0) + 1
        if n > 1:
            new = f"{conversation.id}#{n}"
            while new in seen:
                new += "#"
            seen[new] = 1
            report.repaired(
                conversation.source or "", None, f"id {conversation.id!r} again: now {new!r}"
            )
            conversation = msgspec.structs.replace(conversation, id=new)
        yield conversation


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Frozen values form no cycles; looking for some while reading costs a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
