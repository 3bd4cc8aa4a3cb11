"""`counter`: what a request costs a model, message by message, as OpenAI counts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chatmem_lab.errors import UnknownModelError
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
from chatmem_lab.tokens.tool_schemas import tool_schema_pieces
from chatmem_lab.tokens.vocabularies import check_encoding

__all__ = ["OpenAICounter", "counter", "default_counter"]

#: Each message is framed by 3 tokens and names its role in 1; a name costs 1 beside its text.
_MESSAGE, _NAME = 4, 1
#: What frames each tool call beside its name and arguments: assumed to be as for a message.
_CALL = 3
#: A function in a tool schema, with the older encoding and with the newer ones.
_OLD_FUNCTION, _FUNCTION = 10, 7
#: An image where no bound is known: gpt-4o's, so that it weighs something; of kind "unknown".
_UNKNOWN_IMAGE = 1_445

#: Families whose frame of plain messages is another one, or not OpenAI's to say.
_ASSUMED_MESSAGES = frozenset({"completions", "gpt-oss"})
#: Families that frame tool results by more than other messages: recorded usage of gpt-5.4-mini
#: shows 8 tokens and the tool's name more for a call and its result together.
_ASSUMED_RESULTS = _ASSUMED_MESSAGES | {"gpt-5", "o"}


class OpenAICounter:
    """Counts for one OpenAI model, or with its encoding for another as an estimate.

    Parameters
    ----------
    model : Model
    estimate : bool
        Whether every count is only an estimate.

    Raises
    ------
    EncodingError
        If there is no such encoding.

    Notes
    -----
    A message is 3 tokens, 1 for its role, and the tokens of its texts; a name is 1 and its
    tokens (the name on a tool result is not sent and costs nothing). Each request has 3 more,
    which prime the reply. OpenAI's cookbook documents this for the models up to gpt-4o, and
    recorded usage of gpt-4o-mini and gpt-4.1 meets it to the token; for later models it is
    the same formula. So plain text is ``exact``, tool results included, save for families that
    are known to frame them otherwise (o, gpt-5: ``estimate``).

    A tool call is 3 tokens, its name and its raw arguments; what really frames it is not
    documented: an ``estimate``, as are tool schemas (`tool_schema_pieces` has the formula) and
    readable reasoning. An image is an ``upper_bound`` from the model table, or ``unknown``; its
    base64 is never counted as text. Sound, files, sealed reasoning and what is not modelled
    add what is readable of them, and make the count a ``lower_bound``.

    Counters can be shared between threads, pickled, and compared.

    Examples
    --------
    >>> from chatmem_lab.messages import ToolCall, assistant
    >>> call = ToolCall("call_1", "get_weather", '{"city":"Oslo"}')
    >>> counter("gpt-4o").count_message(assistant(tool_calls=[call]))
    Count(tokens=15, kind='estimate')
    """

    request_tokens = 3

    def __init__(self, model: Model, *, estimate: bool = False) -> None:
        check_encoding(model.encoding)
        self._model = model
        self._estimate = estimate
        self.model: str | None = model.name or None
        self._plain = "estimate" if model.family in _ASSUMED_MESSAGES else "exact"
        self._result = "estimate" if model.family in _ASSUMED_RESULTS else "exact"
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
            kind = self._result if message.role == "tool" else self._plain
            return self._count(_MESSAGE + count_texts((parts[0].text,), self.encoding)[0], kind)
        return self.count_messages([message])[0]

    def count_messages(self, messages: Sequence[Message]) -> list[Count]:
        """The same for many, each distinct text once, in one batch."""
        places: dict[str, int] = {}
        rows: list[tuple[list[int], int, str]] = []
        for message in messages:
            kind = self._result if message.role == "tool" else self._plain
            parts = message.parts
            if len(parts) == 1 and type(parts[0]) is Text and _is_plain(message):
                rows.append(([places.setdefault(parts[0].text, len(places))], _MESSAGE, kind))
                continue
            texts, extra, kinds = self._pieces(message)
            where = [places.setdefault(text, len(places)) for text in texts]
            rows.append((where, _MESSAGE + extra, weakest((kind, *kinds))))
        counted = count_texts(list(places), self.encoding)
        return [
            self._count(fixed + sum(counted[i] for i in where), kind)
            for where, fixed, kind in rows
        ]

    def count_tools(self, tools: Sequence[Mapping[str, Any]]) -> Count:
        """The tokens of tool schemas: an estimate."""
        old = self.encoding == "cl100k_base"
        texts, fixed = tool_schema_pieces(
            tools, function_tokens=_OLD_FUNCTION if old else _FUNCTION
        )
        if not texts:
            return Count(0)
        return Count(fixed + sum(count_texts(texts, self.encoding)), "estimate")

    def _count(self, tokens: int, kind: str) -> Count:
        return Count(tokens, weakest((kind, "estimate")) if self._estimate else kind)

    def _pieces(self, message: Message) -> tuple[list[str], int, set[str]]:
        """Texts to count, tokens beside them, and how sure each part is."""
        texts: list[str] = []
        extra = 0
        kinds: set[str] = set()
        for part in message.parts:
            match part:
                case Text(text) | Refusal(text):
                    texts.append(text)
                case Image(detail=detail):
                    tokens, kind = self._image(detail)
                    extra += tokens
                    kinds.add(kind)
                case Reasoning(text=text, signature=signature):
                    texts.append(text)
                    kinds.add("lower_bound" if signature and not text else "estimate")
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

    def _image(self, detail: str | None) -> tuple[int, str]:
        model = self._model
        tokens = model.low_image_tokens if detail == "low" else model.image_tokens
        return (_UNKNOWN_IMAGE, "unknown") if tokens is None else (tokens, "upper_bound")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpenAICounter):
            return NotImplemented
        return (self._model, self._estimate) == (other._model, other._estimate)

    def __hash__(self) -> int:
        return hash((self._model, self._estimate))

    def __repr__(self) -> str:
        return f"<OpenAICounter {self.name}>"


def counter(model: str | Model, *, estimate: bool = False) -> TokenCounter:
    """The counter of a model.

    Parameters
    ----------
    model : str or Model
        A name of the model table; provider prefixes, dates and fine-tunes are seen through.
        Or a model of your own.
    estimate : bool
        Count a model that the table does not have with o200k_base, every count an estimate;
        likewise a `Model` of your own whose encoding only comes near.

    Raises
    ------
    UnknownModelError
        For an unknown name without `estimate`: no model is silently counted as another.

    Examples
    --------
    >>> from chatmem_lab.messages import system
    >>> counter("gpt-4o").count_message(system("Be brief."))
    Count(tokens=7, kind='exact')
    >>> counter("deepseek-chat", estimate=True).count_text("hello world")
    Count(tokens=2, kind='estimate')
    """
    if isinstance(model, Model):
        return OpenAICounter(model, estimate=estimate)
    try:
        return OpenAICounter(find_model(model))
    except UnknownModelError:
        if not estimate:
            raise
    return OpenAICounter(Model(name=model, encoding="o200k_base"), estimate=True)


def default_counter() -> TokenCounter:
    """The counter where no model is named: o200k_base, every count an estimate.

    >>> default_counter().count_text("hello world")
    Count(tokens=2, kind='estimate')
    """
    return OpenAICounter(Model(name="", encoding="o200k_base"), estimate=True)


def _is_plain(message: Message) -> bool:
    return not message.tool_calls and (not message.name or message.role == "tool")
