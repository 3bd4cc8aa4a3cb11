"""`check_counter`: what a counter promises, tried on texts and on generated messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings

from chatmem_lab.errors import ChatMemLabError
from chatmem_lab.html.text import begins
from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.testing.strategies import message_lists
from chatmem_lab.tokens import COUNT_KINDS, Count, TokenCounter

__all__ = ["check_counter"]

_METHODS = ("count_text", "count_message", "count_messages", "count_tools")

_TEXTS = (
    "hello world",
    " \n\t",
    "订单A-117坏了。",
    "👩‍👩‍👧‍👦🇩🇪",
    "e\u0301" * 50,
    "half a pair \ud83d",
    "a NUL \0",
    "<|endoftext|>",
    "x" * 10_000,
)

#: Messages of text alone, which every counter counts.
_PLAIN = tuple(
    message
    for text in _TEXTS
    for message in (system(text), user(text), assistant(text), tool_output("c1", text))
)

#: What a counter may refuse.
_OTHER = (
    user("who", name="Mira\ud83d"),
    Message("user"),
    Message("user", (Text("one"), Text("two"))),
    Message("tool", (Text("one"), Text("two")), tool_call_id="c1"),
    assistant(tool_calls=[ToolCall("c1", "look")]),
    assistant(tool_calls=[ToolCall("c1", "look", '{"q": 1}'), ToolCall("c2", "\ud83d", "{\0")]),
    *(
        Message(role, (part,))
        for role in ("user", "assistant")
        for part in (
            Image("https://example.org/a.png", "low"),
            Image("data:image/png;base64,iVBORw0KGgo="),
            File("a.pdf", file_id="f1"),
            Audio("UklGRg==", transcript="hello"),
            Reasoning("hm", signature="sealed"),
            Refusal("no"),
            Opaque("video", '{"a": 1}'),
        )
    ),
)

_TOOLS = (
    {"type": "function", "function": {"name": "look"}},
    {
        "type": "function",
        "name": "find",
        "description": "Finds.",
        "parameters": {"type": "object", "properties": {"q": {"enum": ["a", 1, None]}}},
    },
    {"type": "web_search"},
)


def check_counter(counter: TokenCounter, *, examples: int = 100) -> None:
    """Hold a counter to what windows and budgets are built on.

    It has a `name`, a `model` (or None), and `request_tokens`. Every count is a `Count` of a
    known kind, never below 0, and the same twice. Nothing counts 0: the empty text, no tools;
    and a longer text counts no less than its beginning. `count_messages` counts each message
    as `count_message` does. Any text is counted, lone surrogates and NUL too. A message that
    holds more than text may be refused, with an error of this package.

    Parameters
    ----------
    counter : TokenCounter
    examples : int
        How many lists of messages are generated.

    Raises
    ------
    AssertionError
        Saying what was promised, and on what it was broken.

    Examples
    --------
    >>> from chatmem_lab.tokens import counter
    >>> check_counter(counter("gpt-4o"), examples=10)
    """
    _check_attributes(counter)
    _check_texts(counter)
    _check_tools(counter)
    _check_messages(counter, _PLAIN, may_refuse=False)
    _check_messages(counter, _OTHER)

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(messages=message_lists())
    def on_generated(messages: list[Message]) -> None:
        _check_messages(counter, messages)

    on_generated()


def _check_attributes(counter: TokenCounter) -> None:
    for method in _METHODS:
        assert callable(getattr(counter, method, None)), f"{counter!r} has no method {method}"
    name = getattr(counter, "name", None)
    assert _says_something(name), (
        f"{counter!r}: name is {name!r}; it is a text that says what counts"
    )
    model = getattr(counter, "model", "")
    assert model is None or _says_something(model), (
        f"{counter!r}: model is {model!r}; it is a model's name, or None"
    )
    tokens = getattr(counter, "request_tokens", None)
    assert _is_amount(tokens), (
        f"{counter!r}: request_tokens is {tokens!r}; it is an int, at least 0"
    )


def _check_texts(counter: TokenCounter) -> None:
    empty = _counted(counter, "count_text", "")
    assert empty.tokens == 0, f'{counter!r}: count_text("") is {empty}; no text is 0 tokens'
    for text in _TEXTS:
        _counted(counter, "count_text", text)
    shorter, longer = (
        _counted(counter, "count_text", "All of it matters. " * times) for times in (50, 100)
    )
    assert 0 < shorter.tokens <= longer.tokens, (
        f"{counter!r}: a text of 200 words is {shorter}, the same text twice is {longer}; "
        "a longer text counts no less, and words are not free"
    )


def _check_tools(counter: TokenCounter) -> None:
    none = _counted(counter, "count_tools", ())
    assert none.tokens == 0, f"{counter!r}: count_tools([]) is {none}; no tools are 0 tokens"
    _counted(counter, "count_tools", _TOOLS)


def _check_messages(
    counter: TokenCounter, messages: Sequence[Message], *, may_refuse: bool = True
) -> None:
    accepted: list[Message] = []
    expected: list[Count] = []
    for message in messages:
        try:
            expected.append(_counted(counter, "count_message", message))
        except ChatMemLabError as error:
            if not may_refuse:
                raise AssertionError(
                    f"{counter!r}: count_message({_shown(message)}) was refused; a message of "
                    "text alone is counted"
                ) from error
            _check_list_is_refused(counter, message)
        else:
            accepted.append(message)
    counts = _answer(counter, "count_messages", accepted)
    assert [type(count) for count in counts] == [Count] * len(accepted), (
        f"{counter!r}: count_messages of {len(accepted)} messages is {_shown(counts)}; "
        "it has a Count for each"
    )
    for message, one, count in zip(accepted, expected, counts, strict=True):
        assert count == one, (
            f"{counter!r}: in count_messages {_shown(message)} is {count!r}, by "
            f"count_message it is {one!r}; both are the same"
        )


def _check_list_is_refused(counter: TokenCounter, message: Message) -> None:
    try:
        counts = _answer(counter, "count_messages", [user("hi"), message])
    except ChatMemLabError:
        return
    raise AssertionError(
        f"{counter!r}: count_message refuses {_shown(message)}, but in count_messages it is "
        f"{_shown(counts)}; both refuse it"
    )


def _counted(counter: TokenCounter, method: str, what: Any) -> Count:
    count, again = _answer(counter, method, what), _answer(counter, method, what)
    where = f"{counter!r}: {method}({_shown(what)})"
    assert isinstance(count, Count), f"{where} is {count!r}; it is a Count(tokens, kind)"
    assert _is_amount(count.tokens), f"{where} is {count!r}; tokens are an int, at least 0"
    assert count.kind in COUNT_KINDS, (
        f"{where} is {count!r}; the kind of a count is one of {', '.join(COUNT_KINDS)}"
    )
    assert count == again, f"{where} is {count!r}, and then {again!r}; it is the same each time"
    return count


def _answer(counter: TokenCounter, method: str, what: Any) -> Any:
    ask: Callable[[Any], Any] = getattr(counter, method)
    try:
        return ask(what)
    except ChatMemLabError:
        if method in ("count_text", "count_tools"):
            raise AssertionError(
                f"{counter!r}: {method}({_shown(what)}) was refused; it is counted"
            ) from None
        raise
    except Exception as error:
        raise AssertionError(
            f"{counter!r}: {method}({_shown(what)}) raised {type(error).__name__}: {error}; "
            "count it, or refuse the message with an error of chatmem_lab.errors"
        ) from error


def _says_something(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _is_amount(tokens: object) -> bool:
    return isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0


def _shown(what: object) -> str:
    return begins(ascii(what), 120)
