"""`counter`: what a request costs a model, message by message, as OpenAI counts it.

Plain text messages follow OpenAI's documented formula and are exact. What a tool call and a
tool schema cost beside their text is not documented: those counts are estimates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
)
from chatmem_lab.tokens.counting import Count, TokenCounter, weakest
from chatmem_lab.tokens.encodings import count_texts
from chatmem_lab.tokens.models import Model, find_model

__all__ = ["OpenAICounter", "counter", "default_counter"]

#: Each message is framed by 3 tokens and names its role in 1; a name costs 1 beside its text.
_MESSAGE, _NAME = 4, 1
#: What frames each tool call beside its name and arguments: assumed to be as for a message.
_CALL = 3
#: OpenAI's cookbook on tools, for gpt-4o; older encodings take 10 for a function.
_FUNCTION, _OLD_FUNCTION, _END = 7, 10, 12
_PROPERTIES, _PROPERTY, _ENUM, _ENUM_ITEM = 3, 3, -3, 3

#: Whose images cost what, where no model is named: the dearest of the table.
_ESTIMATE = Model(name="", encoding="o200k_base", image_tokens=48_169, low_image_tokens=3_779)


class OpenAICounter:
    """Counts for one OpenAI model, or with its encoding for another as an estimate.

    Parameters
    ----------
    model : Model
    estimate : bool
        Whether every count is only an estimate.

    Notes
    -----
    A message is 3 tokens, 1 for its role, and its text; a name 1 and its text; a tool call
    3, its name and its raw arguments (an estimate). Each request has 3 more, which prime the
    reply. Images are an upper bound from the model table, never their base64 text; sound,
    files and what is not modelled leave a lower bound.
    """

    request_tokens = 3

    def __init__(self, model: Model, *, estimate: bool = False) -> None:
        self._model = model
        self._estimate = estimate
        self.model: str | None = model.name or None
        kind = ", estimate" if estimate else ""
        self.name = f"{model.name or 'any model'} ({model.encoding}{kind})"

    @property
    def encoding(self) -> str:
        """The tokenizer's vocabulary."""
        return self._model.encoding

    def count_text(self, text: str) -> Count:
        """The tokens of a text alone."""
        return self._count(count_texts([text], self.encoding)[0], "exact")

    def count_message(self, message: Message) -> Count:
        """The tokens of a message, with what frames it."""
        parts = message.parts
        if len(parts) == 1 and type(parts[0]) is Text and _is_plain(message):
            return self._count(_MESSAGE + count_texts((parts[0].text,), self.encoding)[0], "exact")
        return self.count_messages([message])[0]

    def count_messages(self, messages: Sequence[Message]) -> list[Count]:
        """The same for many, each distinct text once, in one batch."""
        places: dict[str, int] = {}
        rows: list[tuple[list[int], int, str]] = []
        for message in messages:
            parts = message.parts
            if len(parts) == 1 and type(parts[0]) is Text and _is_plain(message):
                rows.append(([places.setdefault(parts[0].text, len(places))], _MESSAGE, "exact"))
                continue
            texts, extra, kinds = self._pieces(message)
            where = [places.setdefault(text, len(places)) for text in texts]
            rows.append((where, _MESSAGE + extra, weakest(kinds)))
        counted = count_texts(list(places), self.encoding)
        return [
            self._count(fixed + sum(counted[i] for i in where), kind)
            for where, fixed, kind in rows
        ]

    def count_tools(self, tools: Sequence[Mapping[str, Any]]) -> Count:
        """The tokens of tool schemas: an estimate."""
        if not tools:
            return Count(0)
        function = _OLD_FUNCTION if self.encoding == "cl100k_base" else _FUNCTION
        texts: list[str] = []
        fixed = _END
        for tool in tools:
            described = tool.get("function")
            if isinstance(described, Mapping):
                fixed += function
                texts.append(_described(described))
                fixed += _schema(described.get("parameters"), texts)
            else:
                texts.append(msgspec.json.encode(dict(tool)).decode())
        total = sum(count_texts(texts, self.encoding)) + fixed
        return Count(total, "estimate")

    def _count(self, tokens: int, kind: str) -> Count:
        return Count(tokens, weakest((kind, "estimate")) if self._estimate else kind)

    def _pieces(self, message: Message) -> tuple[list[str], int, set[str]]:
        """Texts to count, tokens beside them, and how sure each part is."""
        texts: list[str] = []
        extra = 0
        kinds = {"exact"}
        for part in message.parts:
            match part:
                case Text(text) | Refusal(text):
                    texts.append(text)
                case Image(detail=detail):
                    low = detail == "low"
                    extra += self._model.low_image_tokens if low else self._model.image_tokens
                    kinds.add("upper_bound")
                case Reasoning(text=text):
                    texts.append(text)
                    kinds.add("estimate" if text else "lower_bound")
                case Audio(transcript=transcript):
                    texts.append(transcript or "")
                    kinds.add("lower_bound")
                case File() | Opaque():
                    kinds.add("lower_bound")
        if message.name and message.role != "tool":
            texts.append(message.name)
            extra += _NAME
        for call in message.tool_calls:
            texts += [call.name, call.arguments]
            extra += _CALL
            kinds.add("estimate")
        return texts, extra, kinds

    def __repr__(self) -> str:
        return f"<OpenAICounter {self.name}>"


def counter(model: str | Model, *, estimate: bool = False) -> TokenCounter:
    """The counter of a model.

    Parameters
    ----------
    model : str or Model
        A name of the model table; provider prefixes, dates and fine-tunes are seen through.
    estimate : bool
        Count a model that the table does not have with o200k_base, every count an estimate.

    Raises
    ------
    UnknownModelError
        For an unknown name without `estimate`: no model is silently counted as another.

    Examples
    --------
    >>> from chatmem_lab.messages import system
    >>> counter("gpt-4o").count_message(system("Be brief."))
    Count(tokens=7, kind='exact')
    """
    if isinstance(model, Model):
        return OpenAICounter(model, estimate=estimate)
    if not estimate:
        return OpenAICounter(find_model(model))
    return OpenAICounter(msgspec.structs.replace(_ESTIMATE, name=model), estimate=True)


def default_counter() -> TokenCounter:
    """The counter where no model is named: o200k_base, every count an estimate.

    >>> default_counter().count_text("hello world")
    Count(tokens=2, kind='estimate')
    """
    return OpenAICounter(_ESTIMATE, estimate=True)


def _is_plain(message: Message) -> bool:
    return not message.tool_calls and (not message.name or message.role == "tool")


def _described(function: Mapping[str, Any]) -> str:
    described = str(function.get("description") or "").rstrip(".")
    return f"{function.get('name', '')}:{described}"


def _schema(schema: Any, texts: list[str]) -> int:
    """Fixed tokens of a schema's properties, nested ones too; their texts go to `texts`."""
    fixed = 0
    for properties in _properties(schema):
        fixed += _PROPERTIES
        for name, declared in properties.items():
            fixed += _PROPERTY
            described = declared if isinstance(declared, Mapping) else {}
            enum = described.get("enum")
            if isinstance(enum, Sequence) and not isinstance(enum, str):
                fixed += _ENUM + _ENUM_ITEM * len(enum)
                texts += [str(item) for item in enum]
            about = str(described.get("description") or "").rstrip(".")
            texts.append(f"{name}:{described.get('type', '')}:{about}")
    return fixed


def _properties(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The property lists of a schema and of all schemas inside it, without recursion."""
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Mapping):
            properties = current.get("properties")
            if isinstance(properties, Mapping) and properties:
                yield properties
                waiting.extend(properties.values())
            waiting.extend(
                current[key] for key in ("items", "anyOf", "oneOf", "allOf") if key in current
            )
        elif isinstance(current, list):
            waiting.extend(current)
