"""Tool schemas: the texts that a model sees of them, and the tokens beside those texts.

OpenAI rewrites schemas before the model sees them and does not document how. Its cookbook
gives a formula for plain functions that met the bill for gpt-3.5-turbo, gpt-4 and gpt-4o in
2024; here it is carried on to nested schemas. What comes of it is an estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["tool_schema_pieces"]

_END = 12
_PROPERTIES, _PROPERTY, _ENUM, _ENUM_ITEM = 3, 3, -3, 3

#: Where a schema holds other schemas: one or a list of them; a mapping of them.
_INSIDE = ("items", "prefixItems", "additionalProperties", "anyOf", "oneOf", "allOf", "not")
_INSIDE_NAMED = ("$defs", "definitions", "patternProperties")


def tool_schema_pieces(
    tools: Sequence[Mapping[str, Any]], *, function_tokens: int
) -> tuple[list[str], int]:
    """The texts to count of tool schemas, and the tokens beside them.

    Parameters
    ----------
    tools : sequence of mapping
        As in OpenAI's Chat Completions or Responses; anything else counts as its own text.
    function_tokens : int
        What a function costs beside its texts: 7, with older encodings 10.

    Notes
    -----
    A function: `function_tokens`, and the text ``name:description``. Where it has properties:
    3, and for each 3 and the text ``name:type:description``; an enum: −3, and for each item 3
    and its text. One full stop at the end of a description is dropped. All tools together: 12.

    Examples
    --------
    >>> declared = {"type": "object", "properties": {"city": {"type": "string"}}}
    >>> function = {"name": "weather", "description": "Now.", "parameters": declared}
    >>> tool_schema_pieces([{"type": "function", "function": function}], function_tokens=7)
    (['weather:Now', 'city:string:'], 25)
    """
    if not tools:
        return [], 0
    texts: list[str] = []
    fixed = _END
    for tool in tools:
        function = tool.get("function", tool)
        if isinstance(function, Mapping) and "name" in function and _is_function(tool):
            fixed += function_tokens
            texts.append(f"{_plain(function['name'])}:{_description(function)}")
            fixed += _schema(function.get("parameters"), texts)
        else:
            texts.append(_plain(tool))
    return texts, fixed


def _is_function(tool: Mapping[str, Any]) -> bool:
    return "function" in tool or tool.get("type") == "function"


def _schema(schema: Any, texts: list[str]) -> int:
    """Tokens beside the texts of a schema and of all inside it; not recursive: it may be deep."""
    fixed = 0
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if isinstance(current, list):
            waiting += current
        if not isinstance(current, Mapping):
            continue
        enum = current.get("enum")
        if isinstance(enum, list) and enum:
            fixed += _ENUM + _ENUM_ITEM * len(enum)
            texts += map(_plain, enum)
        properties = current.get("properties")
        if isinstance(properties, Mapping) and properties:
            fixed += _PROPERTIES + _PROPERTY * len(properties)
            texts += (_property(name, declared) for name, declared in properties.items())
            waiting += properties.values()
        waiting += [current[key] for key in _INSIDE if key in current]
        for key in _INSIDE_NAMED:
            if isinstance(current.get(key), Mapping):
                waiting += current[key].values()
    return fixed


def _property(name: str, declared: Any) -> str:
    if not isinstance(declared, Mapping):
        return f"{name}::"
    return f"{name}:{_plain(declared.get('type'))}:{_description(declared)}"


def _description(described: Mapping[str, Any]) -> str:
    return _plain(described.get("description")).removesuffix(".")


def _plain(value: Any) -> str:
    """A text as it is; anything else as the words in it, without recursion."""
    if isinstance(value, str):
        return value
    words: list[str] = []
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Mapping):
            waiting += [word for pair in reversed([*current.items()]) for word in reversed(pair)]
        elif isinstance(current, list | tuple):
            waiting += reversed(current)
        elif current is not None:
            words.append(str(current))
    return ", ".join(words)
