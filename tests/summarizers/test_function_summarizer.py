import functools
import pickle

import pytest

from chatmem_lab.errors import PolicyError, SummarizerError
from chatmem_lab.messages import Usage, assistant, user
from chatmem_lab.policies import Messages, Summarize
from chatmem_lab.summarizers import (
    FunctionSummarizer,
    Summarizer,
    Summary,
    SummaryRequest,
    summarizer_from,
)

REQUEST = SummaryRequest(
    session_id="s1", previous="Ann.", messages=(user("one"), assistant("two")), max_tokens=9
)


def join(messages):
    return "; ".join(message.text for message in messages)


def limit(request):
    return f"{request.session_id} {request.previous} {len(request.messages)} {request.max_tokens}"


class Joiner:
    def __call__(self, messages):
        return join(messages)

    def __repr__(self):
        return "Joiner()"

    def both(self, request):
        return request.session_id


def test_any_name_but_request_gets_messages_with_the_earlier_summary_in_front():
    assert summarizer_from(join).summarize(REQUEST).text == "Ann.; one; two"
    seen = []
    summarizer_from(lambda batch: seen.extend(batch)).summarize(REQUEST)
    assert [(m.role, m.text, m.summary is not None) for m in seen] == [
        ("assistant", "Ann.", True),
        ("user", "one", False),
        ("assistant", "two", False),
    ]
    assert not seen[0].generated


@pytest.mark.parametrize("previous", [None, "", " \n"])
def test_without_an_earlier_summary_only_the_messages(previous):
    asked = SummaryRequest(previous=previous, messages=(user("one"),))
    assert summarizer_from(len_of := lambda messages: str(len(messages))).summarize(
        asked
    ).text == ("1"), len_of


def test_the_name_request_gets_the_request():
    assert summarizer_from(limit).summarize(REQUEST).text == "s1 Ann. 2 9"
    assert summarizer_from(Joiner().both).summarize(REQUEST).text == "s1"
    assert summarizer_from(lambda request, words=3: request.session_id).summarize(REQUEST).text


def test_other_callables():
    assert summarizer_from(Joiner()).summarize(REQUEST).text == "Ann.; one; two"
    assert summarizer_from(repr).summarize(REQUEST).text.startswith("[Message(")
    assert summarizer_from(lambda *all: join(*all)).summarize(REQUEST).text == "Ann.; one; two"


def test_the_list_is_the_functions_own():
    summarizer_from(lambda messages: messages.clear()).summarize(REQUEST)
    assert len(REQUEST.messages) == 2


@pytest.mark.parametrize("answer", [None, "", "  \n", Summary(text=""), Summary(text=" ")])
def test_nothing_said_is_a_failed_summary(answer):
    assert summarizer_from(lambda messages: answer).summarize(REQUEST) == Summary(text=None)


def test_a_summary_goes_through_with_what_it_cost():
    answer = Summary(text="so", covered=1, usage=Usage(input_tokens=7), model="m")
    assert summarizer_from(lambda messages: answer).summarize(REQUEST) is answer
    failed = Summary(text=" ", covered=1, usage=Usage(input_tokens=7), model="m")
    assert summarizer_from(lambda messages: failed).summarize(REQUEST) == Summary(
        text=None, covered=1, usage=Usage(input_tokens=7), model="m"
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (3, "<lambda> returned a int: return a str, a Summary or None"),
        (b"so", "returned a bytes"),
        ({"content": []}, "returned a dict"),
        (Summary(text=3), "returned a Summary with a text of type int"),
    ],
)
def test_anything_else_is_a_named_error(answer, words):
    with pytest.raises(SummarizerError) as raised:
        summarizer_from(lambda messages: answer).summarize(REQUEST)
    assert words in str(raised.value)


def test_what_the_function_raises_goes_through():
    with pytest.raises(ZeroDivisionError):
        summarizer_from(lambda messages: 1 / 0).summarize(REQUEST)


async def later(messages):
    return "so"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (3, "a function of one argument, not 3"),
        (Joiner, "a function of one argument, not <class"),
        (later, "later is asynchronous"),
        (lambda: "so", "<lambda> takes nothing"),
        (lambda messages, words: "so", "<lambda> takes messages, words"),
        (lambda messages, *, words: "so", "<lambda> takes messages, words"),
    ],
)
def test_what_is_no_function_of_one_argument(wrong, words):
    with pytest.raises(PolicyError) as raised:
        summarizer_from(wrong)
    assert words in str(raised.value)


def test_the_repr_is_the_recipe():
    assert repr(summarizer_from(join)) == "summarizer_from(join)"
    assert repr(summarizer_from(lambda messages: "")) == "summarizer_from(<lambda>)"
    assert repr(summarizer_from(Joiner())) == "summarizer_from(Joiner())"
    assert repr(summarizer_from(Joiner().both)) == "summarizer_from(both)"
    short = functools.partial(lambda messages, words, sign: sign, words=3, sign="-")
    assert repr(summarizer_from(short)) == "summarizer_from(partial(<lambda>, words=3, sign='-'))"


def test_it_is_a_value():
    assert summarizer_from(join) == summarizer_from(join)
    assert len({summarizer_from(join), summarizer_from(join), summarizer_from(limit)}) == 2
    assert isinstance(summarizer_from(join), Summarizer)
    for function in (len, functools.partial(sorted, key=str)):
        summarizer = summarizer_from(function)
        assert repr(pickle.loads(pickle.dumps(summarizer))) == repr(summarizer)
    with pytest.raises(Exception, match="pickle"):
        pickle.dumps(FunctionSummarizer(lambda messages: ""))


def test_a_policy_takes_it():
    policy = Summarize(summarizer_from(join), trigger=Messages(4), keep=Messages(2))
    assert "summarizer_from(join)" in repr(policy)
