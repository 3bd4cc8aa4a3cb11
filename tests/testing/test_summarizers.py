import msgspec
import pytest

from chatmem_lab.errors import SummarizerError
from chatmem_lab.messages import Usage, user
from chatmem_lab.summarizers import Summary, SummaryRequest, Truncate, summarizer_from
from chatmem_lab.testing import check_summarizer
from chatmem_lab.testing.summarizers import REQUESTS


class Answers:
    """Gives one answer, whatever is asked; an exception is raised."""

    def __init__(self, answer):
        self.answer = answer

    def __repr__(self):
        return "Answers()"

    def summarize(self, request):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(request) if callable(self.answer) else self.answer


def changes(request):
    request.messages[0].metadata["seen"] = True
    return Summary(text="so")


@pytest.mark.parametrize(
    "good",
    [
        Truncate(),
        summarizer_from(lambda messages: "so"),
        summarizer_from(lambda messages: "; ".join(m.text for m in messages)[:99]),
        Answers(SummarizerError("no key")),
        Answers(lambda r: Summary(text="so", covered=len(r.messages), usage=Usage(), model="m")),
        Answers(lambda r: Summary(text="so" if r.messages or r.previous else None, covered=0)),
    ],
    ids=repr,
)
def test_good_ones(good):
    check_summarizer(good)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (ValueError("too odd"), "an ordinary conversation: raised ValueError: too odd; raise"),
        ("so", "answered a str; answer a Summary"),
        (None, "answered a NoneType"),
        (Summary(text=""), "text is '', which says nothing; a failure is reported as text=None"),
        (Summary(text=" \n"), "which says nothing"),
        (Summary(text=None), "an ordinary conversation: says nothing; raise SummarizerError"),
        (Summary(text=b"so"), "text is a bytes"),
        (Summary(text="so", covered=-1), "covered is -1, but the request has 5 messages"),
        (Summary(text="so", covered=6), "covered is 6, but the request has 5 messages"),
        (Summary(text="so", covered=True), "covered is True; it is a number"),
        (Summary(text="so", covered=1.0), "covered is 1.0; it is a number"),
        (Summary(text="so", usage={"input_tokens": 3}), "usage is a dict"),
        (Summary(text="so", model=3), "model is 3"),
    ],
)
def test_bad_ones(answer, words):
    with pytest.raises(AssertionError) as raised:
        check_summarizer(Answers(answer))
    assert str(raised.value).startswith("Answers(), an ordinary conversation: ")
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda messages: messages[0].text or "so", "no messages"),
        (lambda messages: f"{max(m.text for m in messages or [user('a')])} so"[10**5], "an ord"),
        (lambda request: "so" + request.previous, "an ordinary conversation"),
        (lambda request: "{}".format(*request.messages[:1]), "no messages"),
        (
            lambda request: request.instructions.format(text="a") or "so",
            "an ordinary conversation with",
        ),
        (
            lambda messages: "".join(m.text for m in messages).encode().decode() or None,
            "half a surrogate pair",
        ),
        (
            lambda messages: str([m.parts[0] for m in messages if not m.tool_calls]),
            "a message that says nothing",
        ),
    ],
)
def test_the_request_that_breaks_it_is_named(function, name):
    with pytest.raises(AssertionError, match=rf"summarizer_from\(<lambda>\), {name}.*: raised "):
        check_summarizer(summarizer_from(function))


def test_a_request_that_is_changed():
    asked = {"mine": SummaryRequest(messages=(user("hi", metadata={"a": 1}),))}
    check_summarizer(Truncate(), requests=asked)
    with pytest.raises(AssertionError, match="mine: the request was changed"):
        check_summarizer(Answers(changes), requests=asked)


def test_what_is_no_summarizer():
    with pytest.raises(AssertionError, match="wrap a plain function with summarizer_from"):
        check_summarizer(len)


def test_the_requests_are_as_odd_as_they_say():
    assert REQUESTS["no messages"].messages == ()
    assert REQUESTS["no messages, but an earlier summary"].previous
    assert max(len(m.text) for m in REQUESTS["very long messages"].messages) > 100_000
    assert all(m.text == "" or m.role == "tool" for m in REQUESTS["calls without text"].messages)
    assert any("{" in r.instructions for r in REQUESTS.values())
    with pytest.raises(UnicodeEncodeError):
        REQUESTS["half a surrogate pair and a NUL"].messages[0].text.encode()
    assert msgspec.structs.asdict(REQUESTS["an image and recorded facts"].messages[0])["extra"]
