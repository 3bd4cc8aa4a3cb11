"""`Message`: one message of a conversation, and the builders that read like speech."""

from __future__ import annotations

import base64
import mimetypes
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from chatmem_lab.errors import MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.messages.parts import (
    Image,
    Part,
    Reasoning,
    Refusal,
    SummaryOf,
    Text,
    ToolCall,
    Usage,
)

__all__ = ["Message", "Role", "assistant", "developer", "system", "tool_output", "user"]

Role = Literal["system", "developer", "user", "assistant", "tool"]

_ADDRESS = re.compile(r"\s*[a-zA-Z][a-zA-Z0-9+.-]+:")

#: Kinds of images that a name alone tells.
_UNSIGNED = frozenset({"image/svg+xml", "image/bmp", "image/tiff", "image/avif", "image/heic"})

#: Roles whose current message is never evicted.
INSTRUCTION_ROLES = frozenset({"system", "developer"})


class Message(Struct, frozen=True, gc=False, omit_defaults=True):
    """One message: what is sent, and recorded facts that never are.

    Parameters
    ----------
    role : {"system", "developer", "user", "assistant", "tool"}
    parts : tuple of Part
        Text, images, files, audio, reasoning, refusals, opaque parts, in order.
    tool_calls : tuple of ToolCall
        Of an assistant message.
    tool_call_id : str, optional
        Of a tool result: the call that it answers.
    name : str, optional
        The speaker's name, as in chat APIs.
    is_error : bool
        A tool result that reports an error.
    summary : SummaryOf, optional
        Set on a made message: what it stands for.
    generated : bool
        False for assistant messages that no model made in this conversation
        (few-shot examples, a greeting): they are no request.
    id, created_at, model, usage, finish_reason, metadata, extra
        Recorded facts. `extra` is what the source had and is not modelled;
        None where there was nothing.

    Notes
    -----
    ``==`` compares every field. `key` and `same_as` compare what is sent.

    Examples
    --------
    >>> message = user("What is the fee for order A-117?")
    >>> message.role, message.text
    ('user', 'What is the fee for order A-117?')
    """

    role: Role
    parts: tuple[Part, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    is_error: bool = False
    summary: SummaryOf | None = None
    generated: bool = True
    id: str | None = None
    created_at: datetime | None = None
    model: str | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    metadata: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """All text of the message, parts joined by a line break."""
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is Text:
            return parts[0].text
        return "\n".join(part.text for part in parts if isinstance(part, Text | Refusal))

    @property
    def key(self) -> tuple[object, ...]:
        """What is sent, as a hashable value: prefix, caches and alignment use it."""
        return (
            self.role,
            self.parts,
            self.tool_calls,
            self.tool_call_id,
            self.name,
            self.is_error,
        )

    def same_as(self, other: Message) -> bool:
        """Whether the same content would be sent.

        >>> user("hi").same_as(msgspec.structs.replace(user("hi"), id="m1"))
        True
        """
        return self.key == other.key

    @property
    def kind(self) -> str:
        """The role as pictures name it: calls and results apart from plain text.

        >>> assistant(tool_calls=[ToolCall("c1", "f")]).kind
        'tool call'
        """
        if self.role == "tool":
            return "tool result"
        if self.tool_calls:
            return "tool call"
        return self.role

    @property
    def is_blank(self) -> bool:
        """Whether it says nothing: no text, image, file, sound or call, no call answered."""
        if self.tool_calls or (self.role == "tool" and (self.tool_call_id or "").strip()):
            return False
        return all(
            not part.text.strip() if isinstance(part, Text | Refusal | Reasoning) else False
            for part in self.parts
        )

    @property
    def is_injected(self) -> bool:
        """Whether a policy made it for the next request only: see `policies.Inject`."""
        return bool(self.metadata and self.metadata.get("injected_by"))

    def with_text(self, text: str) -> Message:
        """The same message with `text` as its only content.

        >>> tool_output("c1", "a long result").with_text("[cleared]").text
        '[cleared]'
        """
        return msgspec.structs.replace(self, parts=(Text(text),) if text else ())


def _parts(text: str | None, images: Iterable[str | Path | bytes] = ()) -> tuple[Part, ...]:
    if text is not None and not isinstance(text, str):
        raise MessageError(
            f"the text of a message is a str or None, not {type(text).__name__}: write other "
            "values as text, with json.dumps for instance"
        )
    if isinstance(images, str | bytes | Path):
        raise MessageError(f"images is a list: write images=[{cut(repr(images), 60)}]")
    if not isinstance(images, Iterable):
        raise MessageError(f"images is a list, not {cut(repr(images), 60)}")
    shown: list[Part] = [Text(text)] if text else []
    shown += [Image(_image_url(image)) for image in images]
    return tuple(shown)


def _facts(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if metadata is not None and not isinstance(metadata, Mapping):
        raise MessageError(f"metadata is a dict or None, not {cut(repr(metadata), 60)}")
    return dict(metadata) if metadata else None


def _image_url(image: str | Path | bytes) -> str:
    if isinstance(image, str):
        if not _ADDRESS.match(image):
            raise MessageError(
                f"{cut(repr(image), 60)} is no address of an image (https://… or data:…): pass "
                "a file as a Path"
            )
        return image
    if isinstance(image, Path):
        if not image.is_file():
            raise MessageError(f"{cut(repr(str(image)), 80)} is no file that can be read")
        data = image.read_bytes()
        media_type = mimetypes.guess_type(image.name)[0] or ""
        if media_type not in _UNSIGNED:
            media_type = _media_type(data)
    elif isinstance(image, bytes):
        data = image
        media_type = _media_type(image)
    else:
        raise MessageError(
            f"an image is a URL, a Path or bytes, not {type(image).__name__}: "
            "pass the address as a str or the file as a Path"
        )
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def _media_type(data: bytes) -> str:
    for signature, media_type in (
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
    ):
        if data.startswith(signature):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise MessageError("these bytes are no PNG, JPEG, GIF or WebP image: pass a URL or a Path")


def system(text: str, *, metadata: Mapping[str, Any] | None = None) -> Message:
    """A system message.

    >>> system("Be brief.").role
    'system'
    """
    return Message("system", _parts(text), metadata=_facts(metadata))


def developer(text: str, *, metadata: Mapping[str, Any] | None = None) -> Message:
    """A developer message, the newer name of a system message.

    >>> developer("Answer in French.").role
    'developer'
    """
    return Message("developer", _parts(text), metadata=_facts(metadata))


def user(
    text: str | None = None,
    *,
    images: Iterable[str | Path | bytes] = (),
    name: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """A user message, with images as URLs, files or bytes.

    >>> user("What is on this cover?", images=["https://example.org/cover.png"]).parts[1].url
    'https://example.org/cover.png'
    """
    return Message("user", _parts(text, images), name=name, metadata=_facts(metadata))


def assistant(
    text: str | None = None,
    *,
    tool_calls: Iterable[ToolCall] = (),
    generated: bool = True,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """An assistant message: text, tool calls, or both.

    >>> assistant("Let me look.", tool_calls=[ToolCall("call_1", "lookup", "{}")]).kind
    'tool call'
    """
    if isinstance(tool_calls, ToolCall | str | Mapping) or not isinstance(tool_calls, Iterable):
        raise MessageError(
            f"tool_calls is a list of ToolCall, not {type(tool_calls).__name__}: write "
            'tool_calls=[ToolCall("call_1", "lookup", "{}")]'
        )
    return Message(
        "assistant",
        _parts(text),
        tool_calls=tuple(tool_calls),
        generated=generated,
        metadata=_facts(metadata),
    )


def tool_output(
    call_id: str,
    output: str,
    *,
    is_error: bool = False,
    name: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """The result of a tool call.

    >>> tool_output("call_1", "not found", is_error=True).is_error
    True
    """
    return Message(
        "tool",
        _parts(output),
        tool_call_id=call_id,
        name=name,
        is_error=is_error,
        metadata=_facts(metadata),
    )
