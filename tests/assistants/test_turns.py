"""What a turn leaves that fails: nothing, or the question once; and who waits for whom."""

from __future__ import annotations

import threading

import openai
import pytest

from chatmem_lab.assistants import Assistant, turns
from chatmem_lab.errors import AssistantError, ConflictError, StoreError
from chatmem_lab.memory import ChatMemories, ChatMemory
from chatmem_lab.messages import ToolCall
from chatmem_lab.policies import Messages, Summarize
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import summarizer_from
from sent_requests import said, told

BEFORE = [("system", "Be kind."), ("user", "one"), ("assistant", "ok")]
FAILURES = {
    "429": (429, openai.RateLimitError),
    "500": (500, openai.InternalServerError),
    "disconnect": ("disconnect", openai.APIConnectionError),
    "empty": ("empty", AssistantError),
    "reasoning only": ("reasoning only", AssistantError),
}


def lookup(isbn: str) -> str:
    return "Emma"


def one_turn(server, make, **options):
    server.reply("ok")
    assistant = make(system="Be kind.", **options)
    assistant.chat("ann", "one")
    return assistant


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("on_error", ["rollback", "keep_user"])
def test_a_failure_and_a_retry(server, memories, make, failure, streams, on_error):
    def ask(text):
        return list(assistant.stream("ann", text)) if streams else assistant.chat("ann", text)

    assistant = one_turn(server, make, on_error=on_error)
    how, error = FAILURES[failure]
    server.fail(how, times=2)
    for _ in range(2):
        with pytest.raises(error):
            ask("two")
        kept = [("user", "two")] if on_error == "keep_user" else []
        assert told(memories["ann"]) == [*BEFORE, *kept]
    server.reply("done")
    ask("two")
    assert told(memories["ann"]) == [*BEFORE, ("user", "two"), ("assistant", "done")]
    assert said(server.requests[-1]) == [*BEFORE, ("user", "two")]


@pytest.mark.parametrize("streams", [False, True])
def test_a_timeout(server, memories, api, streams):
    server.fail("timeout")
    with server.client(timeout=0.2) as client:
        assistant = Assistant(client, "gpt-5", memories, api=api)
        with pytest.raises(openai.APITimeoutError):
            list(assistant.stream("ann", "hi")) if streams else assistant.chat("ann", "hi")
    assert memories["ann"].history == ()


@pytest.mark.parametrize("on_error", ["rollback", "keep_user"])
def test_a_failure_after_a_round_of_tools_discards_the_round(server, memories, make, on_error):
    assistant = one_turn(server, make, on_error=on_error, tools=[lookup])
    server.reply(tool_calls=[ToolCall("c1", "lookup", '{"isbn": "1"}')])
    server.fail(500)
    with pytest.raises(openai.InternalServerError):
        assistant.chat("ann", "two")
    kept = [("user", "two")] if on_error == "keep_user" else []
    assert told(memories["ann"]) == [*BEFORE, *kept]


def test_the_first_turn_of_a_session_keeps_its_system_message_too(server, memories, make):
    server.fail(500)
    assistant = make(system="Be kind.", on_error="keep_user")
    with pytest.raises(openai.InternalServerError):
        assistant.chat("ann", "hi")
    assert told(memories["ann"]) == [("system", "Be kind."), ("user", "hi")]


def test_another_question_after_one_that_was_kept(server, memories, make):
    server.fail(500)
    assistant = make(on_error="keep_user")
    with pytest.raises(openai.InternalServerError):
        assistant.chat("ann", "one")
    server.reply("both")
    assistant.chat("ann", "two")
    assert told(memories["ann"]) == [("user", "one"), ("user", "two"), ("assistant", "both")]


def test_an_interrupt_leaves_the_session_as_it_was(server, memories, make):
    def stop() -> str:
        raise KeyboardInterrupt

    server.reply(tool_calls=[ToolCall("c1", "stop", "{}")])
    with pytest.raises(KeyboardInterrupt):
        make(tools=[stop]).chat("ann", "hi")
    assert memories["ann"].history == ()


class FailingStore(MemoryStore):
    fails = False

    def append(self, session_id, commits, *, version):
        if self.fails:
            raise StoreError("the store is read-only")
        return super().append(session_id, commits, version=version)


def test_a_store_that_fails_loses_neither_error(server, client):
    store = FailingStore()
    memories = ChatMemories(store=store)
    assistant = Assistant(client, "gpt-5", memories, on_error="keep_user")
    store.fails = True
    server.fail(500)
    with pytest.raises(openai.InternalServerError) as raised:
        assistant.chat("ann", "hi")
    assert raised.value.__notes__ == [
        "the question could not be kept: StoreError: the store is read-only"
    ]
    store.fails = False
    assert memories["ann"].history == ()


@pytest.mark.parametrize("on_error", ["rollback", "keep_user"])
def test_another_process_that_writes_meanwhile(server, client, on_error):
    store = MemoryStore()
    memories = ChatMemories(store=store)

    def meddle() -> str:
        ChatMemory(id="ann", store=store).add_user("from elsewhere")
        return "done"

    server.reply(tool_calls=[ToolCall("c1", "meddle", "{}")])
    server.reply("ok")
    assistant = Assistant(client, "gpt-5", memories, tools=[meddle], on_error=on_error)
    with pytest.raises(ConflictError):
        assistant.chat("ann", "hi")
    kept = [("user", "hi")] if on_error == "keep_user" else []
    assert told(memories["ann"]) == [("user", "from elsewhere"), *kept]


@pytest.mark.parametrize("streams", [False, True])
def test_turns_of_one_session_wait_for_each_other_and_others_do_not(
    server, memories, make, streams
):
    first_is_in, others_are_done = threading.Event(), threading.Event()

    def slow(body):
        if said(body)[-1] == ("user", "first"):
            first_is_in.set()
            others_are_done.wait(10)
        return f"to {said(body)[-1][1]}"

    server.reply(slow, times=None)
    assistant = make()

    def ask(id, text):
        if streams:
            list(assistant.stream(id, text))
        else:
            assistant.chat(id, text)

    threads = [threading.Thread(target=ask, args=("ann", "first"))]
    threads[0].start()
    assert first_is_in.wait(10)
    threads += [threading.Thread(target=ask, args=("ann", f"{n}")) for n in range(3)]
    for thread in threads[1:]:
        thread.start()
    ask("bo", "meanwhile")
    assert told(memories["bo"]) == [("user", "meanwhile"), ("assistant", "to meanwhile")]
    others_are_done.set()
    for thread in threads:
        thread.join(10)
    history = told(memories["ann"])
    assert history[:2] == [("user", "first"), ("assistant", "to first")]
    assert sorted(text for role, text in history if role == "user") == ["0", "1", "2", "first"]
    pairs = list(zip(history[::2], history[1::2]))
    assert all(reply == ("assistant", f"to {question[1]}") for question, reply in pairs)
    assert len(pairs) == 4


def test_a_stream_that_is_left_half_read_is_named_where_others_wait_for_it(
    server, memories, make, monkeypatch
):
    logged, was_logged = [], threading.Event()

    class Log:
        def warning(self, text, *values):
            logged.append(text % values)
            was_logged.set()

    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    monkeypatch.setattr(turns, "_log", Log())
    server.reply("one two")
    server.reply("done")
    assistant = make()
    stream = assistant.stream("ann", "first")
    next(stream)
    waiting = threading.Thread(target=assistant.chat, args=("ann", "second"))
    waiting.start()
    assert was_logged.wait(10)
    assert logged[0].startswith("a turn of 'ann' waits for another one to end")
    assert waiting.is_alive()
    stream.close()
    waiting.join(10)
    assert told(memories["ann"]) == [("user", "second"), ("assistant", "done")]


def test_a_summarizer_works_within_a_turn_and_what_it_made_goes_with_the_turn(server, make):
    asked = []

    def summarize(request):
        asked.append([message.text for message in request.messages])
        return "so far"

    policy = Summarize(summarizer_from(summarize), trigger=Messages(3), keep=Messages(2))
    memories = ChatMemories(policy, store="memory:")
    assistant = make(memories=memories)
    server.reply("first answer, a long one")
    assistant.chat("ann", "first question, a long one")
    server.reply(tool_calls=[ToolCall("c1", "lookup", "{}")])
    server.fail(500)
    before = memories["ann"].messages
    with pytest.raises(openai.InternalServerError):
        assistant.chat("ann", "second")
    assert asked
    assert memories["ann"].messages == before
    assert memories["ann"].events == ()
    server.reply("second answer")
    assistant.chat("ann", "second")
    assert [m.text for m in memories["ann"].messages][1:] == ["second", "second answer"]
    assert memories["ann"].messages[0].summary is not None
