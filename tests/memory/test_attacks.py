"""Attacks on a chat memory: afterwards it shows what its store holds, and it goes on working."""

from __future__ import annotations

import json
from threading import Thread

import pytest

from chatmem_lab.errors import ChatMemLabError, ConflictError, MessageError, SnapshotError
from chatmem_lab.memory import ChatMemory, Snapshot
from chatmem_lab.messages import Message, Text, ToolCall, assistant, from_json, tool_output, user
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Summarize,
    TokenWindow,
    policy_from,
)
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import Summary, Truncate
from chatmem_lab.testing.length_counter import LengthCounter


class Interrupted(BaseException):
    """Like a KeyboardInterrupt: no ``except Exception`` sees it."""


class FailingStore(MemoryStore):
    """A store that fails once, before it writes, with `failure`."""

    failure: BaseException | None = None

    def append(self, session_id, commits, *, version):
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        return super().append(session_id, commits, version=version)


class FailingCounter(LengthCounter):
    """A counter that fails once, at its next message."""

    failure: BaseException | None = None

    def count_message(self, message):
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        return super().count_message(message)


def opened(store, policy=None, counter=None):
    return ChatMemory(policy, id="test", store=store, counter=counter or LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def seen(memory):
    return texts(memory.history), texts(memory.messages), memory.tokens, len(memory.branches)


def in_a_turn(memory):
    with memory.turn():
        memory.add_user("e")
        memory.add_assistant("f")


WRITES = {
    "add": lambda memory: memory.add_user("e"),
    "add_all": lambda memory: memory.add_all([user("e"), assistant("f")]),
    "turn": in_a_turn,
    "set": lambda memory: memory.set([user("e")]),
    "clear": lambda memory: memory.clear(),
    "restore": lambda memory: memory.restore(memory.snapshot()),
}


def goes_on(memory, store):
    """What is added now is there at once and after the session is opened again."""
    memory.add_user("later")
    assert texts(memory.history)[-1] == texts(memory.messages)[-1] == "later"
    assert seen(memory) == seen(opened(store, memory.policy))


@pytest.mark.parametrize("failure", [Interrupted(), OSError("disk full")], ids=repr)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_where_a_write_is_interrupted_nothing_has_changed_and_all_goes_on(write, failure):
    store = FailingStore()
    memory = opened(store, MessageWindow(2))
    memory.add_all([user("a"), assistant("b"), user("c"), assistant("d")])
    store.failure = failure
    with pytest.raises(type(failure)):
        write(memory)
    assert seen(memory) == (["a", "b", "c", "d"], ["c", "d"], memory.tokens, 0)
    assert seen(memory) == seen(opened(store, MessageWindow(2)))
    goes_on(memory, store)


@pytest.mark.parametrize("failure", [Interrupted(), OSError("no tokenizer")], ids=repr)
@pytest.mark.parametrize("write", [WRITES["add"], WRITES["add_all"], in_a_turn])
def test_where_a_counter_fails_in_an_addition_nothing_has_changed(write, failure):
    store, counter = MemoryStore(), FailingCounter()
    memory = opened(store, MessageWindow(2), counter)
    memory.add_all([user("a"), assistant("b"), user("c")])
    counter.failure = failure
    with pytest.raises(type(failure)):
        write(memory)
    assert texts(memory.history) == ["a", "b", "c"]
    goes_on(memory, store)


@pytest.mark.parametrize("write", [WRITES["add"], WRITES["add_all"], in_a_turn])
def test_an_interrupted_summarizer_takes_batches_and_turns_back(write):
    class Slow:
        is_interrupted = True

        def summarize(self, request):
            if self.is_interrupted:
                self.is_interrupted = False
                raise Interrupted
            return Summary(text="s")

    store = MemoryStore()
    memory = opened(store, Summarize(Slow(), trigger=Messages(3), keep=Messages(1)))
    memory.add_all([user("a question"), assistant("an answer"), user("a second")])
    with pytest.raises(Interrupted):
        write(memory)
    # A single message is stored before its summarizer is called; a batch and a turn are whole.
    kept = ["e"] if write is WRITES["add"] else []
    assert texts(memory.history) == ["a question", "an answer", "a second", *kept]
    write(memory)
    assert texts(memory.messages)[0] == "s"
    goes_on(memory, store)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        Summary(text=5),
        Summary(text="\n "),
        Summary(text="s", covered=-1),
        Summary(text="s", covered=True),
        Summary(text="s", usage="free"),
        Summary(text="longer than all of them " * 9),
    ],
    ids=repr,
)
def test_a_rubbish_summary_changes_nothing_but_the_events(answer):
    class Rubbish:
        def summarize(self, request):
            return answer

    store = MemoryStore()
    memory = opened(store, Summarize(Rubbish(), trigger=Messages(2), keep=Messages(1)))
    memory.add_all([user("a question"), assistant("an answer"), user("a second")])
    assert texts(memory.messages) == ["a question", "an answer", "a second"]
    assert [event.kind for event in memory.events] == ["summarize_failed"]
    goes_on(memory, store)


def test_what_is_added_while_a_list_is_made_comes_before_the_list():
    store = MemoryStore()
    memory = opened(store)

    def made_on_the_way():
        yield user("b")
        memory.add_user("a")
        yield user("c")

    memory.add_all(made_on_the_way())
    assert texts(memory.history) == ["a", "b", "c"]
    goes_on(memory, store)


def test_a_memory_takes_its_own_history():
    memory = opened(MemoryStore())
    memory.add_all([user("a"), assistant("b")])
    memory.add_all(memory.history)
    memory.set(memory.messages)
    assert texts(memory.history) == ["a", "b", "a", "b"]


def test_a_turn_that_another_turn_overtook_is_discarded_and_may_be_repeated():
    store = MemoryStore()
    one, other = opened(store), opened(store)

    def overtaken():
        with one.turn():
            one.add_user("lost")
            in_a_turn(other)

    with pytest.raises(ConflictError):
        overtaken()
    assert texts(one.history) == ["e", "f"]
    in_a_turn(one)
    assert texts(other.history) == ["e", "f", "e", "f"]


def test_many_threads_with_a_memory_each_lose_nothing_under_a_policy_that_folds():
    store = MemoryStore()
    policy = Summarize(Truncate(10), trigger=Messages(4), keep=Messages(2))

    def write(name):
        memory = opened(store, policy)
        for number in range(10):
            memory.add_user(f"{name}{number}")

    threads = [Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = texts(opened(store, policy).history)
    for name in "abcd":
        assert [text for text in kept if text[0] == name] == [f"{name}{n}" for n in range(10)]
    assert len(kept) == 40


def written_into(value):
    """Write into every dict and list that can be reached from `value`."""
    if isinstance(value, dict):
        for child in list(value.values()):
            written_into(child)
        value["written"] = "in"
    elif isinstance(value, list):
        for child in value:
            written_into(child)
        value.append("written")
    elif isinstance(value, tuple):
        for child in value:
            written_into(child)
    elif hasattr(value, "__struct_fields__"):
        for name in value.__struct_fields__:
            written_into(getattr(value, name))


@pytest.mark.parametrize(
    "read",
    [
        lambda memory: memory.history,
        lambda memory: memory.messages,
        lambda memory: memory.request(),
        lambda memory: memory.branches,
        lambda memory: memory.tools,
        lambda memory: memory.window.messages,
        lambda memory: tuple(slot.message for slot in memory.window.slots),
        lambda memory: memory.conversation(),
        lambda memory: memory.snapshot().messages,
        lambda memory: memory.snapshot().tools,
        lambda memory: memory.to_chat(),
        lambda memory: memory.to_responses(),
        lambda memory: memory.to_anthropic(),
    ],
)
def test_nothing_written_into_what_was_read_is_inside(read):
    schema = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    memory = ChatMemory(
        ClearToolResults(keep=0), id="test", counter=LengthCounter(), tools=[schema]
    )
    facts = {"tags": ["kept"]}
    result = Message(
        "tool", (Text("long " * 20),), tool_call_id="c", metadata=facts, extra={"tags": ["kept"]}
    )
    for _ in range(2):
        memory.clear()
        memory.add_user("q", metadata=facts)
        memory.add_all([assistant(tool_calls=[ToolCall("c", "f")]), result, assistant("a")])
    written_into(read(memory))
    written_into(facts)
    left = (memory.history, memory.messages, memory.branches, memory.tools, memory.to_chat())
    assert "written" not in repr(left)


@pytest.mark.parametrize(
    "hostile",
    [
        "\0",
        "\x1b[31m",
        "../x",
        "x'; DROP TABLE sessions;--",
        "a\nb",
        "x" * 100_000,
        "<img src=x>",
        "\u202e",
    ],
    ids=ascii,
)
def test_a_hostile_id_is_a_name_and_is_shown_harmlessly(hostile):
    store = MemoryStore()
    memory = ChatMemory(id=hostile, store=store, counter=LengthCounter())
    memory.add_user("a")
    assert store.sessions() == [hostile]
    shown = repr(memory)
    assert len(shown) < 200
    assert shown.isprintable()
    assert "<img src=x>" not in memory._repr_html_()
    assert Snapshot.from_json(memory.snapshot().to_json()).id == hostile
    with pytest.raises(MessageError) as taken:
        memory.fork(hostile)
    assert str(taken.value).isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "[" * 100_000,
        '{"id":5}',
        '{"id":"a","unknown":1}',
        '{"id":"a","format":2}',
        '{"id":"a","given":1}',
        '{"id":"a","given":99999999999999999999999}',
        '{"id":"a","window":[{"order":0.0}]}',
        '{"id":"a","window":[{"order":0.0,"position":0}]}',
        '{"id":"a","window":[{"order":0.0,"position":-1}]}',
        '{"id":"a","window":[{"order":1e999,"position":0}]}',
        '{"id":"a","window":[{"order":NaN,"position":0}]}',
        '{"id":"a","messages":[{"role":"robot"}]}',
        '{"id":"a","messages":[{"role":"user","tool_calls":[{"id":"c","name":"f"}]}]}',
        '{"id":"a","events":[{"kind":5}]}',
        '{"id":"a","tools":[{"a":' + "[" * 5_000 + "]" * 5_000 + "}]}",
        b"\xff",
        5,
        None,
    ],
    ids=lambda text: ascii(text)[:60],
)
def test_no_snapshot_at_all_is_a_named_error(text):
    with pytest.raises(SnapshotError):
        Snapshot.from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[5]",
        "[" * 100_000,
        '{"role":"robot"}',
        '{"role":"user","unknown":1}',
        '{"role":"user","parts":[{"text":"x"}]}',
        '{"role":"user","usage":{"input_tokens":1e99}}',
        '{"role":"user","created_at":"soon"}',
        '{"role":"user","metadata":{"a":' + "9" * 5_000 + "}}",
        '{"role":"user","metadata":{"a":' + "[" * 9_000 + "]" * 9_000 + "}}",
        b"\xff",
    ],
    ids=lambda text: ascii(text)[:60],
)
def test_no_message_at_all_is_a_named_error(text):
    with pytest.raises(MessageError):
        from_json(text)


@pytest.mark.parametrize(
    "arguments",
    [
        "{",
        "null",
        '"text"',
        '{"a":NaN}',
        '{"a":1e999}',
        '{"a":' + "[" * 5_000 + "]" * 5_000 + "}",
        '{"a":"\\ud800"}',
        "\0",
        '{"a":' + "9" * 5_000 + "}",
    ],
    ids=lambda text: ascii(text)[:30],
)
@pytest.mark.parametrize("projection", ["to_chat", "to_responses", "to_anthropic"])
def test_hostile_arguments_are_sendable_after_a_repair(arguments, projection):
    memory = opened(MemoryStore())
    memory.add_user("q")
    memory.add_assistant(tool_calls=[ToolCall("c", "f", arguments)])
    memory.add_tool_output("c", "r")
    try:
        sent = getattr(memory, projection)()
    except ChatMemLabError:
        sent = getattr(memory, projection)(repair=True)
    json.dumps(sent, allow_nan=False).encode()
    assert memory.history[1].tool_calls[0].arguments == arguments


@pytest.mark.parametrize(
    "policy",
    [KeepAll(), MessageWindow(2), TokenWindow(20), policy_from(lambda messages: messages[-2:])],
    ids=repr,
)
def test_a_refusal_in_the_middle_of_a_batch_leaves_no_trace(policy):
    store = MemoryStore()
    memory = opened(store, policy)
    memory.add_all([user("a"), assistant("b"), user("c")])
    before, version = seen(memory), store.version("test")
    with pytest.raises(MessageError, match=r"messages\[2\]"):
        memory.add_all([assistant("d"), user("e"), tool_output("none", "f")])
    assert seen(memory) == before
    assert store.version("test") == version
    goes_on(memory, store)
