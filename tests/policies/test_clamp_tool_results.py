"""`ClampToolResults` by hand."""

from __future__ import annotations

import chatmem_lab as cml
from chatmem_lab.messages import tool_output, user
from chatmem_lab.policies import ClampToolResults
from replaying import calls, trace_of

LONG = "".join(f"line {i:03}\n" for i in range(100))  # 900 characters


def results(messages, policy):
    trace = trace_of(messages, policy)
    return [m.text for m in trace.window(-1).messages if m.role == "tool"], trace.events


def agent(*texts):
    found = [user("go")]
    for text in texts:
        found += [calls("c"), tool_output("c", text)]
    return found


def test_a_long_result_keeps_its_head_and_its_tail():
    texts, events = results(agent(LONG, "short"), ClampToolResults(18, tail=9))
    assert texts == [
        "line 000\nline 001\n\n[… 873 characters cut …]\nline 099\n",
        "short",
    ]
    assert [(e.kind, e.units, e.position) for e in events] == [("clamp", ((2,),), 2)]


def test_the_newest_stay_whole():
    texts, events = results(agent(LONG, LONG, LONG), ClampToolResults(18, tail=9, keep=2))
    assert [len(text) for text in texts] == [18 + 9 + 26, 900, 900]
    assert [e.position for e in events] == [6]


def test_a_cut_that_gains_nothing_is_none():
    texts, events = results(agent("x" * 30), ClampToolResults(10, tail=10))
    assert (texts, events) == (["x" * 30], [])


def test_a_character_made_of_several_is_not_torn():
    # e and its accent are two characters in Python, one on paper; so is a family of four.
    family = "👨‍👩‍👧‍👦"
    text = "ab" + "e\u0301" + "-" * 100 + family
    texts, _ = results(agent(text), ClampToolResults(3, tail=3))
    assert texts == ["ab\n[… 109 characters cut …]\n"]


def test_on_a_recorded_run_each_long_result_is_cut_once():
    conversation = cml.datasets.load("coding")[0]
    run = cml.replay(conversation, ClampToolResults(200, tail=200), model="gpt-4o")
    results = [(i, len(m.text)) for i, m in enumerate(conversation.messages) if m.role == "tool"]
    cut = [p for e in run.trace.events for (p,) in e.units]
    # Of those just over 400 characters some would be no shorter in tokens.
    assert {i for i, size in results if size > 500} <= set(cut)
    assert set(cut) <= {i for i, size in results if size > 400}
    assert len(cut) == len(set(cut)) > 20
    for position in cut:
        text = conversation.messages[position].text
        shown = next(s for s in run.final.slots if s.position == position).message.text
        assert (shown[:200], shown[-200:]) == (text[:200], text[-200:])
    # Cut before any request sends them, so nothing that was sent ever changes.
    assert run.requests["prefix_tokens"][1:].tolist() == [
        int(tokens) - 3 for tokens in run.requests["input_tokens"][:-1]
    ]
