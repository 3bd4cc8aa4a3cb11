"""What a message is made of: text, images, files, reasoning, tool calls, usage.

All are frozen values without identity: two equal parts are the same part.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "Audio",
    "File",
    "Image",
    "Opaque",
    "Part",
    "Reasoning",
    "Refusal",
    "SummaryOf",
    "Text",
    "ToolCall",
    "Usage",
]


class _Value(Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """Read from JSON, a misspelt field is an error and does not vanish."""


class Text(_Value, frozen=True, gc=False, tag="text"):
    """Plain text.

    Examples
    --------
    >>> Text("hello").text
    'hello'
    """

    text: str


class Image(
    Struct, frozen=True, gc=False, tag="image", omit_defaults=True, forbid_unknown_fields=True
):
    """An image by address or as a ``data:`` URL; `detail` as OpenAI means it."""

    url: str
    detail: str | None = None


class File(
    Struct, frozen=True, gc=False, tag="file", omit_defaults=True, forbid_unknown_fields=True
):
    """A file by address, provider id or ``data:`` URL."""

    name: str | None = None
    url: str | None = None
    file_id: str | None = None


class Audio(
    Struct, frozen=True, gc=False, tag="audio", omit_defaults=True, forbid_unknown_fields=True
):
    """Sound, base64 in `data`, with what was said where it is known."""

    data: str
    format: str | None = None
    transcript: str | None = None


class Reasoning(
    Struct, frozen=True, gc=False, tag="reasoning", omit_defaults=True, forbid_unknown_fields=True
):
    """A model's reasoning: readable text, or only a sealed `signature`."""

    text: str = ""
    id: str | None = None
    signature: str | None = None


class Refusal(_Value, frozen=True, gc=False, tag="refusal"):
    """A model's refusal to answer."""

    text: str


class Opaque(_Value, frozen=True, gc=False, tag="opaque"):
    """A part that is not modelled: its kind, and its JSON as it came."""

    kind: str
    json: str


Part = Text | Image | File | Audio | Reasoning | Refusal | Opaque


class ToolCall(_Value, frozen=True, gc=False):
    """A tool call; `arguments` is the raw string, byte for byte.

    Examples
    --------
    >>> ToolCall("call_1", "lookup", '{"isbn": "0262510871"}').name
    'lookup'
    """

    id: str
    name: str
    arguments: str = ""


class Usage(_Value, frozen=True, gc=False):
    """Recorded token usage of one model response, normalised.

    `input_tokens` includes the cached ones; `output_tokens` includes reasoning.
    Providers differ in this; readers convert.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class SummaryOf(_Value, frozen=True, gc=False):
    """What a made message stands for.

    Parameters
    ----------
    ranges : tuple of (int, int)
        Positions in the history whose messages it replaces: from the first to before the
        second of each pair. A rolling summary covers one long range.
    generation : int
        1 for a summary of originals, 2 for a summary that folded one of those, …
    by : str
        The summarizer's recipe.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    generation: int = 1
    by: str = ""

    @property
    def covered(self) -> tuple[int, ...]:
        """Every position, one by one.

        >>> SummaryOf(((1, 4), (6, 7))).covered
        (1, 2, 3, 6)
        """
        return tuple(position for start, stop in self.ranges for position in range(start, stop))

    @property
    def messages(self) -> int:
        """How many messages it replaces."""
        return sum(stop - start for start, stop in self.ranges)
