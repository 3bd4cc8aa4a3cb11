"""`check_summarizer`: what a summarizer promises, tried on requests of every odd kind."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from msgspec.structs import replace

from chatmem_lab.errors import SummarizerError
from chatmem_lab.messages import ToolCall as Call
from chatmem_lab.messages import Usage, assistant, tool_output, user
from chatmem_lab.summarizers import Summarizer, Summary, SummaryRequest

__all__ = ["REQUESTS", "check_summarizer"]

_ORDINARY = (
    user("Hi, I'd like a refund for order A-117. It arrived broken on May 12."),
    assistant("I am sorry to hear that. Let me look it up."),
    assistant(tool_calls=[Call("call_1", "find_order", '{"order_id": "A-117"}')]),
    tool_output("call_1", '{"order_id": "A-117", "total": "42.50 EUR", "paid": true}'),
    assistant("Order A-117 was 42.50 EUR. I can refund it to your card."),
)

#: What is tried, by name.
REQUESTS: dict[str, SummaryRequest] = {
    "an ordinary conversation": SummaryRequest(session_id="s1", messages=_ORDINARY),
    "an ordinary conversation with an earlier summary, a limit and instructions": SummaryRequest(
        session_id="s1",
        previous="Ann (ann@example.org) ordered a lamp.",
        messages=_ORDINARY,
        max_tokens=64,
        instructions="Keep {every} amount; 100 %s.",
    ),
    "no messages": SummaryRequest(),
    "no messages, but an earlier summary": SummaryRequest(previous="Ann ordered a lamp."),
    "a message that says nothing": SummaryRequest(messages=(user(""), user(" \n\t"))),
    "only punctuation": SummaryRequest(messages=(user("..."), assistant("?!"), user("—"))),
    "Chinese and Japanese": SummaryRequest(
        messages=(
            user("订单A-117在5月12日到了，但是坏了。"),
            assistant("申し訳ございません。３，２００円です。"),
        )
    ),
    "right to left, combining marks, emoji": SummaryRequest(
        messages=(user("الطلب رقم ١١٧ مكسور"), user("e\u0301" * 50), user("👩‍👩‍👧‍👦🇩🇪👍🏽" * 20))
    ),
    "half a surrogate pair and a NUL": SummaryRequest(messages=(user("a\ud83d b\x00c"),)),
    "braces, percent signs and markup": SummaryRequest(
        messages=(user("{name} {0} {{x}} %s %(y)d </script><b> \\ ${HOME}"),)
    ),
    "one very long word": SummaryRequest(messages=(user("x" * 200_000),)),
    "very long messages": SummaryRequest(
        messages=(user("All of it matters. " * 10_000), assistant("Indeed. " * 10_000))
    ),
    "many short messages": SummaryRequest(messages=(user("yes"), assistant("no")) * 500),
    "calls without text": SummaryRequest(
        messages=(
            assistant(tool_calls=[Call("c1", "list"), Call("c2", "read", '{"path": "/tmp/a"}')]),
            tool_output("c2", ""),
            tool_output("c1", "not found", is_error=True),
        )
    ),
    "an image and recorded facts": SummaryRequest(
        messages=(
            replace(
                user(images=["https://example.org/a.png"], metadata={"tags": ["a"]}),
                extra={"source": {"line": 1}},
            ),
        )
    ),
}


def check_summarizer(
    summarizer: Summarizer, *, requests: Mapping[str, SummaryRequest] = REQUESTS
) -> None:
    """Hold a summarizer to what the keeper expects of it.

    For whatever it is asked it answers a `Summary`, or raises `SummarizerError`, and nothing
    else. Its text is None where it failed, and says something where it did not; `covered` is
    among the messages of the request; the request is as it was. A plain conversation gets a
    text or a named error. It need not answer the same twice.

    Parameters
    ----------
    summarizer : Summarizer
    requests : mapping of str to SummaryRequest
        What to try, by the name that a failure is reported under. One that costs money may
        be tried with fewer.

    Raises
    ------
    AssertionError
        Saying what was promised, and for which request it was broken.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate, summarizer_from
    >>> check_summarizer(Truncate(100))
    >>> check_summarizer(summarizer_from(lambda messages: messages[0].text))
    Traceback (most recent call last):
    ...
    AssertionError: summarizer_from(<lambda>), no messages: raised IndexError: list index out
    of range; raise SummarizerError, or answer Summary(text=None)
    """
    assert callable(getattr(summarizer, "summarize", None)), (
        f"{summarizer!r} has no method summarize(request): wrap a plain function with "
        "summarizer_from(function)"
    )
    for name, request in requests.items():
        _check_request(summarizer, name, request)


def _check_request(summarizer: Summarizer, name: str, request: SummaryRequest) -> None:
    where = f"{summarizer!r}, {name}"
    before = deepcopy(request)
    try:
        summary: object = summarizer.summarize(request)
    except SummarizerError:
        summary = None
    except Exception as error:
        raise AssertionError(
            f"{where}: raised {type(error).__name__}: {error}; raise SummarizerError, or answer "
            "Summary(text=None)"
        ) from error
    else:
        assert isinstance(summary, Summary), (
            f"{where}: answered a {type(summary).__name__}; answer a Summary"
        )
        _check_summary(summary, request, where)
        assert summary.text is not None or name not in _MUST_SAY_SOMETHING, (
            f"{where}: says nothing; raise SummarizerError with the reason"
        )
    assert request == before, f"{where}: the request was changed; it belongs to the keeper"


#: A failure to summarize these has a reason that should be named.
_MUST_SAY_SOMETHING = frozenset(name for name in REQUESTS if "ordinary" in name)


def _check_summary(summary: Summary, request: SummaryRequest, where: str) -> None:
    text, covered, usage = summary.text, summary.covered, summary.usage
    assert text is None or isinstance(text, str), (
        f"{where}: text is a {type(text).__name__}; it is a str, or None for a failure"
    )
    assert text is None or text.strip(), (
        f"{where}: text is {text!r}, which says nothing; a failure is reported as text=None"
    )
    assert covered is None or (isinstance(covered, int) and not isinstance(covered, bool)), (
        f"{where}: covered is {covered!r}; it is a number of messages, or None for all"
    )
    assert covered is None or 0 <= covered <= len(request.messages), (
        f"{where}: covered is {covered}, but the request has {len(request.messages)} messages"
    )
    assert usage is None or isinstance(usage, Usage), (
        f"{where}: usage is a {type(usage).__name__}; it is a Usage, or None for nothing"
    )
    assert summary.model is None or isinstance(summary.model, str), (
        f"{where}: model is {summary.model!r}; it is a name, or None"
    )
