"""LangChain's memory by hand, worked out from langchain 1.5.2 and langchain-core 1.8.3."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import (
    Conversation,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.policies.amounts import Messages, Tokens, Turns
from chatmem_lab.policies.presets import (
    langchain_context_editing,
    langchain_summarization,
    langchain_trim_messages,
)
from chatmem_lab.policies.presets.langchain import approximate_tokens
from chatmem_lab.testing import LengthCounter
from recording_summarizer import Recording
from replaying import calls


def test_its_count_by_hand():
    # 8 characters and the 4 of "user": 3 tokens, and 3 for the message.
    assert approximate_tokens(user("12345678")) == 6
    # 9 and 4: 4 tokens, rounded up.
    assert approximate_tokens(user("123456789")) == 7
    # "ok", the id and "tool": 8 characters.
    assert approximate_tokens(tool_output("c1", "ok")) == 5
    # [{'name': 'f', 'args': {'a': 1}, 'id': 'c1', 'type': 'tool_call'}] is 66, assistant 9.
    one = assistant(tool_calls=[ToolCall("c1", "f", '{"a":1}')])
    assert approximate_tokens(one) == 19 + 3
    # An image is 85.
    assert approximate_tokens(user("12345678", images=["https://example.org/a.png"])) == 6 + 85
    # A call that is no JSON is an invalid one, and counts nothing.
    assert approximate_tokens(assistant(tool_calls=[ToolCall("c1", "f", "{")])) == 3 + 3


TALK = Conversation(
    "talk",
    (
        system("S"),
        user("q0"),
        calls("a"),
        tool_output("a", "r" * 40),
        assistant("a0"),
        user("q1"),
        assistant("a1"),
        user("q2"),
        assistant("a2"),
    ),
)


def sent(preset, conversation=TALK):
    run = cml.replay(conversation, preset, counter=LengthCounter())
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))], run


def tokens(*positions):
    return sum(approximate_tokens(TALK.messages[p]) for p in positions)


def test_trimming_loses_the_system_message_and_tears_pairs():
    # Before a1: 3 (the result), 4 and 5 fit, the call does not.
    assert sent(langchain_trim_messages(tokens(3, 4, 5)))[0][2] == [3, 4, 5]
    assert sent(langchain_trim_messages(tokens(4, 5) - 1))[0][2] == [5]
    assert sent(langchain_trim_messages(1))[0][2] == []


def test_trimming_with_the_system_message_and_a_human_start():
    preset = langchain_trim_messages(tokens(0, 3, 4, 5), include_system=True, start_on=("human",))
    assert sent(preset)[0][2] == [0, 5]
    first = langchain_trim_messages(tokens(0, 1, 2), strategy="first", end_on=("human",))
    assert sent(first)[0][2] == [0, 1]


def test_of_the_message_at_the_edge_the_lines_that_fit_stay():
    # 122 characters and "user": 32 + 3 tokens. The last two lines have 81 + 4 characters, 25
    # tokens, the first two with their line breaks 82 + 4, 25 too.
    lines = ["a" * 40, "b" * 40, "c" * 40]
    conversation = Conversation("lines", (user("\n".join(lines)), assistant("ok")))
    for max_tokens, strategy, text in (
        (35, "last", "\n".join(lines)),
        (25, "last", "\n".join(lines[1:])),
        (24, "last", lines[2]),
        (25, "first", f"{lines[0]}\n{lines[1]}\n"),
        (24, "first", f"{lines[0]}\n"),
    ):
        preset = langchain_trim_messages(max_tokens, strategy=strategy, allow_partial=True)
        run = sent(preset, conversation)[1]
        assert [m.text for m in run.window(0).messages] == [text]
    assert sent(langchain_trim_messages(24), conversation)[0][0] == []


def test_of_an_image_with_text_the_image_stays_or_the_text():
    picture = user("what is this?", images=["https://example.org/a.png"])
    conversation = Conversation("picture", (picture, assistant("a cat")))
    # The text and "user" are 17 characters, 5 + 3 tokens; with the image 93, it alone 89.
    for strategy, max_tokens, kinds in (
        ("last", 93, ["Text", "Image"]),
        ("last", 92, ["Image"]),
        ("last", 88, []),
        ("first", 92, ["Text"]),
    ):
        preset = langchain_trim_messages(max_tokens, strategy=strategy, allow_partial=True)
        shown = sent(preset, conversation)[1].window(0).messages
        assert [type(part).__name__ for m in shown for part in m.parts] == kinds


def test_editing_blanks_old_results_in_each_request():
    shown, run = sent(langchain_context_editing(0, keep=0))
    assert shown[-1] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert run.window(1).messages[3].text == "[cleared]"
    # Below the trigger nothing happens; the trigger counts what the agent's state holds.
    state = tokens(1, 2, 3, 4, 5)
    for trigger, text in ((state, "r" * 40), (state - 1, "[cleared]")):
        run = sent(langchain_context_editing(trigger, keep=0))[1]
        assert run.window(2).messages[3].text == text


def test_only_a_result_right_behind_its_call_is_edited():
    conversation = Conversation(
        "torn",
        (user("q"), calls("a"), assistant("wait"), tool_output("a", "r" * 40), assistant("done")),
    )
    run = sent(langchain_context_editing(0, keep=0), conversation)[1]
    assert run.window(2).messages[3].text == "r" * 40


def test_summaries_stand_in_front_and_pairs_stay_whole():
    summarizer = Recording("s")
    preset = langchain_summarization(summarizer, trigger=Messages(5), keep=Messages(3))
    # Before a1 the state has five messages: the cut at the result moves back to its call.
    shown, run = sent(preset)
    assert shown[2] == [0, None, 2, 3, 4, 5]
    assert run.window(2).messages[1] == run.window(3).messages[1] or shown[3] != shown[2]
    assert run.window(2).messages[1].text == (
        "Here is a summary of the conversation to date:\n\ns"
    )
    assert [m.text for m in summarizer.requests[0].messages] == ["q0"]


def test_without_a_user_message_in_reach_the_summarizer_is_not_called():
    summarizer = Recording("s")
    messages = [user("q0 " * 99)]
    for i in range(4):
        messages += [calls(f"c{i}"), tool_output(f"c{i}", "r" * 20)]
    conversation = Conversation("agent", (*messages, assistant("done")))
    preset = langchain_summarization(
        summarizer, trigger=Messages(7), keep=Messages(2), trim_tokens_to_summarize=30
    )
    run = sent(preset, conversation)[1]
    assert (
        run.window(3).messages[0].text.endswith("Previous conversation was too long to summarize.")
    )
    assert summarizer.requests == []


def test_without_a_trigger_it_never_acts():
    assert sent(langchain_summarization(Recording("s")))[0][-1] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_wrong_parameters_are_named():
    with pytest.raises(PolicyError, match="token_counter must be approximate or replay"):
        langchain_trim_messages(10, token_counter="exact")
    with pytest.raises(PolicyError, match="strategy must be first or last"):
        langchain_trim_messages(10, strategy="middle")
    with pytest.raises(PolicyError, match="go with strategy='last'"):
        langchain_trim_messages(10, strategy="first", start_on=("human",))
    with pytest.raises(PolicyError, match="not user"):
        langchain_trim_messages(10, start_on=("user",))
    with pytest.raises(PolicyError, match="are Messages, Tokens or a Share"):
        langchain_summarization(Recording("s"), trigger=Turns(3))
    assert Tokens(3).n == 3
