"""Message counts by hand, and a recount of all of tau-bench with the formula written anew."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import toktok

from chatmem_lab.errors import EncodingError, UnknownModelError
from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    assistant,
    developer,
    system,
    tool_output,
    user,
)
from chatmem_lab.tokens import (
    Count,
    Model,
    counter,
    default_counter,
    known_models,
)


@pytest.fixture
def gpt_4o():
    return counter("gpt-4o")


def request(one, *messages):
    return one.request_tokens + sum(count.tokens for count in one.count_messages(messages))


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
    counts = gpt_4o.count_messages(turns)
    assert [count.tokens for count in counts] == [7, 5, 6, 11, 5, 10]
    assert request(gpt_4o, *turns) == 47


def test_b050_b055_b056_requests(gpt_4o):
    for one in (gpt_4o, counter("gpt-4")):
        assert request(one, user("Explain <|endoftext|> please")) == 16
        assert request(one, user("hi"), assistant(None)) == 12
        assert request(one, user("hi"), assistant("")) == 12
    call = ToolCall("c1", "read_file", '{"path":"notes.txt"}')
    assert request(gpt_4o, user("hi"), assistant(tool_calls=[call])) == 12 + 6 + 2 + 3


def test_the_cookbooks_example():
    """OpenAI Cookbook, "How to count tokens with tiktoken", section 6: what the API billed."""
    messages = [
        system(
            "You are a helpful, pattern-following assistant that translates corporate jargon "
            "into plain English."
        ),
        *(
            Message("system", (Text(text),), name=name)
            for name, text in [
                ("example_user", "New synergies will help drive top-line growth."),
                ("example_assistant", "Things working well together will increase revenue."),
                (
                    "example_user",
                    "Let's circle back when we have more bandwidth to touch base on "
                    "opportunities for increased leverage.",
                ),
                (
                    "example_assistant",
                    "Let's talk later when we're less busy about how to do better.",
                ),
            ]
        ),
        user(
            "This late pivot means we don't have time to boil the ocean for the client "
            "deliverable."
        ),
    ]
    billed = {"gpt-3.5-turbo": 129, "gpt-4-0613": 129, "gpt-4": 129, "gpt-4o": 124}
    for model, tokens in {**billed, "gpt-4o-mini": 124}.items():
        assert request(counter(model), *messages) == tokens


def test_recorded_usage_of_plain_requests():
    """What OpenAI billed for requests that Pydantic AI's test suite recorded in 2026."""
    mini = counter("gpt-4o-mini-2024-07-18")
    teacher = system("You are a helpful math assistant. Give short answers.")
    assert request(mini, teacher, user("What is 2+2?")) == 29
    more = [user("What is 2+2?"), assistant("2 + 2 = 4."), user("And 3+3?")]
    assert request(mini, teacher, *more) == 51
    story = "Tell me a 300-word story about a fox exploring a forest. Be very descriptive."
    assert request(counter("gpt-4.1"), user(story)) == 25
    empty = [system("Follow the system instructions."), user("")]
    assert request(counter("gpt-4.1-mini"), *empty) == 16


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_every_role_is_one_token(reference, model):
    one = counter(model)
    for message in (system("x"), developer("x"), user("x"), assistant("x"), tool_output("c", "x")):
        assert len(reference[one.encoding].encode_ordinary(message.role)) == 1
        assert one.count_message(message) == Count(3 + 1 + 1, "exact")


def test_names_calls_and_results(gpt_4o, reference):
    def tokens(text):
        return len(reference["o200k_base"].encode_ordinary(text))

    name = "Ada Lovelace-Byron"
    named = gpt_4o.count_message(user("hi", name=name))
    assert named == Count(3 + 1 + 1 + 1 + tokens(name), "exact")
    first = ToolCall("call_1", "get_weather", '{"city" :  "Oslo"}')
    second = ToolCall("call_2", "look_up", "")
    expected = 3 + 1 + tokens("One moment.")
    expected += 3 + tokens("get_weather") + tokens('{"city" :  "Oslo"}') + 3 + tokens("look_up")
    calls = assistant("One moment.", tool_calls=[first, second])
    assert gpt_4o.count_message(calls) == Count(expected, "estimate")
    result = tool_output("call_1", "rain", name="get_weather")
    assert gpt_4o.count_message(result) == Count(3 + 1 + 1, "exact")
    in_parts = Message("tool", (Text("rain"), Text("rain")), name="get_weather")
    assert gpt_4o.count_message(in_parts) == Count(3 + 1 + 1 + 1, "exact")
    for model in ("gpt-5", "o3"):
        assert counter(model).count_message(result) == Count(5, "estimate")
        assert counter(model).count_message(user("rain")).kind == "exact"
    assert counter("gpt-oss-20b").count_message(user("rain")) == Count(5, "estimate")


def test_text_parts_are_counted_apart(gpt_4o):
    two = Message("user", (Text("hello"), Text("world"), Refusal("no")))
    assert gpt_4o.count_message(two) == Count(4 + 1 + 1 + 1, "exact")
    assert gpt_4o.count_message(Message("user")) == Count(4, "exact")


PICTURE = "data:image/png;base64," + "A" * 100_000


def test_images_are_bounds_by_family():
    # tiles: base + 8 × tile; patches: the most of them × factor, rounded up
    most = {
        "gpt-4o": 85 + 8 * 170,
        "gpt-4-turbo": 1_445,
        "gpt-4o-mini": 2_833 + 8 * 5_667,
        "o1": 75 + 8 * 150,
        "gpt-5": 70 + 8 * 140,
        "gpt-4.1-mini": 2_489,
        "o4-mini": 2_642,
        "gpt-5-nano": 3_779,
        "gpt-5.5": 12_000,
    }
    for model, tokens in most.items():
        count = counter(model).count_message(user("hi", images=[PICTURE]))
        assert count == Count(4 + 1 + tokens, "upper_bound")
    low = Message("user", (Image(PICTURE, detail="low"),))
    assert counter("gpt-4o").count_message(low) == Count(4 + 85, "upper_bound")
    assert counter("gpt-4.1-mini").count_message(low) == Count(4 + 2_489, "upper_bound")


@pytest.mark.parametrize(
    "one",
    [
        counter("gpt-3.5-turbo"),
        counter("o3-mini"),
        counter(Model(name="m", encoding="o200k_base")),
        counter("some-model", estimate=True),
        default_counter(),
    ],
    ids=repr,
)
def test_b062_an_image_without_a_rule_is_unknown_and_not_free(one):
    for detail in (None, "low"):
        count = one.count_message(Message("user", (Image(PICTURE, detail=detail),)))
        assert count.kind == "unknown"
        assert count.tokens > 85 + 4


def test_what_is_not_text_is_a_bound(gpt_4o):
    for part in (Audio("A" * 9_999), File(name="a.pdf", url=PICTURE), Opaque("web", '{"a":1}')):
        assert gpt_4o.count_message(Message("user", (part,))) == Count(4, "lower_bound")
    said = Message("user", (Audio("A" * 9_999, transcript="hello world"),))
    assert gpt_4o.count_message(said) == Count(4 + 2, "lower_bound")
    sealed = Message("assistant", (Reasoning(signature="A" * 9999), Text("hello world")))
    assert gpt_4o.count_message(sealed) == Count(4 + 2, "lower_bound")
    thought = Message("assistant", (Reasoning("hello world", signature="A" * 9999),))
    assert gpt_4o.count_message(thought) == Count(4 + 2, "estimate")
    both = Message("user", (Image(PICTURE), File(name="a.pdf")))
    assert gpt_4o.count_message(both) == Count(4 + 1_445, "estimate")


def test_b053_models_and_estimates():
    for name, encoding in [
        ("gpt-4o", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("gpt-oss-20b", "o200k_harmony"),
    ]:
        assert counter(name).encoding == encoding
    assert counter("openai/gpt-4o-2024-08-06").name == "gpt-4o (o200k_base)"
    for unknown in ("azure/my-deployment", "deepseek-chat", "claude-sonnet-4-5", "gpt-4o-x", ""):
        with pytest.raises(UnknownModelError, match="estimate=True"):
            counter(unknown)
        guessed = counter(unknown, estimate=True)
        assert guessed.count_text("hello world") == Count(2, "estimate")
        assert guessed.count_message(user("hi")) == Count(5, "estimate")
    assert counter("deepseek-chat", estimate=True).name == "deepseek-chat (o200k_base, estimate)"


def test_a_known_model_is_no_estimate_even_where_one_is_allowed():
    assert counter("gpt-4", estimate=True) == counter("gpt-4")
    near = Model(name="near", encoding="cl100k_base")
    assert counter(near, estimate=True).count_text("hi") == Count(1, "estimate")
    assert counter(near).count_text("hi") == Count(1, "exact")


def test_without_a_model_every_count_is_an_estimate():
    one = default_counter()
    assert one.model is None
    assert one.name == "any model (o200k_base, estimate)"
    assert one.count_text("hello world") == Count(2, "estimate")
    assert one.count_message(user("hi")) == Count(5, "estimate")
    assert one.count_message(Message("user", (File(),))) == Count(4, "estimate")


def test_an_encoding_that_does_not_exist_is_said_at_once():
    with pytest.raises(EncodingError, match="no encoding 'o999k'"):
        counter(Model(name="m", encoding="o999k"))


@pytest.mark.usefixtures("fresh_tiktoken", "no_network")
def test_b058_a_model_whose_vocabulary_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    one = counter("text-davinci-003")
    with pytest.raises(EncodingError, match="ec7223a39ce59f226a68acc30dc1af2788490e15"):
        one.count_text("hello world")


def test_every_model_of_the_table_can_be_counted_for():
    for model in known_models():
        one = counter(model.name)
        assert one.model == model.name
        if model.encoding != "p50k_base":
            assert one.count_text("hello world") == Count(2, "exact")


def test_counters_survive_pickling():
    for one in (counter("gpt-5"), default_counter(), counter("x", estimate=True)):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert hash(again) == hash(one)
        assert again.count_messages([user("hello world")]) == one.count_messages(
            [user("hello world")]
        )
    assert counter("gpt-5") != counter("gpt-4o")
    assert repr(counter("gpt-5")) == "<OpenAICounter gpt-5 (o200k_base)>"


def test_threads_share_a_counter(gpt_4o):
    messages = [user(f"message {i} " * (i % 7)) for i in range(200)]
    expected = gpt_4o.count_messages(messages)
    with ThreadPoolExecutor(8) as pool:
        assert all(
            counts == expected for counts in pool.map(gpt_4o.count_messages, [messages] * 40)
        )


def test_each_distinct_text_is_counted_once_in_one_batch(gpt_4o, monkeypatch):
    batches = []
    genuine = toktok.batch_count
    monkeypatch.setattr(
        toktok,
        "batch_count",
        lambda texts, encoding: batches.append(list(texts)) or genuine(texts, encoding),
    )
    call = ToolCall("1", "look_up", '{"a":1}')
    messages = [user("same"), user("same", name="same"), assistant("same", tool_calls=[call] * 2)]
    gpt_4o.count_messages([*messages, user("other"), tool_output("1", "same")])
    (texts,) = batches
    assert sorted(texts) == ["look_up", "other", "same", '{"a":1}']
    assert gpt_4o.count_messages([]) == []


def as_message(recorded):
    calls = [
        ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in recorded.get("tool_calls") or ()
    ]
    text = recorded["content"]
    return Message(
        recorded["role"],
        (Text(text),) if text else (),
        tool_calls=tuple(calls),
        tool_call_id=recorded.get("tool_call_id"),
        name=recorded.get("name"),
    )


def test_all_of_tau_bench_recounted_with_tiktoken(reference, transcripts):
    path = transcripts / "tau-bench" / "gpt-4o-airline.json"
    recorded = [message for run in json.loads(path.read_text()) for message in run["traj"]]
    encode = reference["o200k_base"].encode_ordinary
    expected = []
    for message in recorded:
        tokens, kind = 3 + 1 + len(encode(message["content"] or "")), "exact"
        for call in message.get("tool_calls") or ():
            tokens += 3 + len(encode(call["function"]["name"]))
            tokens += len(encode(call["function"]["arguments"]))
            kind = "estimate"
        expected.append((tokens, kind))
    counts = counter("gpt-4o").count_messages([as_message(message) for message in recorded])
    assert len(counts) == 5_308
    assert counts == expected
    assert sum(count.tokens for count in counts) == sum(tokens for tokens, _ in expected) > 500_000
