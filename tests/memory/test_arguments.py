"""What a memory is opened with: wrong arguments are named errors."""

from __future__ import annotations

import warnings

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import MessageError, StoreError, UnknownModelError
from chatmem_lab.memory import ChatMemory


def test_a_counter_for_another_model_is_warned_of_by_both_names():
    with pytest.warns(UserWarning, match=r"for 'gpt-5' and its counter counts for 'gpt-4'"):
        ChatMemory(id="ann", model="gpt-5", counter=cml.counter("gpt-4"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ChatMemory(id="ann", model="gpt-5", counter=cml.counter("gpt-5"))
        ChatMemory(id="ann", counter=cml.counter("gpt-4"))


def test_without_a_model_every_count_is_an_estimate_by_o200k():
    memory = ChatMemory(id="ann")
    memory.add_user("Who wrote Emma?")
    assert memory.window.count_kind == "estimate"
    assert memory.tokens == cml.counter("gpt-4o").count_message(cml.user("Who wrote Emma?"))[0] + 3
    with_model = ChatMemory(id="ann", model="gpt-4o")
    with_model.add_user("Who wrote Emma?")
    assert (with_model.tokens, with_model.window.count_kind) == (memory.tokens, "exact")


@pytest.mark.parametrize(
    ("options", "error", "wanted"),
    [
        ({"counter": "gpt-4o"}, TypeError, "name the model with model="),
        ({"model": "gpt-99"}, UnknownModelError, "no model 'gpt-99'"),
        ({"store": 5}, TypeError, "store must be a Store"),
        ({"store": "nonsense"}, StoreError, "names no store"),
        ({"tools": {"name": "f"}}, MessageError, "tools is a list of schemas"),
        ({"tools": 5}, MessageError, "tools is a list of schemas"),
        ({"tools": ["f"]}, MessageError, "tools is a list of schemas"),
        (
            {"tools": [{"name": "f", "parameters": {"maximum": float("nan")}}]},
            MessageError,
            r"tools\[0\]\.parameters\.maximum = nan is no number",
        ),
    ],
)
def test_what_cannot_be_used_is_a_named_error(options, error, wanted):
    with pytest.raises(error, match=wanted):
        ChatMemory(id="ann", **options)


class Half:
    """A counter that says what is no count."""

    name, model, request_tokens = "half", None, 3

    def __init__(self, count):
        self.count = count

    def count_text(self, text):
        return self.count

    def count_message(self, message):
        return self.count

    def count_messages(self, messages):
        return [self.count for _ in messages]

    def count_tools(self, tools):
        return self.count


@pytest.mark.parametrize(
    "count", [None, 5, (5, "exact"), cml.tokens.Count(-1), cml.tokens.Count(1.5)]
)
def test_what_is_no_count_is_refused_and_nothing_changes(count):
    memory = ChatMemory(id="ann", counter=Half(count))
    with pytest.raises(TypeError, match="must give a Count"):
        memory.add_user("hi")
    assert memory.history == ()
