"""Message counts by hand, and a recount of all of tau-bench with the formula written anew."""

from __future__ import annotations

import json
import pickle

import pytest

from chatmem_lab.errors import UnknownModelError
from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    assistant,
    system,
    tool_output,
    user,
)
from chatmem_lab.tokens import Count, Model, counter, default_counter


@pytest.fixture
def gpt_4o():
    return counter("gpt-4o")


def test_b013_and_b019_plain_messages(gpt_4o):
    assert gpt_4o.count_message(system("Be brief.")) == Count(7, "exact")
    assert gpt_4o.count_message(user("a" * 8000)) == Count(1004, "exact")
    assert gpt_4o.request_tokens == 3
    turns = [
        system("Be brief."),
        user("Hi"),
        assistant("Hello!"),
        user("What is 2+2?"),
        assistant("4"),
        user("And 3+3?"),
    ]
    assert 3 + sum(count.tokens for count in gpt_4o.count_messages(turns)) == 47


def test_names_calls_and_results(gpt_4o):
    # 4, "hi" 1, and the name: 1 and "Ada" 1 or more
    named = gpt_4o.count_message(user("hi", name="Ada")).tokens
    assert named == 4 + 1 + 1 + gpt_4o.count_text("Ada").tokens
    calls = assistant(tool_calls=[ToolCall("call_1", "get_weather", '{"city":"Oslo"}')])
    expected = 4 + 3 + gpt_4o.count_text("get_weather").tokens
    expected += gpt_4o.count_text('{"city":"Oslo"}').tokens
    assert gpt_4o.count_message(calls) == Count(expected, "estimate")
    result = tool_output("call_1", "rain", name="get_weather")
    assert gpt_4o.count_message(result) == Count(4 + 1, "exact")


def test_what_is_not_text(gpt_4o):
    picture = "data:image/png;base64," + "A" * 100_000
    assert gpt_4o.count_message(user("hi", images=[picture])) == Count(5 + 1445, "upper_bound")
    low = Message("user", (Image(picture, detail="low"),))
    assert gpt_4o.count_message(low) == Count(4 + 85, "upper_bound")
    for part in (Audio("AAAA"), File(name="a.pdf", url="data:x"), Opaque("web", '{"a":1}')):
        assert gpt_4o.count_message(Message("user", (part,))) == Count(4, "lower_bound")
    sealed = Message("assistant", (Reasoning(signature="A" * 9999),))
    assert gpt_4o.count_message(sealed) == Count(4, "lower_bound")
    both = Message("user", (Image(picture), File(name="a.pdf")))
    assert gpt_4o.count_message(both).kind == "estimate"


def test_tool_schemas_are_an_estimate_by_the_cookbook(gpt_4o):
    tool = {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Weather now.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "The city."},
                    "unit": {"type": "string", "enum": ["C", "F"]},
                },
            },
        },
    }

    def text(words):
        return gpt_4o.count_text(words).tokens

    expected = 7 + text("get_weather:Weather now") + 3
    expected += 3 + text("city:string:The city")
    expected += 3 - 3 + 3 + text("C") + 3 + text("F") + text("unit:string:")
    assert gpt_4o.count_tools([tool]) == Count(expected + 12, "estimate")
    assert gpt_4o.count_tools([]) == Count(0, "exact")


def test_hostile_schemas_are_counted_in_bounded_time(gpt_4o):
    nested = {"type": "object"}
    for _ in range(5_000):
        nested = {"type": "object", "properties": {"a": nested}}
    assert gpt_4o.count_tools([{"function": {"name": "f", "parameters": nested}}]).tokens > 5_000
    for odd in ({}, {"function": None}, {"function": {"parameters": [1]}}, {"type": "web_search"}):
        assert gpt_4o.count_tools([odd]).kind == "estimate"


def test_models_and_estimates():
    assert counter("openai/gpt-4o-2024-08-06").name == "gpt-4o (o200k_base)"
    assert counter("gpt-4").encoding == "cl100k_base"
    guessed = counter("deepseek-chat", estimate=True)
    assert guessed.count_text("hello world") == Count(2, "estimate")
    assert guessed.name == "deepseek-chat (o200k_base, estimate)"
    assert default_counter().count_message(user("hi")) == Count(5, "estimate")
    own = counter(Model(name="ours", encoding="cl100k_base", context_window=1_000))
    assert own.count_text("hello world") == Count(2, "exact")
    for unknown in ("deepseek-chat", "claude-sonnet-4-5", "gpt-4o-imaginary", ""):
        with pytest.raises(UnknownModelError, match="estimate=True"):
            counter(unknown)


def test_counters_survive_pickling():
    again = pickle.loads(pickle.dumps(counter("gpt-5")))
    assert again.count_text("hello world") == Count(2, "exact")
    assert repr(again) == "<OpenAICounter gpt-5 (o200k_base)>"


def test_all_of_tau_bench_recounted_with_tiktoken(reference, transcripts):
    from chatmem_lab.corpora import read

    path = transcripts / "tau-bench" / "gpt-4o-airline.json"
    encode = reference["o200k_base"].encode_ordinary
    expected = 0
    for run in json.loads(path.read_text()):
        for message in run["traj"]:
            expected += 3 + 1 + len(encode(message["content"] or ""))
            for call in message.get("tool_calls") or ():
                expected += 3 + len(encode(call["function"]["name"]))
                expected += len(encode(call["function"]["arguments"]))
    messages = [m for conversation in read(path) for m in conversation.messages]
    counts = counter("gpt-4o").count_messages(messages)
    assert len(counts) == 5_308
    assert sum(count.tokens for count in counts) == expected


def test_text_parts_are_counted_apart(gpt_4o):
    two = Message("user", (Text("hello"), Text("world")))
    apart = gpt_4o.count_text("hello").tokens + gpt_4o.count_text("world").tokens
    assert gpt_4o.count_message(two) == Count(4 + apart, "exact")
