from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest

from chatmem_lab.messages import (
    Conversation,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.metrics.changes import changes_at, removal_requests
from chatmem_lab.policies import ClearToolResults, KeepAll, MessageWindow, TokenWindow
from chatmem_lab.study import replay
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.widgets.step_html import changes_html, step_html, timeline_svg


def run_of(messages, policy):
    return replay(Conversation("c-1", tuple(messages)), policy, counter=LengthCounter())


def talk(turns):
    messages = [system("Be brief.")]
    for turn in range(turns):
        messages += [user(f"question {turn}"), assistant(f"answer {turn}")]
    return messages


def parsed(html):
    return ElementTree.fromstring(f"<div>{html}</div>")


def words(html):
    return " ".join("".join(parsed(html).itertext()).split())


def test_a_step_tells_its_figures_and_what_changed():
    run = run_of(talk(6), TokenWindow(60))
    html = step_html(run, 4)
    row = run.requests.iloc[4]
    told = words(html)
    assert "Replay of c-1" in told
    assert "TokenWindow(60)" in told
    assert "request 4 of 5" in told
    assert f"{row['input_tokens']} of 60 tokens" in told
    assert f"{row['absent_messages']} absent" in told
    assert "what changed at request 4" in told
    # An answer and a question come, the oldest question and answer go: 11 and 9 tokens.
    assert "2 entered, 20 tokens" in told
    assert "2 evicted, 20 tokens over 60 tokens" in told
    assert f"prefix broken after {row['prefix_tokens']} tokens" in told


def test_an_unbroken_prefix_is_not_told():
    assert "broken" not in step_html(run_of(talk(6), KeepAll()), 4)


def test_what_is_cleared_tells_both_sums():
    messages = [
        user("go"),
        assistant(tool_calls=[ToolCall("1", "f", "{}")]),
        tool_output("1", "a long result here"),
        assistant(tool_calls=[ToolCall("2", "f", "{}")]),
        tool_output("2", "another result"),
        assistant("done"),
    ]
    told = words(step_html(run_of(messages, ClearToolResults(keep=1)), 2))
    assert "1 cleared, 19 → 10 tokens" in told
    assert "#2 tool result 19" in told


def test_many_changes_are_cut_and_it_says_so():
    messages = [*(user(f"{i}") for i in range(20)), assistant("ok")]
    told = words(step_html(run_of(messages, KeepAll()), 0))
    assert "#7 user 2" in told
    assert "#8 user" not in told
    assert "and 12 more" in told


def test_nothing_changed_says_so():
    run = run_of(talk(3), KeepAll())
    row = run.requests.iloc[0]
    assert "nothing" in words(changes_html(changes_at(run, 0).iloc[:0], row, 0, "u"))


def test_notes_are_told():
    run = run_of(
        [system("a very long system message"), user("hi"), assistant("no")], TokenWindow(9)
    )
    told = words(step_html(run, 0))
    assert "over budget" in told


NASTY = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize("policy", [KeepAll(), MessageWindow(2), ClearToolResults(keep=0)])
def test_nothing_from_a_transcript_is_markup(policy):
    messages = [
        system(NASTY),
        user(NASTY),
        assistant(
            "[x](javascript:alert(1))",
            tool_calls=[ToolCall("c1", "<b>t</b>", '{"<script>k":1}')],
        ),
        tool_output("c1", NASTY + "\x00\ud800 $a$"),
        assistant(NASTY),
    ]
    run = replay(Conversation(NASTY, tuple(messages)), policy, counter=LengthCounter())
    run.events["reason"] = NASTY
    for request in range(len(run.requests)):
        html = step_html(run, request)
        assert "<img" not in html
        assert "<b>t" not in html
        assert "<script" not in html
        assert "&lt;img src=x onerror=alert(1)&gt;" in html
        parsed(html)  # whole XML: nothing is left open


def test_timeline_shows_every_request_and_where_something_left():
    run = run_of(talk(6), TokenWindow(60))
    removals = removal_requests(run)
    svg = timeline_svg(run.requests, 4, removals)
    root = parsed(svg)
    namespace = "{http://www.w3.org/2000/svg}"
    bars = {path.get("class"): path.get("d").count("M") for path in root.iter(f"{namespace}path")}
    assert bars == {"f-ink2": 4, "f-ink": 1, "f-line": 1}
    assert len(list(root.iter(f"{namespace}rect"))) == len(removals)
    assert f"at most {run.requests['input_tokens'].max()} tokens" in words(svg)
    assert "now at request 4" in words(svg)


def test_timeline_of_many_requests_is_binned_and_small():
    n = 10_000
    requests = pd.DataFrame({"input_tokens": range(n)})
    svg = timeline_svg(requests, 5_000, list(range(n)))
    assert svg.count("M") == 400
    assert len(svg) < 60_000


def test_timeline_of_nothing():
    assert "<svg" in timeline_svg(pd.DataFrame({"input_tokens": []}), 0, [])
