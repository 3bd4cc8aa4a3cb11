"""The model table: encoding, context window, longest reply, images."""

from __future__ import annotations

import re
from difflib import get_close_matches

from msgspec import Struct

from chatmem_lab.errors import UnknownModelError

__all__ = ["AS_OF", "Model", "find_model", "known_models", "register_model"]

#: When the table was last checked against OpenAI's model pages.
AS_OF = "2026-11"


class Model(Struct, frozen=True, kw_only=True):
    """What is known of a model.

    Parameters
    ----------
    name : str
    encoding : str
        The tokenizer's vocabulary.
    context_window : int, optional
        The most tokens of input and reply together; None where we could not confirm it.
    max_output_tokens : int, optional
        The longest reply.
    image_tokens, low_image_tokens : int
        The most that one image can cost, at high and at low detail.
    """

    name: str
    encoding: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    image_tokens: int = 1_445
    low_image_tokens: int = 85


def _table() -> dict[str, Model]:
    cl, o2, oss = "cl100k_base", "o200k_base", "o200k_harmony"
    # Images at high detail are at most 768 × 2048 pixels, 8 tiles: base + 8 × tile; models
    # that count patches cap them at 1,536, times a factor.
    rows: list[tuple[str, str, int | None, int | None, int, int]] = [
        ("gpt-3.5-turbo", cl, 16_385, 4_096, 0, 0),
        ("gpt-4", cl, 8_192, 8_192, 0, 0),
        ("gpt-4-turbo", cl, 128_000, 4_096, 1_445, 85),
        ("gpt-4o", o2, 128_000, 16_384, 1_445, 85),
        ("chatgpt-4o-latest", o2, 128_000, 16_384, 1_445, 85),
        ("gpt-4o-mini", o2, 128_000, 16_384, 48_169, 2_833),
        ("gpt-4.5-preview", o2, 128_000, 16_384, 1_445, 85),
        ("gpt-4.1", o2, 1_047_576, 32_768, 1_445, 85),
        ("gpt-4.1-mini", o2, 1_047_576, 32_768, 2_489, 2_489),
        ("gpt-4.1-nano", o2, 1_047_576, 32_768, 3_779, 3_779),
        ("o1", o2, 200_000, 100_000, 1_275, 75),
        ("o1-pro", o2, 200_000, 100_000, 1_275, 75),
        ("o1-mini", o2, 128_000, 65_536, 1_275, 75),
        ("o3", o2, 200_000, 100_000, 1_275, 75),
        ("o3-pro", o2, 200_000, 100_000, 1_275, 75),
        ("o3-mini", o2, 200_000, 100_000, 0, 0),
        ("o4-mini", o2, 200_000, 100_000, 2_642, 2_642),
        ("gpt-5", o2, 400_000, 128_000, 1_190, 70),
        ("gpt-5-mini", o2, 400_000, 128_000, 2_489, 2_489),
        ("gpt-5-nano", o2, 400_000, 128_000, 3_779, 3_779),
        ("gpt-5-pro", o2, 400_000, 272_000, 1_190, 70),
        ("gpt-5.1", o2, 400_000, 128_000, 1_190, 70),
        ("gpt-5.2", o2, 400_000, 128_000, 1_190, 70),
        ("gpt-5.3-codex", o2, 400_000, None, 1_190, 70),
        ("gpt-5.4", o2, 1_050_000, None, 1_190, 70),
        ("gpt-5.4-mini", o2, 400_000, None, 2_489, 2_489),
        ("gpt-5.4-nano", o2, 400_000, None, 3_779, 3_779),
        ("gpt-5.5", o2, 1_000_000, None, 1_190, 70),
        ("gpt-5.6-luna", o2, 1_050_000, None, 1_190, 70),
        ("gpt-5.6-sol", o2, 1_050_000, None, 1_190, 70),
        ("gpt-5.6-terra", o2, 1_050_000, None, 1_190, 70),
        ("gpt-oss-20b", oss, 131_072, 131_072, 0, 0),
        ("gpt-oss-120b", oss, 131_072, 131_072, 0, 0),
    ]
    return {
        name: Model(
            name=name,
            encoding=encoding,
            context_window=window,
            max_output_tokens=longest,
            image_tokens=image,
            low_image_tokens=low,
        )
        for name, encoding, window, longest, image, low in rows
    }


_MODELS = _table()

#: What may follow a name without making it another model.
_VERSION = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4}|latest|preview|\d{4}-preview)$")
_FINE_TUNED = re.compile(r"^ft:([^:]+)(:.*)?$")


def known_models() -> list[Model]:
    """Every model of the table, and those that were registered."""
    return list(_MODELS.values())


def register_model(model: Model) -> None:
    """Add a model of your own, or correct one of the table.

    >>> register_model(Model(name="our-gpt", encoding="o200k_base", context_window=32_000))
    >>> find_model("our-gpt").context_window
    32000
    """
    _MODELS[model.name] = model


def find_model(name: str) -> Model:
    """The model that `name` means: provider prefixes, dates and fine-tunes are seen through.

    A name is never stretched: ``gpt-4o-imaginary`` is not ``gpt-4o``.

    Parameters
    ----------
    name : str

    Raises
    ------
    UnknownModelError
        Naming the nearest models and the ways on.

    Examples
    --------
    >>> find_model("openai/gpt-4o-2024-08-06").name, find_model("ft:gpt-4o:acme::x1").name
    ('gpt-4o', 'gpt-4o')
    """
    asked = name.strip()
    candidates = [asked]
    if fine_tuned := _FINE_TUNED.match(asked):
        candidates.append(fine_tuned[1])
    provider, slash, rest = asked.partition("/")
    if slash and provider.lower() in ("openai", "azure", "openrouter"):
        return find_model(rest)
    candidates += [_VERSION.sub("", candidate) for candidate in candidates]
    for candidate in candidates:
        if candidate in _MODELS:
            return _MODELS[candidate]
    near = get_close_matches(asked, _MODELS, n=3, cutoff=0.5)
    hint = f" The nearest are {', '.join(near)}." if near else ""
    raise UnknownModelError(
        f"no model {name!r} in the model table of {AS_OF}.{hint} Name one of those, add it with "
        "chatmem_lab.tokens.register_model(Model(…)), or count an estimate on purpose with "
        f"counter({name!r}, estimate=True)"
    )
