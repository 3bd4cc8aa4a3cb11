"""What the store holds is what the memory shows, whatever fails, crowds or comes in between."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Barrier, Thread

import pytest

from chatmem_lab.errors import MessageError, PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, system, user
from chatmem_lab.policies import (
    KeepAll,
    Messages,
    MessageWindow,
    Preset,
    Rules,
    Summarize,
    TokenWindow,
    policy_from,
)
from chatmem_lab.policies.presets import ai4j_turn_compaction
from chatmem_lab.stores import MemoryStore
from chatmem_lab.summarizers import Summary, summarizer_from
from chatmem_lab.testing import LengthCounter


def texts(messages):
    return [message.text for message in messages]


def opened(policy=None, store=None, counter=None):
    return ChatMemory(policy, id="a", store=store, counter=counter or LengthCounter())


def assert_sound(memory, store):
    """Opened again, it shows the same; what it was shows the same again."""
    again = opened(memory.policy, store)
    assert (again.messages, again.history) == (memory.messages, memory.history)
    snapshot = memory.snapshot()
    memory.restore(snapshot)
    assert memory.snapshot() == snapshot


class Fails(LengthCounter):
    is_broken = False

    def count_message(self, message):
        if self.is_broken:
            raise OSError("broken")
        return super().count_message(message)


@pytest.mark.parametrize(
    "change",
    [
        lambda memory, before: memory.set_policy("nonsense"),
        lambda memory, before: memory.restore(before),
        lambda memory, before: memory.set([user("x")]),
        lambda memory, before: memory.set_policy(MessageWindow(1)),
    ],
    ids=["no policy", "restore", "set", "set_policy"],
)
def test_after_a_change_that_failed_all_goes_on(change):
    store, counter = MemoryStore(), Fails()
    memory = opened(MessageWindow(2), store, counter)
    other = opened(KeepAll())
    other.add_user("elsewhere")
    memory.add_all([user("a"), user("b")])
    counter.is_broken = True
    with suppress(PolicyError, OSError):
        change(memory, other.snapshot())
    counter.is_broken = False
    for letter in "cdef":
        memory.add_user(letter)
    assert texts(memory.messages)[-1:] == ["f"]
    assert_sound(memory, store)


class Writes:
    """A summarizer that does something to its own memory."""

    def __init__(self, deed):
        self.deed = deed
        self.memory = None

    def summarize(self, request):
        self.deed(self.memory)
        return Summary(text="s")

    def __repr__(self):
        return "Writes()"


DEEDS = {
    "add": lambda memory: memory.add_user("note"),
    "clear": lambda memory: memory.clear(),
    "set": lambda memory: memory.set([user("new")]),
    "restore": lambda memory: memory.restore(memory.snapshot()),
    "set_policy": lambda memory: memory.set_policy(KeepAll()),
    "read": lambda memory: (memory.messages, memory.history, memory.to_chat()),
}


@pytest.mark.parametrize("way", ["add", "add_all", "turn"])
@pytest.mark.parametrize("deed", DEEDS)
def test_a_summarizer_that_writes_to_its_own_memory(deed, way):
    store = MemoryStore()
    summarizer = Writes(DEEDS[deed])
    policy = Summarize(summarizer, trigger=Messages(3), keep=Messages(1))
    memory = summarizer.memory = opened(policy, store)
    said = [user(f"a message that is long {number}") for number in range(5)]
    if way == "add":
        for message in said:
            memory.add(message)
    elif way == "add_all":
        memory.add_all(said)
    else:
        with memory.turn():
            memory.add_all(said)
    if deed == "read":
        assert "s" in texts(memory.messages)
    assert [t for t in texts(memory.history) if t.startswith("a message")]
    assert_sound(memory, store)


def test_a_policy_that_writes_to_its_own_memory_is_refused():
    memory = opened(KeepAll(), MemoryStore())

    def writes(messages):
        if len(messages) > 1:
            memory.add_user("note")
        return messages

    memory.set_policy(policy_from(writes))
    memory.add_user("a")
    with pytest.raises(MessageError, match="may read it while it is asked, and add nothing"):
        memory.add_user("b")
    assert texts(memory.history) == ["a"]


def head(messages):
    return [system("head"), *(m for m in messages if m.text != "head")]


@pytest.mark.parametrize("begin", ["new", "clear", "set"])
def test_a_made_message_in_an_empty_window_takes_nobodys_place(begin):
    store = MemoryStore()
    memory = opened(policy_from(head), store)
    if begin != "new":
        memory.add_user("before")
        memory.clear() if begin == "clear" else memory.set([])
    memory.set_policy(policy_from(head))
    memory.add_user("hello")
    assert texts(memory.messages) == ["head", "hello"]
    assert_sound(memory, store)


def test_made_messages_that_crowd_at_one_place_keep_their_order():
    store, made = MemoryStore(), []

    def note(messages):
        made.append(None)
        at = next((i for i, m in enumerate(messages) if m.role == "user"), len(messages))
        return [*messages[:at], assistant(f"note {len(made)}"), *messages[at:]]

    memory = opened(policy_from(note), store)
    memory.add_system("S")
    for number in range(150):
        memory.add_user(f"m{number}")
    shown = texts(memory.messages)
    notes = [f"note {number}" for number in range(1, len(made) + 1)]
    assert [t for t in shown if t.startswith("note")] == notes
    assert [t for t in shown if t.startswith("m")] == [f"m{n}" for n in range(150)]
    orders = [placed.order for placed in memory.snapshot().window]
    assert orders == sorted(set(orders))
    assert_sound(memory, store)


def test_many_made_messages_at_the_end_stay_before_the_next_message():
    store = MemoryStore()

    def sixty(messages):
        have = any(m.text.startswith("note") for m in messages)
        return messages if have else [*messages, *(assistant(f"note {n}") for n in range(60))]

    memory = opened(policy_from(sixty), store)
    memory.add_user("a")
    memory.add_user("b")
    assert texts(memory.messages) == ["a", *(f"note {n}" for n in range(60)), "b"]
    assert_sound(memory, store)


def test_an_empty_batch_stores_what_it_made_the_policy_decide():
    store = MemoryStore()
    policy = Preset(
        Summarize(summarizer_from(lambda request: "s"), trigger=Messages(3), keep=Messages(1)),
        Rules(batch="once", first_request="untrimmed"),
    )
    memory = opened(policy, store)
    for number in range(4):
        memory.add_user(f"a message that is long {number}")
    memory.add_all([])
    assert texts(memory.messages)[0] == "s"
    assert_sound(memory, store)


def test_a_policy_that_failed_in_a_read_is_asked_again():
    store, failures = MemoryStore(), [RuntimeError("once"), KeyboardInterrupt()]

    def last_two(messages):
        if failures and len(messages) > 3:
            raise failures.pop()
        return messages[-2:]

    memory = opened(policy_from(last_two, sees="history"), store)
    for letter in "abcde":
        memory.add_user(letter)
    with pytest.raises(KeyboardInterrupt):
        _ = memory.messages
    with pytest.raises(RuntimeError):
        _ = memory.messages
    assert texts(memory.messages) == ["d", "e"]
    assert_sound(memory, store)


def test_an_oversize_message_that_left_is_not_the_newest_after_a_reload():
    store = MemoryStore()
    rules = Rules(oversize="evict", first_request="untrimmed")
    memory = opened(KeepAll(), store)
    memory.add_user("w" * 40)
    memory.set_policy(Preset(TokenWindow(30), rules))
    memory.add_user("v" * 40)
    assert_sound(memory, store)


def test_compaction_in_reads_is_written_with_the_next_addition():
    store = MemoryStore()
    preset = ai4j_turn_compaction(summarizer_from(lambda r: str(len(r.messages))), max_items=2)
    memory = opened(preset, store)
    for number in range(6):
        memory.add(user(f"q{number}"))
        memory.add(assistant(f"a{number}"))
        _ = memory.messages
    assert_sound(memory, store)


def in_threads(work, count=8):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    errors, barrier = [], Barrier(count)

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert errors == []


@pytest.mark.parametrize(
    "policy",
    [
        KeepAll(),
        MessageWindow(5),
        Summarize(summarizer_from(lambda r: "s"), trigger=Messages(9), keep=Messages(4)),
    ],
    ids=["keep all", "window", "summarize"],
)
def test_threads_share_a_memory_and_lose_nothing(policy):
    store = MemoryStore()
    memory = opened(policy, store)

    def write(number):
        for turn in range(25):
            memory.add_user(f"thread {number}, message {turn}")
            assert memory.messages
            with memory.turn():
                memory.add_user(f"thread {number}, turn {turn}")
                memory.add_assistant(f"answer {number}, turn {turn}")

    in_threads(write)
    history = texts(memory.history)
    assert len(history) == len(set(history)) == 8 * 75
    for number in range(8):
        own = [t for t in history if t.startswith(f"thread {number},")]
        kinds = ("message", "turn")
        assert own == [f"thread {number}, {kind} {n}" for n in range(25) for kind in kinds]
        for turn in range(25):
            place = history.index(f"thread {number}, turn {turn}")
            assert history[place + 1] == f"answer {number}, turn {turn}"
    assert_sound(memory, store)


class Slow:
    """A summarizer that says when it begins, and waits to be told to end."""

    def __init__(self):
        self.begun, self.done = Barrier(2), Barrier(2)

    def summarize(self, request):
        self.begun.wait(timeout=10)
        self.done.wait(timeout=10)
        return Summary(text="s")

    def __repr__(self):
        return "Slow()"


def while_it_works(deed):
    """What a memory is like when `deed` was done to it while its summarizer worked."""
    store, slow = MemoryStore(), Slow()
    policy = Summarize(slow, trigger=Messages(3), keep=Messages(1))
    memory = opened(policy, store)
    said = [f"a message that is long {number}" for number in range(4)]
    thread = Thread(target=lambda: [memory.add_user(text) for text in said])
    thread.start()
    slow.begun.wait(timeout=10)
    deed(memory, opened(policy, store), said)
    slow.done.wait(timeout=10)
    thread.join()
    assert_sound(memory, store)
    return memory, said


def test_while_a_summarizer_works_others_read_and_write():
    def deed(memory, again, said):
        # the message that called for the summary is a fact already, here and in the store
        assert texts(memory.history) == texts(again.history) == said
        memory.add_user("meanwhile")

    memory, said = while_it_works(deed)
    assert texts(memory.messages) == ["s", said[3], "meanwhile"]
    assert texts(memory.history) == [*said, "meanwhile"]


def test_a_summary_that_comes_when_its_messages_are_gone_is_charged_and_not_used():
    memory, _ = while_it_works(lambda memory, again, said: memory.clear())
    assert memory.messages == ()
    (failed,) = memory.events
    assert failed.kind == "summarize_failed"
    assert failed.summarizer_input_tokens > 0


def test_a_turn_waits_for_that_of_another_thread_and_not_for_its_own():
    memory = opened(KeepAll(), MemoryStore())
    begun, order = Barrier(2), []

    def other():
        begun.wait(timeout=10)
        with memory.turn():
            memory.add_user("theirs")
            order.append("theirs")

    thread = Thread(target=other)
    thread.start()
    with memory.turn():
        assert memory.is_in_turn
        begun.wait(timeout=10)
        memory.add_user("mine")
        with pytest.raises(MessageError, match="a turn is open already"), memory.turn():
            pass
        order.append("mine")
    thread.join(timeout=10)
    assert order == texts(memory.history) == ["mine", "theirs"]


def test_an_interrupt_while_a_turn_opens_leaves_none_open(monkeypatch):
    store = MemoryStore()
    memory = opened(KeepAll(), store)
    memory.add_user("first")

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("chatmem_lab.memory.session.get_ident", interrupted)
    with pytest.raises(KeyboardInterrupt), memory.turn():
        pass
    monkeypatch.undo()
    memory.add_user("later")
    assert texts(opened(KeepAll(), store).history) == ["first", "later"]
