"""The file that recorded calls are appended to, and which call extends which."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from chatmem_lab.assistants.sent import Sent
from chatmem_lab.errors import TranscriptError
from chatmem_lab.messages import Message, Refusal, Text
from chatmem_lab.messages.json_form import encode_json
from chatmem_lab.transcripts.recorded import RecordedCall, decode_call

__all__ = ["CallLog"]

#: How far into a file its first record is looked for.
_BEGINNING = 65_536


@dataclass(frozen=True)
class _Known:
    """What decides whether a request extends a call."""

    said: bytes
    instructions: bytes
    tools: tuple[dict[str, Any], ...]


_NOTHING = _Known(b"", b"", ())


class CallLog:
    """Appends calls to a file, each in one write; several processes may share the file.

    Which calls there are is read from the file, so that a conversation goes on where another
    process, or an earlier run, left it.

    Parameters
    ----------
    path : path
        A file of recorded calls, or one that is not there yet.

    Raises
    ------
    TranscriptError
        If the file holds something else, or its folder is not there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._forget()
        _refuse_foreign(self.path)

    def append(
        self, sent: Sent, reply: Message, *, at: datetime, response: str | None = None
    ) -> None:
        """Write down one call: what is new in it, and its reply."""
        with self._lock:
            self._catch_up()
            after, shared = self._extended(sent)
            before = self._known[after] if after is not None else _NOTHING
            are_new = bool(sent.instructions) and _digest(sent.instructions) != before.instructions
            instructions = sent.instructions if are_new else ()
            new = (*_timed((*instructions, *sent.messages[shared:]), at), reply)
            call = RecordedCall(
                1,
                uuid.uuid4().hex[:16],
                at,
                new,
                sent.model,
                after,
                len(instructions),
                None if sent.tools == before.tools else sent.tools,
                response,
                sent.session,
                sent.previous if after is None else None,
            )
            line = encode_json(call, "this call", TranscriptError)
            self._write(line)

    def _write(self, line: bytes) -> None:
        with self.path.open("ab+", buffering=0) as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                # What was torn must not spoil what follows.
                line = line if file.read(1) == b"\n" else b"\n" + line
            written = file.write(line + b"\n")
        if written != len(line) + 1:
            raise OSError(f"{written} of {len(line) + 1} bytes could be written")

    # What is known

    def _forget(self) -> None:
        self._read_to = 0
        self._known: dict[str, _Known] = {}
        self._by_said: dict[bytes, dict[bytes, str]] = {}
        self._by_server_id: dict[str, str] = {}

    def _catch_up(self) -> None:
        """Take in the lines that came since, whoever wrote them."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, os.SEEK_END) < self._read_to:
                    self._forget()
                file.seek(self._read_to)
                data = file.read()
        except FileNotFoundError:
            self._forget()
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.splitlines():
            try:
                call = decode_call(line)
            except (ValueError, RecursionError):
                continue
            self._learn(call)

    def _learn(self, call: RecordedCall) -> None:
        before = self._known.get(call.after or "", _NOTHING)
        instructions = call.new[: call.instructions]
        said = before.said
        for message in call.new[call.instructions :]:
            said = _extend(said, message)
        self._known[call.id] = known = _Known(
            said,
            _digest(instructions) if instructions else before.instructions,
            before.tools if call.tools is None else call.tools,
        )
        same = self._by_said.setdefault(said, {})
        # The latest stands last.
        same.pop(known.instructions, None)
        same[known.instructions] = call.id
        for server_id in (call.response, call.session):
            if server_id is not None:
                self._by_server_id[server_id] = call.id

    def _extended(self, sent: Sent) -> tuple[str | None, int]:
        """The call that it extends, and how many of its messages that one had."""
        server_id = sent.previous or sent.session
        if server_id is not None:
            return self._by_server_id.get(server_id), 0
        found: str | None = None
        shared = 0
        said = b""
        instructions = _digest(sent.instructions)
        for count, message in enumerate(sent.messages, start=1):
            said = _extend(said, message)
            same = self._by_said.get(said)
            if same:
                found = same.get(instructions) or next(reversed(same.values()))
                shared = count
        return found, shared


def _refuse_foreign(path: Path) -> None:
    if not path.parent.is_dir():
        raise TranscriptError(f"there is no folder {str(path.parent)!r} to record into: make it")
    if not path.exists():
        return
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING).lstrip()
    if beginning and not beginning.startswith(b'{"recorded":'):
        raise TranscriptError(
            "holds something else than recorded calls, which it would spoil: record to another "
            "file",
            source=str(path),
        )


def _timed(messages: tuple[Message, ...], at: datetime) -> list[Message]:
    """What followed the last reply came with this call; when the rest came is not known."""
    replies = [i for i, message in enumerate(messages) if message.role == "assistant"]
    known_from = replies[-1] + 1 if replies else 0
    return [
        replace(message, created_at=at) if i >= known_from else message
        for i, message in enumerate(messages)
    ]


def _digest(messages: Iterable[Message]) -> bytes:
    digest = b""
    for message in messages:
        digest = _extend(digest, message)
    return digest


def _extend(digest: bytes, message: Message) -> bytes:
    """A digest of all messages so far, from that of those before and the next one."""
    said = repr(_said(message)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(digest + said, digest_size=16).digest()


def _said(message: Message) -> tuple[object, ...]:
    """What of a message comes back when it is sent again.

    Replies lose their reasoning on the way, their texts are joined or stripped, arguments are
    written anew.
    """
    if message.role == "assistant":
        text = "".join("".join(_texts(message)).split())
        calls = [(call.id, call.name, _compact(call.arguments)) for call in message.tool_calls]
        return "assistant", text, calls
    others = [part for part in message.parts if not isinstance(part, Text)]
    return message.role, message.name, message.tool_call_id, "\n".join(_texts(message)), others


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, Text | Refusal)]


def _compact(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
