"""`langchain4j_formula`: tokens as LangChain4j's estimator for OpenAI models has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

from chatmem_lab.errors import MessageError, UnknownModelError
from chatmem_lab.html.text import begins
from chatmem_lab.messages import Message, Reasoning, Text, ToolCall
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.tokens.counting import Count, TokenCounter
from chatmem_lab.tokens.encodings import count_texts

__all__ = ["LangChain4jFormula", "langchain4j_formula"]

_MESSAGE, _NAME = 4, 1
_ONE_CALL = 5
_SEVERAL_CALLS, _EACH_CALL, _ARGUMENT = 21, 7, 2
_O4_ASSISTANT = 2
_LIST, _O_LIST = 3, 2

#: How the names of models begin that it knows, and their encodings; the first that fits holds.
_ENCODINGS = {
    "o": "o200k_base",
    "gpt-4.": "o200k_base",
    "gpt-4o": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
}


class LangChain4jFormula:
    """Counts that reproduce another system's, so every one is an estimate.

    `langchain4j_formula` makes it, and has the formula.
    """

    def __init__(self, model: str, encode: Callable[[str], int] | None) -> None:
        self._encoding = _encoding(model)
        self._encode = encode
        self.model: str | None = model
        self.name = f"LangChain4j's formula for {model}"
        self.request_tokens = _O_LIST if model.startswith("o") else _LIST
        self._assistant = _O4_ASSISTANT if model.startswith("o4") else 0

    def count_text(self, text: str) -> Count:
        """The tokens of a text alone."""
        return Count(self._count_texts([text])[0], "estimate")

    def count_message(self, message: Message) -> Count:
        """The tokens of a message, with what the formula adds."""
        return self.count_messages([message])[0]

    def count_messages(self, messages: Sequence[Message]) -> list[Count]:
        """The same for many, each distinct text once, in one batch."""
        rows = [self._pieces(message) for message in messages]
        distinct = list(dict.fromkeys(text for texts, _ in rows for text in texts))
        tokens = dict(zip(distinct, self._count_texts(distinct), strict=True))
        return [
            Count(fixed + sum(tokens[text] for text in texts), "estimate") for texts, fixed in rows
        ]

    def count_tools(self, tools: Sequence[Mapping[str, Any]]) -> Count:
        """0, a lower bound: the formula leaves tool schemas out."""
        return Count(0, "lower_bound") if tools else Count(0)

    def _count_texts(self, texts: Sequence[str]) -> list[int]:
        if self._encode is None:
            return count_texts(texts, self._encoding)
        return [self._encode(normalised(text)) for text in texts]

    def _pieces(self, message: Message) -> tuple[list[str], int]:
        """Texts to count, and tokens beside them."""
        texts = _texts(message)
        fixed = _MESSAGE
        if message.role == "user" and message.name is not None:
            texts.append(message.name)
            fixed += _NAME
        if message.role == "assistant":
            fixed += self._assistant
        if len(message.tool_calls) == 1:
            (call,) = message.tool_calls
            texts += [call.name, call.name, call.arguments]
            fixed += _ONE_CALL
        elif message.tool_calls:
            fixed += _SEVERAL_CALLS
            for call in message.tool_calls:
                arguments = _arguments(call)
                texts += [call.name, *arguments]
                fixed += _EACH_CALL + _ARGUMENT * (len(arguments) // 2)
        return texts, fixed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LangChain4jFormula):
            return NotImplemented
        return (self.model, self._encode) == (other.model, other._encode)

    def __hash__(self) -> int:
        return hash((self.model, self._encode))

    def __repr__(self) -> str:
        return f"<LangChain4jFormula {self.model}>"


def langchain4j_formula(
    model: str = "gpt-4o-mini", *, encode: Callable[[str], int] | None = None
) -> TokenCounter:
    """The counts of LangChain4j 1.20's ``OpenAiTokenCountEstimator``.

    For numbers that agree with a system in use; `counter` is nearer to what OpenAI bills.

    Parameters
    ----------
    model : str
        Names that begin with ``o``, ``gpt-4.``, ``gpt-4o`` or ``gpt-5`` count with
        o200k_base, others that begin with ``gpt-4`` or ``gpt-3.5-turbo`` with cl100k_base.
    encode : callable, optional
        Gives the tokens of a text, in place of the encoding.

    Raises
    ------
    UnknownModelError
        For any other name.
    MessageError
        When counting: for an image or another part that is no text, a tool result that is
        not one text, and several calls of which one has arguments that are no JSON object.

    Notes
    -----
    A message is 4 and its texts; a user's name is 1 and its tokens. One call is 5, twice its
    name, and its raw arguments. Several calls are 21, and each 7, its name, and for each
    argument 2, its key and its value as Java writes it; blank arguments are none. Models that
    begin with ``o4`` have 2 more for each assistant message. A list of messages is 3 more, 2
    with models that begin with ``o``. Reasoning and tool schemas count nothing, and other
    names nothing either.

    Examples
    --------
    >>> from chatmem_lab.messages import user
    >>> words = langchain4j_formula(encode=lambda text: len(text.split()))
    >>> words.count_message(user("Where is the nearest library", name="Mira"))
    Count(tokens=11, kind='estimate')
    >>> langchain4j_formula("deepseek-chat")
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.UnknownModelError: LangChain4j's formula has no model 'deepseek-chat'...
    """
    return LangChain4jFormula(model, encode)


def _encoding(model: str) -> str:
    for beginning, encoding in _ENCODINGS.items():
        if isinstance(model, str) and model.startswith(beginning):
            return encoding
    raise UnknownModelError(
        f"LangChain4j's formula has no model {model!r}: it knows names that begin with "
        f"{', '.join(_ENCODINGS)}. Name one of those, or count with "
        f"chatmem_lab.tokens.counter({model!r}, estimate=True)"
    )


def _texts(message: Message) -> list[str]:
    parts = [part for part in message.parts if not isinstance(part, Reasoning)]
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) < len(parts):
        found = next(type(part).__name__.lower() for part in parts if not isinstance(part, Text))
        _refuse(message, f"holds a part of kind {found}")
    if message.role == "tool" and len(texts) > 1:
        _refuse(message, f"holds {len(texts)} texts")
    return texts


def _refuse(message: Message, what: str) -> NoReturn:
    wanted = "one text as a tool result" if message.role == "tool" else "text only"
    raise MessageError(
        f"LangChain4j's formula counts {wanted}: the {message.kind} message "
        f"{begins(message.text, 60)!r} {what}. Leave it out, or count with "
        "chatmem_lab.tokens.counter"
    )


def _arguments(call: ToolCall) -> list[str]:
    """Keys and values, in turn."""
    if not call.arguments.strip():
        return []
    try:
        arguments = json.loads(call.arguments, parse_constant=_refuse_constant)
        if isinstance(arguments, dict):
            return [text for item in arguments.items() for text in map(_as_java_writes, item)]
        why = "are JSON, but no object"
    except ValueError as error:
        why = f"are no JSON ({error})"
    except RecursionError:
        why = "are nested too deeply"
    raise MessageError(
        "LangChain4j's formula reads the arguments of a message with several calls as a JSON "
        f"object: those of call {begins(call.id, 60)!r} ({begins(call.name, 60)}) {why}: "
        f"{begins(call.arguments, 60)!r}. Correct them, or count with chatmem_lab.tokens.counter"
    )


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def _as_java_writes(value: Any) -> str:
    match value:
        case str():
            return value
        case bool() | None:
            return json.dumps(value)
        case float():
            return _float_as_java_writes(value)
        case list():
            return f"[{', '.join(map(_as_java_writes, value))}]"
        case dict():
            items = (f"{key}={_as_java_writes(inner)}" for key, inner in value.items())
            return f"{{{', '.join(items)}}}"
    return str(value)


def _float_as_java_writes(number: float) -> str:
    if abs(number) == float("inf"):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return repr(number)
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    rest = "".join(map(str, digits[1:])) or "0"
    power = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{digits[0]}.{rest}E{power}"
