"""`DropRepeatedCalls` by hand."""

from __future__ import annotations

import chatmem_lab as cml
from chatmem_lab.messages import ToolCall, assistant, tool_output, user
from chatmem_lab.policies import DropRepeatedCalls
from replaying import trace_of

BODY = "an answer that is longer than what would stand in its place"


def call(n, name, arguments):
    return [
        assistant(tool_calls=[ToolCall(f"c{n}", name, arguments)]),
        tool_output(f"c{n}", BODY),
    ]


def dropped(*pairs, policy=None):
    messages = [user("go"), *(m for pair in pairs for m in pair)]
    window = trace_of(messages, policy or DropRepeatedCalls()).window(-1)
    return [s.position for s in window.slots if s.state == "cleared"]


def test_the_older_result_of_the_same_call_is_dropped():
    # results at 2, 4, 6, 8
    assert dropped(
        call(1, "look", '{"a": 1, "b": 2}'),
        call(2, "look", '{"a": 1}'),
        call(3, "look", '{"b":2,"a":1}'),
        call(4, "read", '{"a": 1}'),
    ) == [2]


def test_three_times_the_same_leaves_the_newest():
    assert dropped(*(call(n, "look", "{}") for n in range(3))) == [2, 4]


def test_arguments_that_are_no_json_are_compared_as_they_are():
    assert dropped(call(1, "look", "{torn"), call(2, "look", "{torn")) == [2]
    assert dropped(call(1, "look", "{torn"), call(2, "look", "{torn ")) == []
    deep = "[" * 100_000
    assert dropped(call(1, "look", deep), call(2, "look", deep)) == [2]


def test_tools_whose_answer_differs_are_left_alone():
    policy = DropRepeatedCalls(exclude=("now",))
    assert dropped(call(1, "now", "{}"), call(2, "now", "{}"), policy=policy) == []


def test_on_a_recorded_run_the_same_calls_as_a_plain_recount():
    conversation = cml.datasets.load("coding")[0]
    results = {m.tool_call_id: i for i, m in enumerate(conversation.messages) if m.tool_call_id}
    made = [c for m in conversation.messages for c in m.tool_calls]
    newest = {(c.name, c.arguments): c.id for c in made}
    repeated = {results[c.id] for c in made if newest[c.name, c.arguments] != c.id}
    run = cml.replay(conversation, DropRepeatedCalls(), model="gpt-4o")
    cleared = {s.position for s in run.final.slots if s.state == "cleared"}
    small = {i for i in repeated if len(conversation.messages[i].text) < 40}
    assert repeated - small <= cleared <= repeated
    assert len(cleared) >= 3
