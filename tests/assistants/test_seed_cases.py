"""LangChain4j's AI Services and the assistant: each case by its id, where ours departs too."""

from __future__ import annotations

import httpx
import openai
import pytest

from chatmem_lab.assistants import Assistant
from chatmem_lab.errors import AssistantError, MessageError
from chatmem_lab.memory import ChatMemories, ChatMemory
from chatmem_lab.policies import presets
from chatmem_lab.testing import Reply
from seed_cases import case_messages, plain, seed_cases
from sent_requests import said

CASES = {case["id"]: case for case in seed_cases() if case["id"].startswith("lc4j-service-")}


def get_weather(city: str) -> str:
    return "4 degrees"


def get_tide(port: str) -> str:
    return "high at noon"


def get_rate(pair: str) -> str:
    return "11.7"


def memories_of(case):
    limit = case["policy"]["params"]["max_messages"]
    preset = presets.langchain4j_message_window(limit, first_request="untrimmed")
    return ChatMemories(preset, store="memory:")


def scripted(server, case):
    """Have the model answer what it answers in the case; the case's messages."""
    messages = case_messages(case["messages"])
    for message in messages:
        if message.role == "assistant":
            server.reply(Reply(message.text or None, message.tool_calls))
    return messages


def held(memory):
    return plain(memory.messages)


def at(messages, indices):
    return plain([messages[index] for index in indices])


def requests_of(messages, expected):
    """What the requests of the case say, as `said` tells it."""
    return [[as_said(messages[index]) for index in request] for request in expected]


def as_said(message):
    if message.tool_calls:
        return "calls", [call.name for call in message.tool_calls]
    if message.role == "tool":
        return message.tool_call_id, message.text
    return message.role, message.text


def test_lc4j_service_01_the_first_request_of_a_turn_holds_one_more(server, client):
    case = CASES["lc4j-service-01"]
    memories = memories_of(case)
    messages = scripted(server, case)
    assistant = Assistant(client, "gpt-5", memories)
    assistant.chat("ann", "q1")
    assistant.chat("ann", "q2")
    expect = case["expect"]
    assert [said(r) for r in server.requests] == requests_of(messages, expect["requests"])
    assert held(memories["ann"]) == at(messages, expect["memory"])


def test_lc4j_service_01_the_memory_after_the_question_is_trimmed(server, client):
    case = CASES["lc4j-service-01"]
    memories = memories_of(case)
    messages = scripted(server, case)
    windows = []

    def augment(text):
        windows.append(held(memories["ann"]))
        return text

    assistant = Assistant(client, "gpt-5", memories, augment=augment)
    assistant.chat("ann", "q1")
    assistant.chat("ann", "q2")
    assert windows[1] == at(messages, case["expect"]["memory_after_user_2"])


def test_lc4j_service_02_a_small_window_sends_a_request_without_its_question(server, client):
    case = CASES["lc4j-service-02"]
    memories = memories_of(case)
    messages = scripted(server, case)
    Assistant(client, "gpt-5", memories, tools=[get_weather]).chat("ann", "Weather in Oslo?")
    expect = case["expect"]
    assert [said(r) for r in server.requests] == requests_of(messages, expect["requests"])
    assert held(memories["ann"]) == at(messages, expect["memory"])


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_lc4j_service_04_a_stream_that_broke_keeps_the_question_once(server, client, api):
    """As there with "keep_user"; by default ours leaves the session as it was."""
    case = CASES["lc4j-service-04"]
    for on_error, kept in [("keep_user", case["expect"]["memory"]), ("rollback", [])]:
        memories = memories_of(case)
        assistant = Assistant(client, "gpt-5", memories, api=api, on_error=on_error)
        for _ in range(2):
            server.fail("disconnect after 6 chunks")
            server.reply("Once upon a time there was a queen")
            stream = assistant.stream("ann", "Tell a story")
            assert next(stream) == "Once "
            with pytest.raises((httpx.HTTPError, openai.OpenAIError)):
                list(stream)
            assert held(memories["ann"]) == at(case_messages(case["messages"]), kept)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("on_error", ["keep_user", "rollback"])
def test_lc4j_service_05_departs_no_call_is_left_without_results(
    server, client, streams, on_error
):
    """There the call stays in the memory and every later request is refused; here it does not."""
    case = CASES["lc4j-service-05"]
    memories = memories_of(case)
    messages = scripted(server, case)
    rounds = case["policy"]["params"]["max_tool_rounds"]
    assistant = Assistant(
        client, "gpt-5", memories, tools=[get_weather], max_rounds=rounds, on_error=on_error
    )
    ask = (lambda *given: list(assistant.stream(*given))) if streams else assistant.chat
    with pytest.raises(AssistantError, match="after 0 rounds of tool calls"):
        ask("ann", messages[0].text)
    assert case["expect"]["memory"] == [0, 1]
    assert held(memories["ann"]) == at(messages, [0] if on_error == "keep_user" else [])
    server.reply("4 degrees.")
    assistant.chat("ann", messages[0].text)
    assert len(memories["ann"].history) == 2


def test_lc4j_service_07_two_ids_are_isolated(server, client):
    case = CASES["lc4j-service-07"]
    memories = memories_of(case)
    messages = scripted(server, case)
    assistant = Assistant(client, "gpt-5", memories)
    assistant.chat("ann", "I am Ann")
    assistant.chat("bo", "Who am I?")
    expect = case["expect"]
    assert [said(r) for r in server.requests] == requests_of(messages, expect["requests"])
    for id, indices in expect["memories"].items():
        assert held(memories[id]) == at(messages, indices)


def test_lc4j_service_08_no_id_is_an_error_and_departs_a_blank_one_too(server, client):
    """There a blank id is one session that all who come without an id share."""
    case = CASES["lc4j-service-08"]
    assistant = Assistant(client, "gpt-5", memories_of(case))
    for id in (None, "", " "):
        with pytest.raises(MessageError, match="an id is required"):
            assistant.chat(id, "hi")
    assert case["expect"]["error"]["type"] == "invalid_argument"
    assert server.requests == []


def test_lc4j_service_11_what_was_retrieved_is_sent_and_not_remembered(server, client):
    case = CASES["lc4j-service-11"]
    memories = memories_of(case)
    messages = scripted(server, case)
    assistant = Assistant(client, "gpt-5", memories, augment=lambda text: messages[1].text)
    assistant.chat("ann", messages[0].text)
    expect = case["expect"]
    assert [said(r) for r in server.requests] == requests_of(messages, expect["requests"])
    assert held(memories["ann"]) == at(messages, expect["memory"])


def test_lc4j_service_13_departs_one_memory_for_all_ids_is_refused(server, client):
    """There it is accepted, and the second user is told who the first one is."""
    case = CASES["lc4j-service-13"]
    assert case["expect"]["requests"][1] == [0, 1, 2]
    memory = ChatMemory(presets.langchain4j_message_window(10), id="default")
    with pytest.raises(AssistantError, match="all users would share it"):
        Assistant(client, "gpt-5", memory)
    assert server.requests == []


@pytest.mark.parametrize("on_error", ["keep_user", "rollback"])
def test_lc4j_service_15_nothing_left_to_send_is_an_error_and_departs_the_question_is_not_lost(
    server, client, on_error
):
    """There the memory is empty afterwards; here it holds the question, or what it held."""
    case = CASES["lc4j-service-15"]
    memories = memories_of(case)
    messages = scripted(server, case)
    assistant = Assistant(
        client,
        "gpt-5",
        memories,
        tools=[get_weather, get_tide, get_rate],
        on_error=on_error,
    )
    with pytest.raises(AssistantError, match="left nothing to send"):
        assistant.chat("ann", messages[0].text)
    expect = case["expect"]
    assert [said(r) for r in server.requests] == requests_of(messages, expect["requests"])
    assert held(memories["ann"]) == at(messages, [0] if on_error == "keep_user" else [])
    assert expect["memory"] == []
