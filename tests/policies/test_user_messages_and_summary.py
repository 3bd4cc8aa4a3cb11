"""`UserMessagesAndSummary` by hand."""

from __future__ import annotations

import chatmem_lab as cml
from chatmem_lab.messages import assistant, system, tool_output, user
from chatmem_lab.policies import Messages, Tokens, UserMessagesAndSummary
from recording_summarizer import Recording
from replaying import calls, kept, trace_of

TALK = [
    system("S"),
    user("q0 " * 10),
    calls("a"),
    tool_output("a", "r" * 60),
    assistant("a0 " * 10),
    user("q1 " * 10),
    assistant("a1 " * 10),
    user("q2"),
]


def test_all_but_the_users_words_is_folded_behind_them():
    policy = UserMessagesAndSummary(Recording("s"), trigger=Messages(6))
    assert kept(TALK, policy) == [0, 1, 5, None, 7]
    window = trace_of(TALK, policy).window(-1)
    assert [m.role for m in window.messages] == ["system", "user", "user", "user", "user"]
    assert window.messages[3].summary.covered == (2, 3, 4, 6)


def test_older_words_beyond_the_limit_are_folded_too():
    tokens = trace_of(TALK, cml.KeepAll()).layout.tokens
    policy = UserMessagesAndSummary(
        Recording("s"), trigger=Messages(6), user_tokens=int(tokens[7] + tokens[5])
    )
    assert kept(TALK, policy) == [0, 5, None, 7]


def test_on_a_recorded_run_the_newest_words_stay_word_for_word():
    conversation = cml.datasets.load("coding")[0]
    policy = UserMessagesAndSummary(cml.Truncate(600), trigger=Tokens(8_000), user_tokens=400)
    run = cml.replay(conversation, policy, model="gpt-4o")
    counter = cml.counter("gpt-4o")
    folds = [event for event in run.trace.events if event.kind == "fold"]
    assert len(folds) >= 2
    fold = folds[0]
    said, room = [], 400
    for position in range(fold.position, -1, -1):
        message = conversation.messages[position]
        if message.role != "user":
            continue
        room -= counter.count_message(message).tokens
        if room < 0:
            break
        said.insert(0, position)
    left = [s.position for s in run.window(fold.request).slots if s.message.role == "user"]
    assert [p for p in left if p is not None and p <= fold.position] == said
