"""Any function over OpenAI's dicts, run as it is."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.adapters import adapters_in, openai_function
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.messages.faults import FAULTS
from chatmem_lab.policies import KeepAll, Preset, Rules, chain
from replaying import calls, chat, kept, trace_of


def last_three(messages):
    return messages[-3:]


def test_what_it_tears_apart_is_sent_and_counted():
    messages = [
        system("s"),
        user("q"),
        calls("c1"),
        tool_output("c1", "r"),
        user("next"),
        user("x"),
    ]
    trace = trace_of([*messages, assistant("a")], openai_function(last_three))
    window = trace.window(1)
    assert [slot.position for slot in window.slots] == [3, 4, 5]
    faults = dict(zip(FAULTS, trace.faults[1].tolist()))
    assert faults["orphan_result"] == faults["lost_system"] == 1


def test_messages_return_when_it_sees_all_of_them():
    def even(messages):
        return messages if len(messages) % 2 == 0 else messages[-1:]

    trace = trace_of(chat("uauaua"), openai_function(even))
    assert [(e.kind, e.messages) for e in trace.events] == [
        ("evict", 2),
        ("evict", 2),
        ("return", 4),
    ], "all six are there after the last message"
    shown = [[s.position for s in trace.window(n).slots] for n in range(3)]
    assert shown == [[0], [2], [4]]


def test_what_it_changes_in_place_is_a_replacement():
    def shorten(messages):
        for message in messages[:-1]:
            message["content"] = message["content"][:1]
        return messages

    trace = trace_of([user("one"), user("two"), assistant("a")], openai_function(shorten))
    assert [m.text for m in trace.window(0).messages] == ["o", "two"]
    assert [s.position for s in trace.window(0).slots] == [0, 1]


def test_what_it_adds_is_made():
    def with_note(messages):
        return [{"role": "system", "content": "note"}, *messages]

    trace = trace_of(
        [user("one"), assistant("a"), user("b"), assistant("c")], openai_function(with_note)
    )
    for number, count in ((0, 2), (1, 4)):
        window = trace.window(number)
        assert len(window) == count
        assert window.messages[0].text == "note"
        assert window.slots[0].position is None


def test_an_error_of_the_function_changes_nothing_and_is_told():
    def broken(messages):
        raise KeyError("role")

    trace = trace_of(chat("uaua"), openai_function(broken))
    assert [len(trace.window(n)) for n in range(2)] == [1, 3]
    failed = [event for event in trace.events if event.kind == "policy_failed"]
    assert len(failed) == 3, "at two requests and after the last message"
    assert "KeyError" in failed[0].reason


def test_arguments():
    with pytest.raises(PolicyError, match="needs a function, not 3"):
        openai_function(3)
    with pytest.raises(PolicyError, match="'window' or 'history'"):
        openai_function(last_three, sees="all")
    assert repr(openai_function(last_three, sees="window")) == (
        "openai_function(last_three, sees='window')"
    )
    assert kept(chat("uauau"), openai_function(last_three)) == [2, 3, 4]


def test_the_adapters_of_a_study_are_found_wherever_they_are():
    adapter = openai_function(last_three)
    assert list(adapters_in(adapter)) == [adapter]
    assert list(adapters_in(Preset(adapter, Rules()))) == [adapter]
    assert list(adapters_in(chain(KeepAll(), KeepAll()))) == []
    study = cml.compare(cml.datasets.load("planning"), {"it": adapter})
    assert study.manifest["frameworks"] == {}
