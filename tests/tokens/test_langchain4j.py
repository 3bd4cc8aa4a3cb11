"""LangChain4j's formula: its cases, and counts by hand with one token for each word."""

import pickle

import pytest
from msgspec.structs import replace

from chatmem_lab.errors import MessageError, UnknownModelError
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
from chatmem_lab.tokens import Count, TokenCounter, langchain4j_formula
from seed_cases import case_messages, seed_cases

CASES = {case["id"]: case for case in seed_cases() if case["id"].startswith("lc4j-estimate-")}


def words(text):
    return len(text.split())


def tokens(formula, *messages):
    counts = formula.count_messages(messages)
    assert {count.kind for count in counts} <= {"estimate"}
    return [count.tokens for count in counts]


def in_words(*messages, model="gpt-4o-mini"):
    return tokens(langchain4j_formula(model, encode=words), *messages)


@pytest.mark.parametrize("id", ["lc4j-estimate-01", "lc4j-estimate-02"])
def test_seed_case_in_words(id):
    case = CASES[id]
    formula = langchain4j_formula(case["policy"]["params"]["model"], encode=words)
    counted = tokens(formula, *case_messages(case["messages"]))
    assert counted == case["expect"]["message_tokens"]
    total = case["expect"].get("list_tokens")
    assert total is None or formula.request_tokens + sum(counted) == total


def test_lc4j_estimate_04_an_image_is_refused():
    case = CASES["lc4j-estimate-04"]
    (given,) = case["messages"]
    text, image = given["content"]
    message = user(text["text"], images=[image["image_url"]["url"]])
    formula = langchain4j_formula(case["policy"]["params"]["model"])
    with pytest.raises(MessageError, match=r"text only: the user message 'Look' holds .* image"):
        formula.count_message(message)


def test_lc4j_estimate_05_an_unknown_model_is_refused():
    model = CASES["lc4j-estimate-05"]["policy"]["params"]["model"]
    with pytest.raises(UnknownModelError, match=rf"no model '{model}'.*begin with o, gpt-4\."):
        langchain4j_formula(model)


@pytest.mark.parametrize(
    ("model", "pieces"),
    # 这个模型很好用 is 4 tokens in o200k_base and 8 in cl100k_base.
    [
        ("gpt-4o-mini", 4),
        ("gpt-4o-of-tomorrow", 4),
        ("gpt-4.1", 4),
        ("gpt-5-nano", 4),
        ("o3", 4),
        ("openai/gpt-3.5-turbo", 4),
        ("gpt-4", 8),
        ("gpt-4-turbo", 8),
        ("gpt-3.5-turbo-0301", 8),
    ],
)
def test_names_choose_the_encoding(model, pieces):
    assert langchain4j_formula(model).count_text("这个模型很好用") == Count(pieces, "estimate")


@pytest.mark.parametrize("model", ["", "GPT-4o", "gpt-35-turbo", "chatgpt-4o-latest", "gpt", None])
def test_names_that_are_not_known(model):
    with pytest.raises(UnknownModelError, match="LangChain4j's formula has no model"):
        langchain4j_formula(model)


def test_real_tokens_by_hand():
    # "hello world" is 2 tokens.
    assert tokens(langchain4j_formula(), user("hello world"), system("hello world")) == [6, 6]


def test_every_message_costs_four_and_its_text():
    assert in_words(system("a b"), developer("a b c"), user("a"), assistant("a b")) == [6, 7, 5, 6]
    assert in_words(tool_output("c1", "a b c", name="find", is_error=True)) == [7]
    assert in_words(user(), assistant(), tool_output("c1", "")) == [4, 4, 4]
    assert in_words(Message("user", (Text("a b"), Text("c")))) == [7]


def test_only_a_users_name_counts():
    named = [
        replace(message, name="two words")
        for message in (user("a"), assistant("a"), system("a"), tool_output("c1", "a"))
    ]
    assert in_words(*named) == [8, 5, 5, 5]


def test_reasoning_counts_nothing():
    parts = (Reasoning("a b c"), Reasoning(signature="sealed"), Text("d"))
    assert in_words(Message("assistant", parts)) == [5]


def test_one_call_counts_its_name_twice_and_its_raw_arguments():
    call = ToolCall("c1", "find place", "{not json at all")
    # 4 + 5 + 2 x 2 + 4, and the text beside it.
    assert in_words(assistant(tool_calls=[call]), assistant("a b", tool_calls=[call])) == [17, 19]
    assert in_words(assistant(tool_calls=[ToolCall("c1", "find")])) == [11]


def several(*arguments):
    return assistant(tool_calls=[ToolCall("c", "find", text) for text in arguments])


def test_several_calls_with_blank_arguments():
    # 4 + 21 + 2 x (7 + 1); then one argument: 2 + 1 + 2.
    assert in_words(several("", "  \n")) == [41]
    assert in_words(several("", "{}")) == [41]
    assert in_words(several("", '{"title": "two words"}')) == [46]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('"as it is"', "as it is"),
        ("true", "true"),
        ("null", "null"),
        ("12345678901234567890", "12345678901234567890"),
        ("1.50", "1.5"),
        ("0.001", "0.001"),
        ("9999999.0", "9999999.0"),
        ("1e7", "1.0E7"),
        ("123456789.5", "1.234567895E8"),
        ("-0.00025", "-2.5E-4"),
        ("0.0", "0.0"),
        ("1e999", "Infinity"),
        ("-1e999", "-Infinity"),
        ('[1, "b", null, []]', "[1, b, null, []]"),
        ('{"a": {"b": false}, "c": 2}', "{a={b=false}, c=2}"),
    ],
)
def test_values_are_written_as_java_writes_them(value, written):
    seen = []

    def note(text):
        seen.append(text)
        return 1

    formula = langchain4j_formula(encode=note)
    (count,) = formula.count_messages([several(f'{{"key": {value}}}', "")])
    assert seen == ["find", "key", written]
    # 4 + 21 + 2 x (7 + 1) + 2 + 1 + 1: each distinct text was looked at once.
    assert count.tokens == 45


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("{", r"are no JSON \(Expecting property name"),
        ('{"n": NaN}', r"are no JSON \(NaN is no JSON number\)"),
        ('{"a": "b', r"are no JSON \(Unterminated string"),
        ("[1, 2]", "are JSON, but no object"),
        ("null", "are JSON, but no object"),
        ('{"a":' * 100_000, "are nested too deeply"),
        ('{"a":' + "[" * 100 + "]" * 100 + "}", None),
    ],
)
def test_bad_arguments_of_parallel_calls(arguments, why):
    message = several("{}", arguments)
    if why is None:
        assert in_words(message) == [4 + 21 + 2 * 8 + 2 + 1 + 1]
        return
    with pytest.raises(MessageError, match=rf"several calls.*call 'c' \(find\) {why}") as caught:
        in_words(message)
    assert len(str(caught.value)) < 500


def test_models_that_begin_with_o():
    messages = user("a"), assistant("b c"), assistant(), tool_output("c1", "d")
    assert in_words(*messages, model="o4-mini") == [5, 8, 6, 5]
    assert in_words(*messages, model="o3") == [5, 6, 4, 5]
    requests = {
        model: langchain4j_formula(model).request_tokens
        for model in ("o1", "o4-mini", "openai/gpt-4o", "gpt-4o", "gpt-5", "gpt-4")
    }
    assert requests == {
        "o1": 2,
        "o4-mini": 2,
        "openai/gpt-4o": 2,
        "gpt-4o": 3,
        "gpt-5": 3,
        "gpt-4": 3,
    }


@pytest.mark.parametrize(
    "part",
    [
        Image("https://example.org/a.png"),
        File("a.pdf"),
        Audio("UklGRg==", transcript="hello"),
        Refusal("no"),
        Opaque("video", "{}"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_other_parts_are_refused(part):
    kind = type(part).__name__.lower()
    for role in ("user", "assistant", "tool"):
        with pytest.raises(MessageError, match=rf"holds a part of kind {kind}\. Leave it out"):
            in_words(Message(role, (Text("a"), part)))


def test_a_tool_result_of_two_texts_is_refused():
    with pytest.raises(MessageError, match=r"counts one text as a tool result: .* holds 2 texts"):
        in_words(Message("tool", (Text("a"), Text("b")), tool_call_id="c1"))


def test_a_refused_message_refuses_the_list():
    with pytest.raises(MessageError):
        in_words(user("a"), user("b", images=["https://example.org/a.png"]))


def test_a_stand_in_gets_clean_text():
    formula = langchain4j_formula(encode=lambda text: len(text.encode()))
    assert formula.count_text("a\ud800") == Count(4, "estimate")
    assert formula.count_message(user("\0")) == Count(5, "estimate")
    assert formula.count_messages([several('{"a": "\\ud800"}', "")])[0].tokens == (
        4 + 21 + 2 * (7 + 4) + 2 + 1 + 3
    )


def test_tool_schemas_are_left_out_and_it_says_so():
    formula = langchain4j_formula()
    assert formula.count_tools([]) == Count(0, "exact")
    tools = [{"type": "function", "function": {"name": "find"}}]
    assert formula.count_tools(tools) == Count(0, "lower_bound")


def test_it_is_a_counter_that_can_be_compared_and_pickled():
    formula = langchain4j_formula("gpt-4o")
    assert isinstance(formula, TokenCounter)
    assert (formula.model, formula.name) == ("gpt-4o", "LangChain4j's formula for gpt-4o")
    assert pickle.loads(pickle.dumps(formula)) == formula == langchain4j_formula("gpt-4o")
    assert len({formula, langchain4j_formula("gpt-4o"), langchain4j_formula("o3")}) == 2
    assert formula != langchain4j_formula("gpt-4o", encode=words)
    assert formula != "gpt-4o"
