"""LlamaIndex's memories by hand, worked out from the source of llama-index-core 0.14.25.

Each text is one word of one token, and so is the word None that stands for calls.
"""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation, ToolCall, assistant, system, tool_output, user
from chatmem_lab.policies.presets import (
    LlamaIndexQueue,
    llama_index_chat_memory_buffer,
    llama_index_chat_summary_memory_buffer,
    llama_index_memory,
)
from chatmem_lab.policies.presets.llama_index import _where_joined_fit
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from chatmem_lab.tokens import counter


def replay(conversation, preset):
    return cml.replay(conversation, preset, counter=LengthCounter())


def windows(conversation, preset):
    run = replay(conversation, preset)
    return [[slot.position for slot in run.window(r).slots] for r in range(len(run.requests))]


def texts(conversation, preset, request):
    return [message.text for message in replay(conversation, preset).window(request).messages]


def chat(turns):
    messages = [system("S")]
    for _ in range(turns):
        messages += [user("ask"), assistant("answer")]
    return Conversation("chat", tuple(messages))


def agent(results):
    messages = [system("S"), user("start")]
    for i in range(results):
        call = ToolCall(f"c{i}", "look", '{"at": "everything"}')
        messages += [assistant(tool_calls=[call]), tool_output(f"c{i}", "seen")]
    return Conversation("agent", (*messages, assistant("done")))


def test_the_newest_that_fit_from_a_user_message_on():
    # Before the third answer the memory has five messages, over four. Four would begin with
    # an answer, so three are left. The system prompt is not in it.
    assert windows(chat(4), llama_index_chat_memory_buffer(4)) == [
        [0, 1],
        [0, 1, 2, 3],
        [0, 3, 4, 5],
        [0, 5, 6, 7],
    ]


def test_the_scratchpad_of_a_run_is_never_cut():
    assert windows(agent(3), llama_index_chat_memory_buffer(1))[-1] == list(range(8))


def test_added_as_they_come_calls_leave_a_result_behind():
    # "start None seen" are three tokens. With two more, the walk to a message that is none
    # of the assistant's and no result ends only at the last message: a result alone.
    assert windows(agent(2), llama_index_chat_memory_buffer(3, scratchpad=False)) == [
        [0, 1],
        [0, 1, 2, 3],
        [0, 5],
    ]


@pytest.mark.parametrize("limit", range(1, 40))
def test_joined_texts_are_counted_as_if_they_were_joined(limit):
    count = counter("gpt-3.5-turbo").count_text
    parts = ["ok\n", "", "\n two words ", "None", "12", "3\t", " x\n\n", "...", "'s", "", "end"]
    expected = {at for at in range(len(parts)) if count(" ".join(parts[at:])).tokens <= limit}
    assert _where_joined_fit(parts, lambda text: count(text).tokens, limit) == expected


SHORT = summarizer_from(lambda messages: "short")


def test_what_does_not_fit_becomes_a_system_message():
    # After the second answer three of four fit, from an answer on, which goes with the
    # question before it: "short ask answer". The third question comes behind them.
    preset = llama_index_chat_summary_memory_buffer(SHORT, token_limit=3)
    run = replay(chat(4), preset)
    shown = [[(m.role, m.text) for m in run.window(r).messages] for r in range(4)]
    kept = [("system", "S"), ("system", "short"), ("user", "ask"), ("assistant", "answer")]
    assert shown[1] == [("system", "S"), ("user", "ask"), ("assistant", "answer"), ("user", "ask")]
    assert shown[2] == [*kept, ("user", "ask")]
    assert shown[3] == [*kept, ("user", "ask")]
    # Once behind the second answer, once behind the third, once behind the fourth.
    assert run.events["kind"].tolist() == ["fold", "fold", "fold"]


def test_a_question_that_is_too_long_is_summarized_itself():
    conversation = Conversation(
        "long", (system("S"), user("one two three four"), assistant("yes"))
    )
    preset = llama_index_chat_summary_memory_buffer(SHORT, token_limit=3)
    assert texts(conversation, preset, 0) == ["S", "short"]


def test_the_queue_is_flushed_from_its_oldest_end():
    # Half of ten tokens: six after the third answer are one too many. Two leave, up to the
    # next question, and four stay; and again after the fourth.
    preset = llama_index_memory(10, chat_history_token_ratio=0.5, token_flush_size=2)
    assert windows(chat(5), preset)[2:] == [
        [0, 1, 2, 3, 4, 5],
        [0, 3, 4, 5, 6, 7],
        [0, 5, 6, 7, 8, 9],
    ]


def test_a_flush_larger_than_the_limit_is_seven_tenths_of_it():
    # 0.7 of four: 2.8 tokens for the messages, so three are over it, the second question
    # already. Flushed are int(2.8) = 2.
    assert windows(chat(3), llama_index_memory(4)) == [[0, 1], [0, 3], [0, 5]]


def test_without_a_question_everything_may_leave():
    # Three tokens are over 2.8; two are flushed, the third is no question and goes too.
    conversation = Conversation("greetings", tuple([assistant("hi")] * 6))
    assert windows(conversation, llama_index_memory(4)) == [[], [0], [0, 1], [], [3], [3, 4]]


def test_static_content_is_a_system_message_or_in_front_of_the_question():
    block = "<memory>\n<StaticContent>\nDutch\n</StaticContent>\n</memory>"
    preset = llama_index_memory(static_content="Dutch")
    assert texts(chat(2), preset, 1) == ["S", block, "ask", "answer", "ask"]
    preset = llama_index_memory(static_content="Dutch", insert_method="user")
    assert texts(chat(2), preset, 1) == ["S", "ask", "answer", f"{block}\nask"]


def test_there_are_two_ways_to_put_it_in():
    with pytest.raises(PolicyError, match="insert_method must be system or user, not 'front'"):
        LlamaIndexQueue(insert_method="front")
