"""`lint` by hand, and on every transcript that loads against a plain count."""

from __future__ import annotations

import pandas as pd
import pytest

import chatmem_lab as cml
from chatmem_lab.errors import MessageError, ProjectionError
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.testing import LengthCounter
from replaying import calls

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def rows(table, *columns):
    return table[list(columns)].astype(object).where(table.notna(), None).values.tolist()


def test_messages_as_dicts_and_as_ours():
    dicts = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "user", "content": "r"},
    ]
    ours = [user("q"), calls("c1", name="f"), user("r")]
    for messages in (dicts, ours):
        table = cml.lint(messages)
        assert rows(table, "position", "rule", "requests") == [[1, "unanswered_call", None]]
    with pytest.raises(MessageError, match=r"messages\[1\] is no message"):
        cml.lint([{"role": "user", "content": "q"}, {"content": "?"}])
    with pytest.raises(MessageError, match="take one with"):
        cml.lint("hello")
    with pytest.raises(MessageError, match="one conversation at a time"):
        cml.lint(cml.datasets.load("coding"))
    with pytest.raises(ProjectionError, match="budget must be a whole number"):
        cml.lint(ours, budget="3")


def test_a_budget_and_its_tenth():
    messages = [system("S" * 60), user("q" * 100)]
    counter = cml.counter("gpt-4o")
    total = sum(c.tokens for c in counter.count_messages(messages)) + counter.request_tokens
    first = counter.count_message(messages[0]).tokens
    table = cml.lint(messages, budget=total - 1, model="gpt-4o")
    assert rows(table, "rule", "severity", "tokens") == [
        ["over_budget", "refused", 1],
        ["large_system", "advice", first],
    ]
    assert cml.lint(messages, budget=first * 10, model="gpt-4o").empty
    assert rows(cml.lint(messages, budget=first * 10 - 1, model="gpt-4o"), "rule") == [
        ["large_system"]
    ]


def test_a_replay_says_which_requests_show_it():
    # requests before 3, 4, 6: windows of the last two messages
    messages = [
        user("q0"),
        calls("a"),
        tool_output("a", "r"),
        assistant("a0"),
        assistant("a1"),
        user("q1"),
        assistant("a2"),
    ]
    conversation = cml.Conversation("torn", tuple(messages))
    policy = cml.policy_from(lambda m: m[-2:], repair=False)
    run = cml.replay(conversation, policy, counter=LengthCounter())
    shown = [[s.position for s in run.window(r).slots] for r in range(4)]
    assert shown == [[0], [1, 2], [2, 3], [4, 5]]
    table = cml.lint(run)
    assert rows(table, "position", "rule", "first_request", "last_request", "requests") == [
        [1, "starts_on_assistant", 1, 1, 1],
        [2, "orphan_result", 2, 2, 1],
        [4, "starts_on_assistant", 3, 3, 1],
    ]
    assert table["what"][1].startswith('message 2 is a result for call "a"')


def test_what_stays_is_one_row_with_its_tokens_over_the_run():
    conversation = cml.datasets.load("support")[0]
    run = cml.replay(conversation, cml.TokenWindow(3_000), model="gpt-4o")
    table = cml.lint(run)
    (row,) = rows(table[table["rule"] == "long_system"], "position", "requests", "tokens")
    tokens = cml.counter("gpt-4o").count_message(conversation.messages[0]).tokens
    assert row == [0, len(run.requests), tokens * len(run.requests)]


def test_a_replay_over_its_budget():
    conversation = cml.datasets.load("support")[0]
    run = cml.replay(conversation, cml.TokenWindow(700), model="gpt-4o")
    table = cml.lint(run)
    (row,) = rows(table[table["rule"] == "over_budget"], "severity", "requests", "tokens")
    over = run.requests["input_tokens"] - 700
    assert row == ["refused", int((over > 0).sum()), int(over[over > 0].sum())]


def plain_count(messages):
    """Orphan results and calls without one, by a walk of its own."""
    orphans = unanswered = 0
    open_calls = []
    for message in messages:
        if message.role != "tool":
            unanswered += len(open_calls)
            open_calls = [call.id for call in message.tool_calls]
        elif message.tool_call_id in open_calls:
            open_calls.remove(message.tool_call_id)
        else:
            orphans += 1
    return orphans, unanswered + len(open_calls)


def test_every_transcript_that_loads(transcripts):
    conversations = [
        *(c for name in cml.datasets.list() for c in cml.datasets.load(name)),
        *cml.read(transcripts / "tau-bench" / "gpt-4o-airline.json"),
        *cml.read(transcripts / "swe-agent", lenient=True),
    ]
    assert len(conversations) > 200
    for conversation in conversations:
        table = cml.lint(conversation)
        counts = table["rule"].value_counts()
        found = int(counts.get("orphan_result", 0)), int(counts.get("unanswered_call", 0))
        assert found == plain_count(conversation.messages)
        assert isinstance(table, pd.DataFrame)
