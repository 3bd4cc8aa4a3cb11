"""The content of a chat message → parts."""

from __future__ import annotations

from typing import Any

import msgspec

from chatmem_lab.messages import Audio, File, Image, Opaque, Part, Refusal, Text
from chatmem_lab.transcripts.fields import WrongField, describe, of_type

__all__ = ["audio_part", "parts_of"]


def parts_of(content: Any) -> tuple[tuple[Part, ...], dict[str, Any]]:
    """Parts of a message's content, and what they do not model, by place.

    >>> parts_of([{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}])
    ((Text(text='hi'),), {'0': {'cache_control': {'type': 'ephemeral'}}})
    """
    if content is None or content == "":
        return (), {}
    if isinstance(content, str):
        return (Text(content),), {}
    if not isinstance(content, list):
        what = f"a string, a list of parts or null was expected, not {describe(content)}"
        raise WrongField("content", what)
    parts: list[Part] = []
    leftovers: dict[str, Any] = {}
    for i, item in enumerate(content):
        if isinstance(item, str):
            parts.append(Text(item))
            continue
        try:
            part, left = _part(dict(of_type(item, dict, "")))
        except WrongField as wrong:
            raise wrong.under(f"content[{i}]") from None
        parts.append(part)
        if left:
            leftovers[str(i)] = left
    return tuple(parts), leftovers


def audio_part(audio: dict[str, Any]) -> Part:
    """A model's spoken answer; only its id may be left of it."""
    if not isinstance(audio.get("data"), str):
        return Opaque("audio", _json(audio))
    return Audio(audio["data"], _text(audio, "format"), _text(audio, "transcript"))


def _part(item: dict[str, Any]) -> tuple[Part, dict[str, Any]]:
    kind = item.get("type")
    if not isinstance(kind, str):
        raise WrongField("type", f"a string was expected, not {describe(kind)}")
    if kind not in _KINDS:
        return Opaque(kind, _json(item)), {}
    del item["type"]
    field = _KINDS[kind]
    value = item.pop(field, None)
    if kind == "text":
        return Text(of_type(value, str, field)), item
    if kind == "refusal":
        return Refusal(of_type(value, str, field)), item
    if kind == "image_url" and isinstance(value, str):
        return Image(value), item
    inner = dict(of_type(value, dict, field))
    part: Part
    if kind == "image_url":
        url = of_type(inner.pop("url", None), str, f"{field}.url")
        part = Image(url, _pop_text(inner, "detail", field))
    elif kind == "input_audio":
        data = of_type(inner.pop("data", None), str, f"{field}.data")
        part = Audio(data, _pop_text(inner, "format", field))
    else:
        part = File(
            _pop_text(inner, "filename", field),
            _pop_text(inner, "file_data", field),
            _pop_text(inner, "file_id", field),
        )
    if inner:
        item[field] = inner
    return part, item


#: Kinds that are modelled, and the field that holds what they are.
_KINDS = {
    "text": "text",
    "refusal": "refusal",
    "image_url": "image_url",
    "input_audio": "input_audio",
    "file": "file",
}


def _pop_text(item: dict[str, Any], key: str, path: str) -> str | None:
    value = item.pop(key, None)
    return value if value is None else str(of_type(value, str, f"{path}.{key}"))


def _text(item: dict[str, Any], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) else None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode("utf-8")
