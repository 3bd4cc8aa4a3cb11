"""Pydantic AI harness's compactions by hand, worked out from pydantic-ai-harness 0.62.0."""

from __future__ import annotations

import json

import chatmem_lab as cml
from chatmem_lab.messages import Conversation, ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies.presets import (
    pydantic_ai_clamp_oversized,
    pydantic_ai_clear_tool_results,
    pydantic_ai_deduplicate_file_reads,
    pydantic_ai_sliding_window,
)
from chatmem_lab.testing import LengthCounter


def read(n, path="a.py"):
    call = ToolCall(f"c{n}", "read_file", json.dumps({"path": path}))
    return [assistant(tool_calls=[call]), tool_output(f"c{n}", f"text {n}")]


def agent(*paths):
    messages = [system("S"), user("go")]
    for n, path in enumerate(paths):
        messages += read(n, path)
    return Conversation("agent", (*messages, assistant("done")))


def sent(preset, conversation):
    run = cml.replay(conversation, preset, counter=LengthCounter())
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))], run


def test_the_first_user_message_and_the_newest_whole_pairs_stay():
    # Without the system message: go, then pairs. Before the fourth request seven messages
    # are over five; the newest three begin with a result, so the cut moves back to its call.
    shown, _ = sent(pydantic_ai_sliding_window(5, keep_messages=3), agent("a", "b", "c"))
    assert shown == [[0, 1], [0, 1, 2, 3], [0, 1, 2, 3, 4, 5], [0, 1, 4, 5, 6, 7]]
    bare = pydantic_ai_sliding_window(5, keep_messages=0, preserve_first_user_message=False)
    assert sent(bare, agent("a", "b", "c"))[0][3] == [0, 6, 7]


def test_results_are_cleared_in_batches():
    preset = pydantic_ai_clear_tool_results(4, keep_pairs=1)
    _, run = sent(preset, agent("a", "b", "c", "d", "e"))
    texts = [[m.text for m in run.window(r).messages if m.role == "tool"] for r in range(6)]
    gone = "[tool result cleared]"
    assert texts[2] == [gone, "text 1"]
    # Two messages have come since the last cleared one, then four, then six.
    assert texts[3] == [gone, "text 1", "text 2"]
    assert texts[4] == [gone, gone, gone, "text 3"]


def test_inputs_may_be_cleared_too_and_tools_excluded():
    both = pydantic_ai_clear_tool_results(1, keep_pairs=0, clear_tool_inputs=True)
    window = sent(both, agent("a"))[1].window(1)
    assert window.messages[2].tool_calls == (ToolCall("c0", "read_file", "{}"),)
    none = pydantic_ai_clear_tool_results(1, keep_pairs=0, exclude_tools=("read_file",))
    assert sent(none, agent("a"))[1].window(1).messages[3].text == "text 0"


def test_of_the_reads_of_a_file_the_newest_keeps_its_text():
    run = sent(pydantic_ai_deduplicate_file_reads(), agent("a", "b", "a"))[1]
    texts = [m.text for m in run.window(3).messages if m.role == "tool"]
    assert texts == ["[superseded file read]", "text 1", "text 2"]


def test_only_what_the_model_says_is_clamped():
    long = "x" * 200
    call = ToolCall("c0", "write", json.dumps({"text": long}))
    conversation = Conversation(
        "long",
        (user(long), assistant(long, tool_calls=[call]), tool_output("c0", long), assistant("ok")),
    )
    preset = pydantic_ai_clamp_oversized(100, keep_head_chars=10, keep_tail_chars=5)
    messages = sent(preset, conversation)[1].window(1).messages
    marker = "\n[clamped: removed 185 of 200 characters]\n"
    assert [m.text for m in messages] == [long, "x" * 10 + marker + "x" * 5, long]
    written = json.loads(messages[1].tool_calls[0].arguments)["_clamped"]
    assert written.startswith('{"text": "\n[clamped: removed 197 of 212 characters]')
    texts_only = pydantic_ai_clamp_oversized(
        100, keep_head_chars=10, keep_tail_chars=5, clamp_tool_call_args=False
    )
    assert sent(texts_only, conversation)[1].window(1).messages[1].tool_calls == (call,)
