"""`MaskObservations` by hand, and against SWE-agent's rule written out."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.messages import tool_output, user
from chatmem_lab.policies import MaskObservations
from replaying import calls, trace_of

TEXT = "first line of it\nsecond line of it\nthird line of it, and quite a long one at that"


def agent(n):
    return [user("go"), *(m for i in range(n) for m in (calls("c"), tool_output("c", TEXT)))]


def masked(messages, policy, request=-1):
    window = trace_of(messages, policy).window(request)
    return [s.position for s in window.slots if s.state == "cleared"]


def test_all_but_the_newest_and_the_first_say_their_lines():
    # results at 2, 4, 6, 8, 10
    messages = agent(5)
    assert masked(messages, MaskObservations(2)) == [4, 6]
    assert masked(messages, MaskObservations(2, keep_first=False)) == [2, 4, 6]
    window = trace_of(messages, MaskObservations(2)).window(-1)
    assert window.messages[4].text == "Old environment output: (3 lines omitted)"


def test_in_batches_the_cut_moves_on_rarely():
    policy = MaskObservations(1, batch=3, keep_first=False)
    assert [masked(agent(n), policy) for n in range(2, 8)] == [
        [],
        [2, 4],
        [2, 4],
        [2, 4],
        [2, 4, 6, 8, 10],
        [2, 4, 6, 8, 10],
    ]


def test_what_the_model_has_not_seen_stays():
    messages = [
        user("go"),
        calls("a", "b", "c"),
        *(tool_output(id, TEXT) for id in "abc"),
    ]
    policy = MaskObservations(1, keep_first=False)
    assert masked(messages, policy) == []
    assert masked([*messages, user("next")], policy) == [2, 3]


@pytest.mark.parametrize(("keep", "batch"), [(1, 1), (5, 1), (3, 4), (5, 10)])
def test_the_rule_of_swe_agent_on_a_recorded_run(keep, batch):
    conversation = cml.datasets.load("coding")[0]
    policy = MaskObservations(keep, batch=batch)
    run = cml.replay(conversation, policy, model="gpt-4o")
    for request, position in enumerate(conversation.requests):
        found = [i for i, m in enumerate(conversation.messages[:position]) if m.role == "tool"]
        # SWE-agent: everything from the second on, up to the largest multiple of `polling`
        # less n; here only where the line is shorter than what it stands for.
        old = found[1 : max(0, len(found) // batch * batch - keep)]
        shown = [s.position for s in run.window(request).slots if s.state == "cleared"]
        assert set(shown) <= set(old)
        small = {p for p in old if len(conversation.messages[p].text) < 60}
        newest = {p for p in old if all(q > p for q in ()) and p >= position - 4}
        assert set(old) - set(shown) <= small | newest
    assert run.final.slots[2].state == "kept"
