"""AutoGen's contexts by hand, worked out from the source of autogen-core 0.7.5."""

from __future__ import annotations

import chatmem_lab as cml
from chatmem_lab.messages import Conversation, assistant, system, tool_output, user
from chatmem_lab.policies.presets import (
    autogen_buffered,
    autogen_head_and_tail,
    autogen_token_limited,
    autogen_unbounded,
)
from chatmem_lab.testing import LengthCounter
from replaying import calls

#: Without the system message: q0, a call of two, both results (one message there), a0, q1, …
TALK = Conversation(
    "talk",
    (
        system("S"),
        user("q0"),
        calls("a", "b"),
        tool_output("a", "1"),
        tool_output("b", "2"),
        assistant("a0"),
        user("q1"),
        assistant("a1"),
        user("q2"),
        assistant("a2"),
    ),
)


def sent(preset):
    run = cml.replay(TALK, preset, counter=LengthCounter())
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))], run


def test_nothing_leaves_an_unbounded_context():
    assert sent(autogen_unbounded())[0][-1] == [0, 1, 2, 3, 4, 5, 6, 7, 8]


def test_a_buffer_drops_a_result_that_would_stand_first():
    # Five messages before q1's answer: the newest three are results, a0, q1.
    assert sent(autogen_buffered(3))[0] == [
        [0, 1],
        [0, 1, 2, 3, 4],
        [0, 5, 6],
        [0, 6, 7, 8],
    ]


def test_a_token_limit_pops_the_middle_and_tears_pairs():
    whole = sent(autogen_unbounded())[1]
    before = int(whole.requests["input_tokens"][2])
    system_tokens = int(whole.requests["pinned_tokens"][0])
    limit = before - 1 - whole.window(2).slots[0].tokens
    # Five messages are one token too many: the middle one, both results, goes; the call stays.
    assert sent(autogen_token_limited(limit))[0][2] == [0, 1, 2, 5, 6]
    assert system_tokens > 0
    # So little that all of it goes.
    assert sent(autogen_token_limited(1))[0] == [[0]] * 4


def test_head_and_tail_say_how_many_are_missing():
    shown, run = sent(autogen_head_and_tail(2, tail_size=2))
    # Five messages: the head is q0 and the call, which is dropped; a0 and q1 are the tail.
    assert shown[2] == [0, 1, None, 5, 6]
    assert run.window(2).messages[2] == user("Skipped 1 messages.")
    assert run.window(3).messages[2].text == "Skipped 3 messages."
    assert shown[:2] == [[0, 1], [0, 1, 2, 3, 4]]
