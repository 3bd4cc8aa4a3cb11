"""`summarizer_from`: a plain function as a summarizer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from chatmem_lab.errors import PolicyError, SummarizerError
from chatmem_lab.messages import Message, SummaryOf, Text
from chatmem_lab.summarizers.summarizer import Summary, SummaryRequest

__all__ = ["FunctionSummarizer", "summarizer_from"]

SummaryFunction = Callable[[Any], str | Summary | None]


@dataclass(frozen=True, repr=False)
class FunctionSummarizer:
    """A function as a summarizer. Build it with `summarizer_from`.

    Two are equal if their functions are. It can be pickled if its function can.
    """

    function: SummaryFunction
    takes_request: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "takes_request", _takes_request(self.function))

    def __repr__(self) -> str:
        return f"summarizer_from({_name(self.function)})"

    def summarize(self, request: SummaryRequest) -> Summary:
        """Call the function; None or a blank text becomes a failed summary.

        Raises
        ------
        SummarizerError
            If the function returns something else than a str, a `Summary` or None. What the
            function itself raises goes through.
        """
        given = self.function(request if self.takes_request else _messages(request))
        if given is None or isinstance(given, str):
            given = Summary(text=given)
        if not isinstance(given, Summary) or not isinstance(given.text, str | None):
            is_summary = isinstance(given, Summary)
            kind = type(given.text if is_summary else given).__name__
            what = f"a Summary with a text of type {kind}" if is_summary else f"a {kind}"
            raise SummarizerError(
                f"{_name(self.function)} returned {what}: return a str, a Summary or None"
            )
        if given.text is not None and not given.text.strip():
            return replace(given, text=None)
        return given


def summarizer_from(function: SummaryFunction) -> FunctionSummarizer:
    """A plain function as a summarizer.

    Its one argument decides what it gets. Named ``request``: the `SummaryRequest`. Named
    otherwise: the list of messages to fold; an earlier summary then stands in front, as an
    assistant message whose `summary` is set. It returns the text, a `Summary`, or None for a
    failure, which changes nothing.

    Examples
    --------
    >>> from chatmem_lab.messages import user
    >>> def first_words(messages):
    ...     return "; ".join(message.text[:10] for message in messages)
    >>> summarizer = summarizer_from(first_words)
    >>> request = SummaryRequest(messages=(user("I need a refund."), user("For A-117.")))
    >>> summarizer, summarizer.summarize(request).text
    (summarizer_from(first_words), 'I need a r; For A-117.')

    Parameters without a default beside the first are an error; set them with
    `functools.partial`.

    Raises
    ------
    PolicyError
        If `function` is no function of one argument, or an asynchronous one.
    """
    return FunctionSummarizer(function)


def _messages(request: SummaryRequest) -> list[Message]:
    if not (request.previous or "").strip():
        return list(request.messages)
    earlier = Message(
        "assistant", (Text(request.previous or ""),), summary=SummaryOf(), generated=False
    )
    return [earlier, *request.messages]


def _takes_request(function: SummaryFunction) -> bool:
    """Whether the function's one argument is named ``request``.

    Raises
    ------
    PolicyError
        If it is no function of one argument.
    """
    if not callable(function) or inspect.isclass(function):
        raise PolicyError(f"summarizer_from needs a function of one argument, not {function!r}")
    if inspect.iscoroutinefunction(function):
        raise PolicyError(
            f"summarizer_from: {_name(function)} is asynchronous, and nobody would await it: "
            "wrap it in a plain function that runs it"
        )
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Some functions written in C do not say what they take.
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    spread = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
    others = [p for p in parameters if p.default is p.empty and p.kind is p.KEYWORD_ONLY]
    others += [p for p in places[1:] if p.default is p.empty]
    if others or not (places or spread):
        names = ", ".join(p.name for p in parameters) or "nothing"
        raise PolicyError(
            f"summarizer_from needs a function of one argument, but {_name(function)} takes "
            f"{names}: name it messages or request, and set what else there is with "
            "functools.partial"
        )
    return bool(places) and places[0].name == "request"


def _name(function: object) -> str:
    if isinstance(function, partial):
        given = [repr(value) for value in function.args]
        given += [f"{name}={value!r}" for name, value in function.keywords.items()]
        return f"partial({', '.join([_name(function.func), *given])})"
    name = getattr(function, "__qualname__", None)
    return str(name).rpartition(".")[2] if name else repr(function)
