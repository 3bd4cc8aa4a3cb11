import random

import pytest

from chatmem_lab.errors import MessageError
from chatmem_lab.messages import Text
from chatmem_lab.testing import LengthCounter, check_counter
from chatmem_lab.tokens import Count, counter, default_counter, langchain4j_formula


@pytest.mark.parametrize(
    "honest",
    [
        counter("gpt-4o"),
        counter("gpt-5"),
        counter("gpt-4"),
        counter("o3"),
        counter("deepseek-chat", estimate=True),
        default_counter(),
        langchain4j_formula(),
        langchain4j_formula("o4-mini", encode=lambda text: len(text.split())),
    ],
    ids=repr,
)
def test_our_counters_keep_the_contract(honest):
    check_counter(honest, examples=30)


def test_the_length_counter_keeps_it():
    check_counter(LengthCounter())


class Honest:
    """A user's own: a token for every four characters."""

    name = "characters / 4"
    model = None
    request_tokens = 0

    def __repr__(self):
        return "Honest()"

    def count_text(self, text):
        return Count(-(-len(text) // 4), "estimate")

    def count_message(self, message):
        return self.count_text(message.text)

    def count_messages(self, messages):
        return [self.count_message(message) for message in messages]

    def count_tools(self, tools):
        return self.count_text("".join(map(repr, tools)))


def test_a_users_own_class_keeps_it():
    check_counter(Honest())


class RefusesImages(Honest):
    def count_message(self, message):
        if any(not isinstance(part, Text) for part in message.parts):
            raise MessageError("text only")
        return super().count_message(message)


def test_what_holds_more_than_text_may_be_refused():
    check_counter(RefusesImages())


def broken(**methods):
    return type("Broken", (Honest,), methods)()


def fails(error):
    def method(self, what):
        raise error

    return method


class Drifting(Honest):
    calls = 0

    def count_text(self, text):
        self.calls += bool(text)
        return Count(len(text) + self.calls if text else 0)


class ListsWithoutRefusing(RefusesImages):
    def count_messages(self, messages):
        return [self.count_text(message.text) for message in messages]


class WrongInSomeLists(Honest):
    """Wrong only where generated messages go."""

    def count_messages(self, messages):
        counts = super().count_messages(messages)
        if any("42 pages" in message.text for message in messages):
            counts[0] = Count(counts[0].tokens + 1, "estimate")
        return counts


@pytest.mark.parametrize(
    ("counter", "why"),
    [
        (broken(count_tools=None), "has no method count_tools"),
        (broken(name=" "), r"name is ' '; it is a text"),
        (broken(name=None), r"name is None; it is a text"),
        (broken(model=4), r"model is 4; it is a model's name, or None"),
        (broken(model=""), r"model is ''; it is a model's name, or None"),
        (broken(request_tokens=-1), r"request_tokens is -1; it is an int, at least 0"),
        (broken(request_tokens=3.0), r"request_tokens is 3\.0; it is an int, at least 0"),
        (broken(request_tokens=True), r"request_tokens is True; it is an int, at least 0"),
        (broken(count_text=lambda s, t: len(t)), r"count_text\(''\) is 0; it is a Count"),
        (broken(count_text=lambda s, t: (len(t), "exact")), r"is \(0, 'exact'\); it is a Count"),
        (broken(count_text=lambda s, t: Count(len(t) / 4)), r"0\.0.* tokens are an int"),
        (broken(count_text=lambda s, t: Count(-len(t))), r"'hello world'\).*tokens=-11.*at least"),
        (broken(count_text=lambda s, t: Count(len(t), "sure")), "kind of a count is one of exact"),
        (broken(count_text=lambda s, t: Count(len(t) + 1)), r'count_text\(""\) is .* 0 tokens'),
        (broken(count_text=lambda s, t: Count(0)), "a longer text counts no less, and words"),
        (broken(count_text=lambda s, t: Count(len(t) % 1_000)), "a longer text counts no less"),
        (
            broken(count_text=lambda s, t: Count(len(t.encode()))),
            r"count_text\('half a pair \\ud83d'\) raised UnicodeEncodeError: .*; count it, or",
        ),
        (broken(count_text=fails(MessageError("no"))), r"count_text\(''\) was refused; it is"),
        (Drifting(), r"tokens=12, .*and then Count\(tokens=13, .*it is the same each time"),
        (broken(count_tools=lambda s, t: Count(2)), r"count_tools\(\[\]\) is Count\(tokens=2"),
        (broken(count_tools=fails(TypeError("hm"))), r"count_tools\(\(\)\) raised TypeError: hm"),
        (broken(count_message=fails(MessageError("no"))), "refused; a message of text alone"),
        (broken(count_message=fails(KeyError("q"))), r"count_message\(.*raised KeyError"),
        (broken(count_messages=lambda s, m: []), "count_messages of 36 messages is .* Count for"),
        (broken(count_messages=lambda s, m: [(1, "exact")] * len(m)), "has a Count for each"),
        (broken(count_messages=lambda s, m: [Count(1)] * len(m)), "by count_message it is"),
        (ListsWithoutRefusing(), "refuses .*, but in count_messages it is .*; both refuse it"),
        (WrongInSomeLists(), "by count_message it is .*; both are the same"),
    ],
)
def test_a_broken_promise_is_named(counter, why):
    with pytest.raises(AssertionError, match=why) as caught:
        check_counter(counter)
    assert len(str(caught.value)) < 700


def test_a_random_counter_is_caught():
    dice = random.Random(7)
    counter = broken(count_text=lambda s, t: Count(dice.randrange(1, 1_000) if t else 0))
    with pytest.raises(AssertionError, match="it is the same each time"):
        check_counter(counter)
