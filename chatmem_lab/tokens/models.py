"""The model table: encoding, context window, longest reply, images; and how names resolve."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from msgspec import Struct

from chatmem_lab.errors import UnknownModelError

__all__ = ["AS_OF", "Model", "find_model", "known_models", "register_model"]

#: When the table was last checked. Encodings are those of tiktoken 0.14; the rest is what
#: OpenAI's model pages say as far as public copies of them agree. What they do not agree on
#: is None.
AS_OF = "2026-11"


class Model(Struct, frozen=True, kw_only=True):
    """What is known of a model.

    Parameters
    ----------
    name : str
    encoding : str
        The tokenizer's vocabulary.
    family : str
        Whose rules frame its messages and tool schemas: one of the table's families; empty
        for those of gpt-4o.
    context_window : int, optional
        The most tokens of input and reply together; None where it is not confirmed.
    max_input_tokens : int, optional
        The most tokens of input, where they are limited apart.
    max_output_tokens : int, optional
        The longest reply, reasoning included.
    image_tokens, low_image_tokens : int, optional
        The most that one image can cost, and at low detail; None where it is not known.

    Examples
    --------
    >>> Model(name="our-gpt", encoding="o200k_base", context_window=32_000).image_tokens
    """

    name: str
    encoding: str
    family: str = ""
    context_window: int | None = None
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None
    image_tokens: int | None = None
    low_image_tokens: int | None = None


_CL100K, _O200K = "cl100k_base", "o200k_base"

#: Images as (low detail, any other). Models that see 512-pixel tiles: base, and base + 8 ×
#: tile, the most that fit in 768 × 2,048 pixels. Models that see 32-pixel patches: their most
#: patches × the documented factor (measured factors are smaller), low detail as high, since
#: it was seen to have no effect. gpt-5.5 keeps 10,000 patches unless told otherwise, gpt-5.6
#: 30,000; their factor was measured as 1.2.
_TILES = (85, 85 + 8 * 170)
_TILES_4O_MINI = (2_833, 2_833 + 8 * 5_667)
_TILES_O = (75, 75 + 8 * 150)
_TILES_5 = (70, 70 + 8 * 140)
_PATCHES_162 = (2_489, 2_489)  # 1,536 × 1.62
_PATCHES_172 = (2_642, 2_642)  # 1,536 × 1.72
_PATCHES_246 = (3_779, 3_779)  # 1,536 × 2.46
_PATCHES_54_MINI = (4_050, 4_050)  # 2,500 × 1.62
_PATCHES_54_NANO = (6_150, 6_150)  # 2,500 × 2.46
_PATCHES_54 = (3_000, 12_000)
_PATCHES_56 = (3_000, 36_000)

#: The limits that models share: context window, input, longest reply.
_4_TURBO = (128_000, None, 4_096)
_4O = (128_000, None, 16_384)
_4_1 = (1_047_576, None, 32_768)
_O = (200_000, None, 100_000)
_5 = (400_000, 272_000, 128_000)
_5_4 = (1_050_000, 922_000, 128_000)

_Limits = tuple[int | None, int | None, int | None]
_Images = tuple[int, int] | None

#: Family, encoding, and for each set of equal models: names, limits, images.
_TABLE: list[tuple[str, str, list[tuple[str, _Limits, _Images]]]] = [
    (
        "completions",
        "p50k_base",
        [("text-davinci-002 text-davinci-003", (4_097, None, None), None)],
    ),
    ("completions", _CL100K, [("gpt-3.5-turbo-instruct", (4_096, None, None), None)]),
    (
        # gpt-3.5-turbo-0301 framed its messages in another way and is left out.
        "gpt-3.5",
        _CL100K,
        [
            (
                "gpt-3.5-turbo gpt-35-turbo gpt-3.5-turbo-0125 gpt-3.5-turbo-1106",
                (16_385, None, 4_096),
                None,
            ),
            ("gpt-3.5-turbo-0613", (4_096, None, None), None),
            ("gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613", (16_385, None, None), None),
        ],
    ),
    (
        "gpt-4",
        _CL100K,
        [
            ("gpt-4 gpt-4-0314 gpt-4-0613", (8_192, None, 8_192), None),
            ("gpt-4-32k gpt-4-32k-0314 gpt-4-32k-0613", (32_768, None, None), None),
            ("gpt-4-turbo gpt-4-vision-preview gpt-4-1106-vision-preview", _4_TURBO, _TILES),
            ("gpt-4-turbo-preview gpt-4-0125-preview gpt-4-1106-preview", _4_TURBO, None),
        ],
    ),
    (
        "gpt-4o",
        _O200K,
        [
            ("gpt-4o chatgpt-4o-latest gpt-4.5-preview", _4O, _TILES),
            ("gpt-4o-2024-05-13", _4_TURBO, _TILES),
            ("gpt-4o-mini", _4O, _TILES_4O_MINI),
        ],
    ),
    (
        "gpt-4.1",
        _O200K,
        [
            ("gpt-4.1", _4_1, _TILES),
            ("gpt-4.1-mini", _4_1, _PATCHES_162),
            ("gpt-4.1-nano", _4_1, _PATCHES_246),
        ],
    ),
    (
        "o",
        _O200K,
        [
            ("o1-preview", (128_000, None, 32_768), None),
            ("o1-mini", (128_000, None, 65_536), None),
            ("o1 o1-pro o3 o3-pro o3-deep-research", _O, _TILES_O),
            ("o3-mini", _O, None),
            ("o4-mini o4-mini-deep-research codex-mini-latest", _O, _PATCHES_172),
        ],
    ),
    (
        "gpt-5",
        _O200K,
        [
            ("gpt-5", _5, _TILES_5),
            ("gpt-5-chat-latest", _4O, _TILES_5),
            ("gpt-5.1-chat-latest gpt-5.2-chat-latest", _4O, _PATCHES_162),
            ("gpt-5-mini gpt-5-codex gpt-5.1 gpt-5.1-codex", _5, _PATCHES_162),
            ("gpt-5.1-codex-mini gpt-5.1-codex-max", _5, _PATCHES_162),
            ("gpt-5.2 gpt-5.2-pro gpt-5.2-codex gpt-5.3-codex", _5, _PATCHES_162),
            ("gpt-5-nano", _5, _PATCHES_246),
            ("gpt-5-pro", (400_000, 272_000, 272_000), _PATCHES_162),
            ("gpt-5.4-mini", _5, _PATCHES_54_MINI),
            ("gpt-5.4-nano", _5, _PATCHES_54_NANO),
            ("gpt-5.4 gpt-5.4-pro gpt-5.5 gpt-5.5-pro", _5_4, _PATCHES_54),
            ("gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna", _5_4, _PATCHES_56),
        ],
    ),
    (
        "gpt-oss",
        "o200k_harmony",
        [("gpt-oss-20b gpt-oss-120b", (131_072, None, 131_072), None)],
    ),
]


def _models() -> Iterator[Model]:
    for family, encoding, rows in _TABLE:
        for names, (window, most_input, longest), images in rows:
            low, most = images or (None, None)
            for name in names.split():
                yield Model(
                    name=name,
                    encoding=encoding,
                    family=family,
                    context_window=window,
                    max_input_tokens=most_input,
                    max_output_tokens=longest,
                    image_tokens=most,
                    low_image_tokens=low,
                )


_known = {model.name: model for model in _models()}

#: Who serves OpenAI's models under their own names, as routers and frameworks write it.
_PROVIDER = re.compile(
    r"(?:[\w.-]+/)*openai/|(?:azure|azure_ai|openrouter)/"
    r"|(?:openai|openai-chat|openai-responses|azure|azure_openai):",
    re.IGNORECASE,
)
_FINE_TUNED = re.compile(r"ft:([^:]+)(?::.*)?|(.+?)\.ft-.*", re.DOTALL)
#: A dated snapshot is the model itself. Any other ending makes another model.
_DATE = re.compile(r"-20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$")


def known_models() -> list[Model]:
    """Every model of the table, and those that were registered.

    >>> [model.name for model in known_models() if model.family == "gpt-4.1"]
    ['gpt-4.1', 'gpt-4.1-mini', 'gpt-4.1-nano']
    """
    return list(_known.values())


def register_model(model: Model) -> None:
    """Add a model of your own to the table, or correct one.

    A deployment's name can so be counted as the model behind it. What is registered holds for
    this process; a `Model` can also be passed wherever a model's name is taken.

    >>> register_model(Model(name="azure/our-gpt", encoding="o200k_base", context_window=32_000))
    >>> find_model("azure/our-gpt").context_window
    32000
    """
    _known[model.name] = model


def find_model(name: str) -> Model:
    """The model that `name` means: provider prefixes, fine-tunes and dates are seen through.

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
    if not isinstance(name, str):
        raise TypeError(
            f"a model is named by a str or given as a Model, not {type(name).__name__}"
        )
    asked = name.strip()
    for reading in _readings(asked):
        if found := _known.get(reading) or _known.get(reading.lower()):
            return found
    bare = [*_readings(asked[:100])][-1].lower()
    near = get_close_matches(bare, list(_known), n=3, cutoff=0.0)
    shown = asked if len(asked) <= 100 else f"{asked[:100]}…"
    raise UnknownModelError(
        f"no model {shown!r} in the model table of {AS_OF}; the nearest are {', '.join(near)}. "
        "Name one of those, pass or register a chatmem_lab.tokens.Model of your own "
        "(register_model), or count an estimate on purpose: "
        f"counter=counter({shown!r}, estimate=True)"
    )


def _readings(name: str) -> Iterator[str]:
    """The name, and then with less and less around the model's own name."""
    yield name
    if provider := _PROVIDER.match(name):
        name = name[provider.end() :]
        yield name
    if tuned := _FINE_TUNED.fullmatch(name):
        name = tuned[1] or tuned[2]
        yield name
    if dated := _DATE.search(name):
        yield name[: dated.start()]
