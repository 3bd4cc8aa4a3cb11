"""Semantic Kernel's reducers by hand, worked out from the source of semantic-kernel 1.45.0."""

from __future__ import annotations

import chatmem_lab as cml
from chatmem_lab.messages import Conversation, ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies.presets import (
    semantic_kernel_summarization,
    semantic_kernel_truncation,
)
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter


def replay(conversation, preset):
    return cml.replay(conversation, preset, counter=LengthCounter())


def windows(conversation, preset):
    run = replay(conversation, preset)
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))]


def chat(turns):
    messages = [system("S")]
    for turn in range(turns):
        messages += [user(f"q{turn}"), assistant(f"a{turn}")]
    return Conversation("chat", tuple(messages))


def test_before_a_turn_the_newest_stay_and_the_instruction():
    # Before q2 (5) there are five messages, S to a1: not over five. Before q3 (7) seven: the
    # instruction is one of the five, so four stay, from q1 (3) on. Then q3 comes in.
    # Before q4 (9) seven again: S, q1 to a3.
    assert windows(chat(5), semantic_kernel_truncation(5)) == [
        [0, 1],
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4, 5],
        [0, 3, 4, 5, 6, 7],
        [0, 5, 6, 7, 8, 9],
    ]


def test_within_the_threshold_the_tail_begins_at_a_user_message():
    # Target 4, threshold 2. Before q3 (7) there are seven, over six: three stay beside the
    # instruction, from a1 (4) on; two further back may be looked at, and q1 (3) is one.
    assert windows(chat(4), semantic_kernel_truncation(4, threshold_count=2))[-1] == [
        0,
        3,
        4,
        5,
        6,
        7,
    ]


def agent(results):
    messages = [system("S"), user("start")]
    for i in range(results):
        call = ToolCall(f"c{i}", "look", "{}")
        messages += [assistant(tool_calls=[call]), tool_output(f"c{i}", f"r{i}")]
    return Conversation("agent", (*messages, assistant("done")))


def test_a_run_of_calls_and_results_is_never_cut():
    # The walk back from the cut ends at the first call (2): only "start" (1) leaves, which
    # stands before it.
    preset = semantic_kernel_truncation(4, auto_reduce=True)
    assert windows(agent(3), preset) == [
        [0, 1],
        [0, 1, 2, 3],
        [0, 2, 3, 4, 5],
        [0, 2, 3, 4, 5, 6, 7],
    ]


def test_a_target_of_one_leaves_the_instruction_alone():
    assert windows(chat(3), semantic_kernel_truncation(1, auto_reduce=True)) == [[0], [0], [0]]


def told_and_shown(**options):
    told = []

    def short(messages):
        told.append([m.text for m in messages])
        return "short"

    preset = semantic_kernel_summarization(
        summarizer_from(short), target_count=3, auto_reduce=True, **options
    )
    messages = (*agent(2).messages, user("and now?"), assistant("bye"))
    run = replay(Conversation("agent", messages), preset)
    return told, [m.text for m in run.window(3).messages], run


def test_the_summarizer_is_not_told_what_the_tools_said():
    # S, start, and then calls and results: at the third message behind the start, four are
    # over three. "start" is summarized; the run of calls stays until the question comes.
    told, shown, run = told_and_shown()
    assert told[0] == ["start"]
    # S, short, four of the tools, done (6) and the question (7): the two newest stay, and
    # what leaves with the summary are the calls and results, of which nothing is told.
    assert told[1] == ["short"]
    assert shown == ["S", "short", "done", "and now?"]
    assert run.events["kind"].tolist().count("fold") == len(told)


def test_it_may_be_told():
    told, _, _ = told_and_shown(include_function_content_in_summary=True)
    assert told[1] == ["short", "", "r0", "", "r1"]


def test_a_failed_summary_changes_nothing():
    preset = semantic_kernel_summarization(
        summarizer_from(lambda messages: None), target_count=3, auto_reduce=True
    )
    assert windows(agent(3), preset)[-1] == [0, 1, 2, 3, 4, 5, 6, 7]
