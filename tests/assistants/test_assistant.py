from __future__ import annotations

import json
import warnings
from pathlib import Path

import openai
import pytest

from chatmem_lab.assistants import Assistant, tool_schemas
from chatmem_lab.errors import AssistantError, BudgetError, MessageError, ProjectionError
from chatmem_lab.memory import ChatMemories, ChatMemory
from chatmem_lab.messages import ToolCall
from chatmem_lab.policies import TokenWindow, presets
from sent_requests import said, told

PIXEL = "data:image/png;base64,iVBORw0KGgo="


def lookup(isbn: str) -> str:
    """Find a book.

    Args:
        isbn: Ten or thirteen digits.
    """
    return {"1": "Emma"}[isbn]


def count(isbn: str, shelf: int = 1) -> int:
    return 7 * shelf


def test_plain(server, memories, make, api):
    server.reply("We open at nine.")
    message = make().chat("ann", "When do you open?")
    assert (message.text, message.finish_reason, message.model) == (
        "We open at nine.",
        "stop",
        "gpt-5",
    )
    # A token of this server is a word: 4 in the question, with "user" (and at Responses with
    # "message" and "input_text") beside them, 4 in the answer.
    asked = {"chat": 5, "responses": 7}[api]
    assert (message.usage.input_tokens, message.usage.output_tokens) == (asked, 4)
    assert message.id
    assert said(server.requests[0]) == [("user", "When do you open?")]
    assert server.requests[0]["model"] == "gpt-5"
    assert "tools" not in server.requests[0]
    assert memories["ann"].history[1] == message


def test_the_next_turn_sends_what_is_remembered(server, memories, make):
    server.reply("Hi Ann.")
    server.reply("You are Ann.")
    assistant = make()
    assistant.chat("ann", "I am Ann.")
    assistant.chat("ann", "Who am I?")
    assert said(server.requests[1]) == [
        ("user", "I am Ann."),
        ("assistant", "Hi Ann."),
        ("user", "Who am I?"),
    ]


def test_two_sessions_do_not_mix(server, memories, make):
    server.reply(lambda body: f"{len(said(body))} so far", times=None)
    assistant = make(system="Be kind.")
    for id in ("ann", "bo", "ann", 7, "7"):
        assistant.chat(id, f"from {id}")
    assert told(memories["bo"]) == [
        ("system", "Be kind."),
        ("user", "from bo"),
        ("assistant", "2 so far"),
    ]
    assert [text for _, text in told(memories["ann"])] == [
        "Be kind.", "from ann", "2 so far", "from ann", "4 so far",
    ]  # fmt: skip
    assert len(memories["7"].history) == 5


def test_an_image(server, memories, make, api):
    server.reply("A cover.")
    make().chat("ann", "What is it?", images=[PIXEL])
    kind = {"chat": "<image_url>", "responses": "<input_image>"}[api]
    assert said(server.requests[0]) == [("user", f"What is it?{kind}")]
    assert memories["ann"].history[0].parts[1].url == PIXEL


def test_tools(server, memories, make, api):
    server.reply("Let me look.", tool_calls=[ToolCall("c1", "lookup", '{"isbn": "1"}')])
    server.reply("It is Emma.")
    message = make(tools=[lookup]).chat("ann", "What is 1?")
    assert message.text == "It is Emma."
    offered = server.requests[0]["tools"][0]
    if api == "chat":
        assert offered["type"] == "function"
        offered = offered["function"]
    else:
        assert (offered["type"], offered["strict"]) == ("function", False)
    assert (offered["name"], offered["description"]) == ("lookup", "Find a book.")
    assert offered["parameters"]["properties"] == {
        "isbn": {"type": "string", "description": "Ten or thirteen digits."}
    }
    sent = said(server.requests[1])
    assert sent[0] == ("user", "What is 1?")
    assert sent[-2:] == [("calls", ["lookup"]), ("c1", "Emma")]
    history = memories["ann"].history
    assert [m.kind for m in history] == ["user", "tool call", "tool result", "assistant"]
    assert history[1].text == "Let me look."
    assert history[1].finish_reason == "tool_calls"
    assert not history[2].is_error


def test_parallel_tools(server, memories, make):
    calls = [
        ToolCall("c1", "lookup", '{"isbn": "1"}'),
        ToolCall("c2", "count", '{"isbn": "1", "shelf": 3}'),
        ToolCall("c3", "lookup", '{"isbn": "2"}'),
    ]
    server.reply(tool_calls=calls)
    server.reply("Emma, 21 of them.")
    make(tools=[lookup, count]).chat("ann", "?")
    results = [m for m in memories["ann"].history if m.role == "tool"]
    assert [(m.tool_call_id, m.text, m.is_error) for m in results] == [
        ("c1", "Emma", False),
        ("c2", "21", False),
        ("c3", "Error: KeyError: '2'", True),
    ]
    assert said(server.requests[1])[-3:] == [(m.tool_call_id, m.text) for m in results]


def test_bad_arguments_an_unknown_tool_and_a_name_that_no_api_takes(server, memories, make):
    server.fail("invalid json arguments")
    server.reply(tool_calls=[ToolCall("c2", "find", "{}"), ToolCall("c3", "shop.find", "{}")])
    server.reply("I give up.")
    assert make(tools=[lookup]).chat("ann", "?").text == "I give up."
    history = memories["ann"].history
    assert history[1].tool_calls[0].arguments == '{"path": "a'
    assert history[3].tool_calls[1].name == "shop.find"
    results = [m for m in history if m.role == "tool"]
    assert all(m.is_error for m in results)
    assert results[0].text == 'Error: the arguments are no JSON object: {"path": "a'
    assert results[1].text == 'Error: there is no tool "find": there are lookup'
    assert said(server.requests[2])[-2:] == [
        ("c2", 'Error: there is no tool "find": there are lookup'),
        ("c3", 'Error: there is no tool "shop.find": there are lookup'),
    ]


def test_allow(server, memories, make):
    server.reply(tool_calls=[ToolCall("c1", "lookup", '{"isbn": "1"}')])
    server.reply("I may not.")
    make(tools=[lookup], allow=lambda call: call.name != "lookup").chat("ann", "?")
    assert said(server.requests[1])[-1] == ("c1", "Error: this call was not allowed")
    assert memories["ann"].history[2].is_error


def test_an_error_of_allow_itself_is_an_error_of_the_turn(server, memories, make):
    def allow(call):
        raise PermissionError("the guard is asleep")

    server.reply(tool_calls=[ToolCall("c1", "lookup", '{"isbn": "1"}')])
    with pytest.raises(PermissionError, match="asleep"):
        make(tools=[lookup], allow=allow).chat("ann", "?")
    assert memories["ann"].history == ()


def test_max_rounds(server, memories, make):
    call = ToolCall("", "lookup", '{"isbn": "1"}')
    server.reply(tool_calls=[call], times=None)
    with pytest.raises(
        AssistantError, match=r"after 2 rounds of tool calls .* still calls lookup"
    ):
        make(tools=[lookup], max_rounds=2).chat("ann", "?")
    assert len(server.requests) == 3
    assert memories["ann"].history == ()


def test_max_rounds_that_are_just_enough(server, make):
    server.reply(tool_calls=[ToolCall("", "lookup", '{"isbn": "1"}')], times=2)
    server.reply("Emma.")
    assert make(tools=[lookup], max_rounds=2).chat("ann", "?").text == "Emma."


def test_a_refusal_is_an_answer(server, memories, make):
    server.fail("refusal")
    assert make().chat("ann", "?").text == "I cannot help with that."
    assert memories["ann"].history[1].text == "I cannot help with that."


def test_augment_changes_what_is_sent_and_not_what_is_remembered(server, memories, make):
    asked = []

    def augment(text):
        asked.append(text)
        return f"{text} [9 to 17]"

    server.reply(tool_calls=[ToolCall("c1", "lookup", '{"isbn": "1"}')])
    server.reply("9 to 17.")
    server.reply("Bye.")
    assistant = make(augment=augment, tools=[lookup])
    assistant.chat("ann", "Opening hours?", images=[PIXEL])
    assistant.chat("ann", "Thanks.")
    first, second, third = map(said, server.requests)
    assert first[0][1].startswith("Opening hours? [9 to 17]<")
    assert second[0] == first[0]
    assert third[0][1].startswith("Opening hours?<")
    assert third[-1] == ("user", "Thanks. [9 to 17]")
    assert asked == ["Opening hours?", "Thanks."]
    assert [m.text for m in memories["ann"].history if m.role == "user"] == [
        "Opening hours?",
        "Thanks.",
    ]


def test_augment_gives_a_text(server, memories, make):
    with pytest.raises(AssistantError, match="a str, not list"):
        make(augment=lambda text: [text]).chat("ann", "?")
    assert (server.requests, memories["ann"].history) == ([], ())


def test_a_question_that_was_asked_before_is_asked_again(server, memories, make):
    server.reply("One.")
    server.reply("Two.")
    assistant = make(augment=lambda text: f"{text}!")
    assistant.chat("ann", "Again")
    assistant.chat("ann", "Again")
    assert [m.text for m in memories["ann"].history] == ["Again", "One.", "Again", "Two."]
    assert [text for _, text in said(server.requests[1])] == ["Again", "One.", "Again!"]


def test_system_is_a_text_a_file_or_a_function_of_the_id(server, memories, make, tmp_path):
    path = tmp_path / "system.txt"
    path.write_text("From a file: é", encoding="utf-8")
    make(system=path).chat("file", "hi")
    make(system=lambda id: f"For {id}.").chat("ann", "hi")
    make(system=lambda id: None).chat("bo", "hi")
    assert [said(request)[0] for request in server.requests] == [
        ("system", "From a file: é"),
        ("system", "For ann."),
        ("user", "hi"),
    ]


def test_system_is_kept_once_and_a_new_one_takes_its_place_in_front(server, memories, make):
    server.reply("ok", times=None)
    make(system="Be brief.").chat("ann", "one")
    make(system="Be brief.").chat("ann", "two")
    make(system="Be long.").chat("ann", "three")
    assert [said(request)[0] for request in server.requests] == [
        ("system", "Be brief."),
        ("system", "Be brief."),
        ("system", "Be long."),
    ]
    assert all(sum(role == "system" for role, _ in said(r)) == 1 for r in server.requests)
    assert [text for role, text in told(memories["ann"]) if role == "system"] == [
        "Be brief.",
        "Be long.",
    ]


def test_system_is_kept_once_also_where_a_memory_keeps_equal_ones(server, make):
    memories = ChatMemories(presets.ai4j_unbounded(), store="memory:")
    memories["bo"].add_system("Be brief.")
    memories["bo"].add_system("Be brief.")
    assert len(memories["bo"].history) == 2
    assistant = make(memories=memories, system="Be brief.")
    assistant.chat("ann", "one")
    assistant.chat("ann", "two")
    assert [m.role for m in memories["ann"].history] == ["system", *["user", "assistant"] * 2]


def test_a_policy_that_tears_a_call_from_its_result_is_told_before_that_is_sent(server, make):
    memories = ChatMemories(presets.ai4j_message_window(1), store="memory:")
    server.reply(tool_calls=[ToolCall("c1", "lookup", '{"isbn": "1"}')])
    with pytest.raises(ProjectionError, match='result for call "c1", which is not open'):
        make(memories=memories, tools=[lookup]).chat("ann", "?")
    assert len(server.requests) == 1
    assert memories["ann"].history == ()


def test_what_else_a_request_holds(server, make):
    hosted = {"type": "function", "name": "other", "function": {"name": "other"}}
    make(tools=[lookup], request={"temperature": 0.5, "tools": [hosted]}).chat("ann", "hi")
    assert server.requests[0]["temperature"] == 0.5
    names = [tool.get("function", tool)["name"] for tool in server.requests[0]["tools"]]
    assert names == ["lookup", "other"]


def test_a_budget_that_cannot_be_kept_is_told_before_anything_is_sent(server, make):
    memories = ChatMemories(TokenWindow(20), store="memory:", model="gpt-5")
    with pytest.raises(BudgetError):
        make(memories=memories).chat("ann", "word " * 30)
    assert server.requests == []
    assert memories["ann"].history == ()


def test_tools_that_no_budget_counts_are_told_once(server, make):
    small = ChatMemories(TokenWindow(500), store="memory:", model="gpt-5")
    assistant = make(memories=small, tools=[lookup])
    with pytest.warns(UserWarning, match="does not count them"):
        assistant.chat("ann", "hi")
    counted = ChatMemories(
        TokenWindow(500), store="memory:", model="gpt-5", tools=tool_schemas([lookup])
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assistant.chat("ann", "hi")
        make(memories=counted, tools=[lookup]).chat("ann", "hi")
        make(tools=[lookup]).chat("ann", "hi")
    assert counted["ann"].tools == tuple(make(tools=[lookup]).tools)


def test_a_server_that_gives_every_reply_the_same_id(memories, monkeypatch):
    completion = {
        "id": "same",
        "model": "m",
        "choices": [{"message": {"content": "OK"}, "finish_reason": "stop"}],
    }

    class Completions:
        def create(self, **request):
            return completion

    class Client:
        class chat:
            completions = Completions()

    assistant = Assistant(Client(), "m", memories)
    assistant.chat("ann", "one")
    assistant.chat("ann", "two")
    assert [(m.text, m.id) for m in memories["ann"].history] == [
        ("one", None),
        ("OK", "same"),
        ("two", None),
        ("OK", None),
    ]


def test_reasoning_goes_with_its_call_and_is_sealed(memories):
    """Responses want a reasoning item back with the call that it was for."""
    requests = []
    outputs = [
        [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "lookup",
                "arguments": '{"isbn":"1"}',
            },
        ],
        [{"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Emma"}]}],
    ]

    class Client:
        class responses:
            @staticmethod
            def create(**request):
                requests.append(json.loads(json.dumps(request)))
                return {"status": "completed", "output": outputs[len(requests) - 1]}

    assistant = Assistant(Client(), "m", memories, tools=[lookup], api="responses")
    assert assistant.chat("ann", "?").text == "Emma"
    assert requests[1]["input"][1:] == [
        {"type": "reasoning", "summary": [], "encrypted_content": "sealed"},
        {"type": "function_call", "call_id": "c1", "name": "lookup", "arguments": '{"isbn":"1"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "Emma"},
    ]


@pytest.mark.parametrize("id", [None, "", "  ", 1.5])
def test_an_id_is_required(server, make, id):
    with pytest.raises(MessageError, match="an id is required"):
        make().chat(id, "hi")
    assert server.requests == []


@pytest.mark.parametrize("text", [None, "", "  "])
def test_a_question_says_something(server, memories, make, text):
    with pytest.raises(MessageError):
        make(on_error="keep_user").chat("ann", text)
    assert (server.requests, memories["ann"].history) == ([], ())


def test_the_answer_of_a_tool_may_not_ask_the_same_session(server, memories, make):
    def ask_again() -> str:
        return assistant.chat("ann", "?").text

    server.reply(tool_calls=[ToolCall("c1", "ask_again", "{}")])
    server.reply("done")
    assistant = make(tools=[ask_again])
    assert assistant.chat("ann", "?").text == "done"
    assert "a turn is open already" in memories["ann"].history[2].text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"api": "completions"}, "api is one of chat, responses, not 'completions'"),
        ({"on_error": "retry"}, "on_error is one of rollback, keep_user"),
        ({"max_rounds": -1}, "max_rounds is a whole number from 0"),
        ({"max_rounds": True}, "max_rounds is a whole number from 0"),
        ({"system": 3}, "system is a text, a Path or a function"),
        ({"request": "temperature"}, "request is a dict"),
        ({"request": {"stream": True, "model": "m"}}, "sets model, stream itself"),
    ],
)
def test_what_an_assistant_cannot_be_made_of(memories, options, why):
    with pytest.raises(AssistantError, match=why):
        Assistant(openai.OpenAI(api_key="k"), "m", memories, **options)


def test_an_async_client_is_refused(memories):
    with pytest.raises(AssistantError, match=r"pass an openai\.OpenAI"):
        Assistant(openai.AsyncOpenAI(api_key="k"), "m", memories)


def test_memories_that_give_something_else(client):
    with pytest.raises(AssistantError, match="a ChatMemory is wanted"):
        Assistant(client, "m", {"ann": []}).chat("ann", "hi")
    with pytest.raises(AssistantError, match=r"pass cml\.ChatMemories"):
        Assistant(client, "m", None)


def test_any_mapping_of_memories_will_do(server, client):
    memory = ChatMemory(id="ann")
    server.reply("Hi.")
    assert Assistant(client, "gpt-5", {"ann": memory}).chat("ann", "Hello").text == "Hi."
    assert len(memory.history) == 2


def test_a_system_file_that_is_not_there_is_told_before_anything_is_sent(server, make, memories):
    with pytest.raises(FileNotFoundError):
        make(system=Path("nowhere.txt")).chat("ann", "hi")
    assert (server.requests, memories["ann"].history) == ([], ())
