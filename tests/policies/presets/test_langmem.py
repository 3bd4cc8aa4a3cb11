"""langmem's running summary by hand, worked out from langmem 0.0.30."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation, assistant, system, tool_output, user
from chatmem_lab.policies.presets import langmem_summarize_messages
from chatmem_lab.testing import LengthCounter
from recording_summarizer import Recording
from replaying import calls

# As LangChain counts: four characters a token, the role's name too, and three a message.
# 56 and "user": 15 + 3 tokens; 51 and "assistant": 15 + 3; 54 and "system": 15 + 3.
QUESTIONS = [f"question {i} ".ljust(56, "q") for i in range(4)]
ANSWERS = [f"answer {i} ".ljust(51, "a") for i in range(4)]
RULES = system("R" * 54)


def chat(*first):
    turns = [m for q, a in zip(QUESTIONS, ANSWERS) for m in (user(q), assistant(a))]
    return Conversation("chat", (*first, *turns))


def sent(preset, conversation):
    run = cml.replay(conversation, preset, counter=LengthCounter())
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))], run


def test_the_oldest_become_a_system_message_behind_the_first_one():
    # 18 tokens each. At the third request five of them stand behind the system message: after
    # four there are 72, over 60. At the fourth there are three again, 54: nothing leaves.
    # With the answer to it they are four.
    summarizer = Recording("s")
    preset = langmem_summarize_messages(
        summarizer, max_tokens=90, max_tokens_before_summary=60, max_summary_tokens=10
    )
    shown, run = sent(preset, chat(RULES))
    assert shown == [[0, 1], [0, 1, 2, 3], [0, None, 5], [0, None, 5, 6, 7]]
    assert run.window(2).messages[1].role == "system"
    assert run.window(2).messages[1].text == "Summary of the conversation so far: s"
    assert [[m.text for m in r.messages] for r in summarizer.requests] == [
        [QUESTIONS[0], ANSWERS[0], QUESTIONS[1], ANSWERS[1]],
        [QUESTIONS[2], ANSWERS[2], QUESTIONS[3], ANSWERS[3]],
    ]


def test_a_summary_is_made_longer_by_what_leaves_next():
    # Two are over 30 already: of the three behind what is summarized two leave each time.
    summarizer = Recording("s")
    preset = langmem_summarize_messages(
        summarizer, max_tokens=90, max_tokens_before_summary=30, max_summary_tokens=10
    )
    assert sent(preset, chat(RULES))[0] == [[0, 1], [0, None, 3], [0, None, 5], [0, None, 7]]
    asked = [(r.previous, [m.text for m in r.messages]) for r in summarizer.requests]
    assert asked == [
        (None, [QUESTIONS[0], ANSWERS[0]]),
        ("s", [QUESTIONS[1], ANSWERS[1]]),
        ("s", [QUESTIONS[2], ANSWERS[2]]),
        ("s", [QUESTIONS[3], ANSWERS[3]]),
    ]


def test_a_system_message_that_leaves_no_room_stops_it_for_ever():
    long = system("R" * 400)
    preset = langmem_summarize_messages(Recording("s"), max_tokens=90, max_summary_tokens=10)
    assert sent(preset, chat(long))[0][-1] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert None in sent(preset, chat(RULES))[0][-1]


def test_the_users_last_message_leaves_too_where_the_limit_is_reached_by_it():
    # Five messages have 90 tokens: the fifth is the first with which 90 are reached.
    preset = langmem_summarize_messages(Recording("s"), max_tokens=90, max_summary_tokens=10)
    assert sent(preset, chat())[0] == [[0], [0, 1, 2], [None], [None, 5, 6]]


def test_only_what_fits_is_shown_to_the_summarizer():
    # 72 tokens leave, 60 may be read: the last three have 54, and the last line of the first
    # is its whole text. From a user message on: the second question. Behind the last answer
    # 72 leave again, and beside the summary (4 tokens) even less may be read.
    summarizer = Recording("s")
    preset = langmem_summarize_messages(
        summarizer, max_tokens=60, max_tokens_before_summary=70, max_summary_tokens=10
    )
    run = sent(preset, chat())[1]
    assert [m.text for m in summarizer.requests[0].messages] == [QUESTIONS[1], ANSWERS[1]]
    evicted = [event.units for event in run.trace.events if event.kind == "evict"]
    assert evicted == [((0,), (1,)), ((4,), (5,))]


def agent(*results):
    ids = [result.tool_call_id for result in results]
    return Conversation("agent", (user("look " * 12), calls(*ids), *results, assistant("done")))


def test_a_cut_behind_calls_takes_their_results_along_and_one_between_results_tears_them():
    conversation = agent(tool_output("a", "r" * 40), tool_output("b", "r" * 40))
    first, second = (
        langmem_summarize_messages(
            Recording("s"),
            max_tokens=200,
            max_tokens_before_summary=before,
            max_summary_tokens=0,
        )
        for before in (20, 60)
    )
    # 60 characters and "user", 19 tokens: with the calls over 20; all results leave with them.
    assert sent(first, conversation)[0][-1] == [None]
    # With the calls 54 tokens, with the first result 69: the second is left alone.
    assert sent(second, conversation)[0][-1] == [None, 3]


def test_wrong_parameters_are_named():
    with pytest.raises(PolicyError, match=r"max_summary_tokens \(256\) must be less than"):
        langmem_summarize_messages(Recording("s"), max_tokens=200)
    with pytest.raises(PolicyError, match="token_counter must be approximate or replay"):
        langmem_summarize_messages(Recording("s"), max_tokens=900, token_counter="exact")
