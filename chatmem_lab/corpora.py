"""Many transcripts at once: `read`, `scan`, `write`."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Conversation
from chatmem_lab.transcripts import (
    Conversations,
    LoadReport,
    Note,
    Unrecognised,
    encode_conversation,
    format_named,
    read_transcript,
)

__all__ = ["read", "scan", "write"]

Source = str | os.PathLike[str] | bytes


def read(
    source: Source | Iterable[Source], *, format: str | None = None, lenient: bool = False
) -> Conversations:
    """Read transcripts: a file, several, a folder, or bytes.

    Parameters
    ----------
    source : path, bytes, or several of them
        A folder stands for all transcripts in it, at any depth, in the order of their paths.
        Files in it that are no transcripts are noted as skipped.
    format : str, optional
        One of `formats()`. Without it the format is told from the content.
    lenient : bool
        Skip what cannot be read, and note it, where an error would be raised.

    Returns
    -------
    Conversations
        A list; `.report` says what was read, skipped and repaired.

    Raises
    ------
    TranscriptError
        With the file, and the line or the path to the field.

    Examples
    --------
    >>> conversations = read(b'[{"role": "user", "content": "hi"}]')
    >>> conversations[0].messages[0].text
    'hi'
    >>> conversations.report
    read      1 conversation, 1 message from 1 file (openai_chat 1)
    skipped   nothing
    repaired  nothing
    """
    report = LoadReport()
    return Conversations(_conversations(source, format, lenient, report), report)


def scan(
    source: Source | Iterable[Source],
    *,
    format: str | None = None,
    lenient: bool = False,
    report: LoadReport | None = None,
) -> Iterator[Conversation]:
    """Read transcripts one conversation at a time; as `read`, but nothing is kept.

    Parameters
    ----------
    source, format, lenient
        As for `read`.
    report : LoadReport, optional
        Filled on the way.

    Examples
    --------
    >>> next(scan(b'[{"role": "user", "content": "hi"}]')).id
    'conversation'
    """
    return _conversations(source, format, lenient, report if report is not None else LoadReport())


def write(
    conversations: Conversation | Iterable[Conversation], path: str | os.PathLike[str]
) -> Path:
    r"""Write conversations in the package's own JSONL, whole or not at all.

    The file is written beside its place and then renamed, so that nobody ever reads half of
    one. `read` gives equal conversations back.

    Parameters
    ----------
    conversations : Conversation, or an iterable of them
    path : path
        A file; its folder must be there.

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> written = write([Conversation("empty")], folder / "one.jsonl")
    >>> written.read_text()
    '{"format":1,"id":"empty"}\n'
    """
    if isinstance(conversations, Conversation):
        conversations = [conversations]
    target = Path(path)
    if not target.parent.is_dir():
        raise TranscriptError(f"there is no folder {target.parent}", source=str(path))
    if target.is_dir():
        raise TranscriptError("is a folder: name a file in it", source=str(path))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for conversation in conversations:
                if not isinstance(conversation, Conversation):
                    what = type(conversation).__name__
                    raise TranscriptError(
                        f"conversations are written, not {what}", source=str(path)
                    )
                file.write(encode_conversation(conversation))
        # A temporary file is private; what is written has the rights that any new file gets.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    return target


def _conversations(
    source: Source | Iterable[Source], format: str | None, lenient: bool, report: LoadReport
) -> Iterator[Conversation]:
    if format is not None:
        format_named(format)
    used: dict[str, int] = {}
    for one in _sources(source):
        for conversation in _of_source(one, format, lenient, report):
            if conversation.id in used:
                conversation = _renamed(conversation, used, report)
            used[conversation.id] = 1
            yield conversation


def _sources(source: Source | Iterable[Source]) -> list[Source]:
    if isinstance(source, str | os.PathLike | bytes):
        return [source]
    try:
        return list(source)
    except TypeError:
        raise TranscriptError(
            f"a path, several paths or bytes are read, not {type(source).__name__}"
        ) from None


def _of_source(
    source: Source, format: str | None, lenient: bool, report: LoadReport
) -> Iterator[Conversation]:
    if isinstance(source, bytes):
        try:
            yield from read_transcript(source, report=report, format=format, lenient=lenient)
        except TranscriptError as error:
            _forgive(error, "<bytes>", lenient, report)
        return
    if not isinstance(source, str | os.PathLike):
        raise TranscriptError(
            f"a path, several paths or bytes are read, not {type(source).__name__}"
        )
    if source == "":
        raise TranscriptError("a path is empty: name a file or a folder")
    path = Path(source)
    if os.path.isdir(path):
        yield from _of_folder(path, format, lenient, report)
        return
    try:
        yield from _of_file(path, format, lenient, report)
    except TranscriptError as error:
        _forgive(error, str(path), lenient, report)


def _of_file(
    path: Path, format: str | None, lenient: bool, report: LoadReport
) -> Iterator[Conversation]:
    name = str(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TranscriptError("there is no such file or folder", source=name) from None
    except (OSError, ValueError) as wrong:
        what = wrong.strerror if isinstance(wrong, OSError) else str(wrong)
        raise TranscriptError(f"cannot be opened: {what}", source=name) from None
    yield from read_transcript(
        data, report=report, name=name, source=name, format=format, lenient=lenient
    )


def _of_folder(
    folder: Path, format: str | None, lenient: bool, report: LoadReport
) -> Iterator[Conversation]:
    before = len(report.read)
    files = [
        path for path in sorted(folder.rglob("*")) if path.is_file() and not _hidden(path, folder)
    ]
    for path in files:
        try:
            yield from _of_file(path, format, lenient, report)
        except Unrecognised as other:
            report.skipped.append(Note(str(path), other.line, other.what))
        except TranscriptError as error:
            _forgive(error, str(path), lenient, report)
    if len(report.read) == before:
        what = f"none of its {len(files):,} files is a transcript" if files else "is empty"
        _forgive(TranscriptError(what, source=str(folder)), str(folder), lenient, report)


def _hidden(path: Path, folder: Path) -> bool:
    """Whether it, or a folder that it is in, has a name that is not shown, such as `.git`."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _forgive(error: TranscriptError, name: str, lenient: bool, report: LoadReport) -> None:
    if not lenient:
        raise error
    report.skipped.append(Note(error.source or name, error.line, error.what))


def _renamed(conversation: Conversation, used: dict[str, int], report: LoadReport) -> Conversation:
    n = used[conversation.id] + 1
    while f"{conversation.id}#{n}" in used:
        n += 1
    used[conversation.id] = n
    id = f"{conversation.id}#{n}"
    where = conversation.source or "<bytes>"
    what = f"a second conversation has the id {conversation.id!r}: it is {id!r}"
    report.repaired.append(Note(where, None, what))
    return msgspec.structs.replace(conversation, id=id)
