"""`ClearToolResults` by hand."""

from __future__ import annotations

from chatmem_lab.messages import ToolCall, assistant, tool_output, user
from chatmem_lab.policies import ClearToolResults, Tokens
from chatmem_lab.tokens import counter
from replaying import calls, kept, trace_of
from seed_cases import bug_cases, case_messages

BUGS = bug_cases()


def cleared(messages, policy, counter=None):
    """Positions that the final window shows cleared, and those of the clear events."""
    trace = trace_of(messages, policy, counter)
    shown = [s.position for s in trace.window(-1).slots if s.state == "cleared"]
    events = [p for e in trace.events if e.kind == "clear" for u in e.units for p in u]
    assert sorted(events) == shown
    return shown


def test_b037_old_results_say_the_placeholder():
    messages = case_messages(BUGS["B037"]["input"]["messages"])
    policy = ClearToolResults(1, placeholder="[cleared]")
    gpt_4o = counter("gpt-4o")
    assert cleared(messages, policy, gpt_4o) == [2, 4]
    window = trace_of(messages, policy, gpt_4o).window(-1)
    assert [m.text for m in window.messages if m.role == "tool"] == [
        "[cleared]",
        "[cleared]",
        messages[6].text,
    ]
    assert [m.tool_call_id for m in window.messages] == [m.tool_call_id for m in messages]
    assert kept(messages, policy, gpt_4o) == list(range(8))


def test_b038_excluded_tools():
    messages = case_messages(BUGS["B038"]["input"]["messages"])
    policy = ClearToolResults(1, exclude=("think",), placeholder="[cleared]")
    assert cleared(messages, policy, counter("gpt-4o")) == [4]


def test_b040_nothing_is_cleared_that_would_not_be_smaller():
    messages = case_messages(BUGS["B040"]["input"]["messages"])
    trace = trace_of(messages, ClearToolResults(0), counter("gpt-4o"))
    assert trace.events == []
    assert [m.text for m in trace.window(-1).messages if m.role == "tool"] == ["ok", "ok"]


def agent(n):
    return [user("go"), *(m for i in range(n) for m in (calls("c"), tool_output("c", "r" * 20)))]


def test_results_that_the_model_has_not_seen_stay():
    messages = [
        user("go"),
        calls("a", "b"),
        tool_output("a", "r" * 20),
        tool_output("b", "s" * 20),
    ]
    assert cleared(messages, ClearToolResults(0)) == []
    assert cleared([*messages, user("next")], ClearToolResults(1)) == [2]


def test_trigger_waits_for_a_full_window():
    # a request is 3, the user 3, each round 7 + 21
    assert cleared(agent(3), ClearToolResults(1, trigger=Tokens(90))) == []
    assert cleared(agent(3), ClearToolResults(1, trigger=Tokens(89))) == [2, 4]


def test_at_least_waits_until_it_pays():
    # a stub of 9 characters gains 11 tokens
    assert cleared(agent(3), ClearToolResults(1, at_least=Tokens(23))) == []
    assert cleared(agent(4), ClearToolResults(1, at_least=Tokens(23))) == [2, 4, 6]


def test_arguments_are_cleared_with_their_result():
    long = '{"text": "a whole file that was written once, and is not needed any more"}'
    write = ToolCall("c1", "write", long)
    look = ToolCall("c2", "look", "{}")
    messages = [
        user("go"),
        assistant("both", tool_calls=[write, look]),
        tool_output("c1", "written, all of it, in one go"),
        tool_output("c2", "a picture"),
        user("next"),
    ]
    policy = ClearToolResults(1, clear_arguments=True)
    assert cleared(messages, policy) == [1, 2]
    shown = trace_of(messages, policy).window(-1).messages
    assert shown[1] == assistant("both", tool_calls=[ToolCall("c1", "write", "{}"), look])
    assert shown[3].text == "a picture"
    assert cleared(messages, ClearToolResults(1)) == [2]
