"""The store in memory: append-only, numbered, atomic; and memories that share it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from typing import ClassVar

import pytest
from msgspec.structs import replace

from chatmem_lab.errors import ConflictError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.policies import KeepAll, MessageWindow, Policy, policy_from
from chatmem_lab.stores import Commit, MemoryStore, Store, Stored
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.window import Revision

ONE, TWO, THREE = (Commit((user(text),)) for text in ("one", "two", "three"))


def memory_of(store, id="test", policy=None):
    return ChatMemory(policy, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


# --- the store


def test_it_is_a_store():
    assert isinstance(MemoryStore(), Store)
    assert repr(MemoryStore()) == "<MemoryStore, 0 sessions>"


def test_a_session_that_was_never_written():
    store = MemoryStore()
    assert (store.version("x"), tuple(store.read("x").commits), tuple(store.sessions())) == (
        0,
        (),
        (),
    )
    store.append("x", [], version=0)
    assert tuple(store.sessions()) == ()


def test_a_write_appends_and_the_version_counts_commits():
    store = MemoryStore()
    version = store.append("x", [ONE, TWO], version=0)
    assert store.read("x") == Stored(version, (ONE, TWO))
    assert store.append("x", [THREE], version=version) == version + 1 == store.version("x")
    assert store.read("x") == Stored(version + 1, (ONE, TWO, THREE))
    assert store.read("x", after=version - 1) == Stored(version + 1, (TWO, THREE))
    assert store.read("x", after=version + 1) == Stored(version + 1, ())


@pytest.mark.parametrize("other", [None, -1, 1])
def test_a_write_that_knows_another_version_writes_nothing(other):
    store = MemoryStore()
    found = store.append("x", [ONE, TWO], version=0)
    version = 0 if other is None else found + other
    with pytest.raises(ConflictError, match=rf"'x' is at version {found}.*knew version {version}"):
        store.append("x", [THREE, THREE], version=version)
    assert tuple(store.read("x").commits) == (ONE, TWO)
    with pytest.raises(ConflictError):
        store.append("x", [], version=version)
    with pytest.raises(ConflictError):
        store.append("new", [ONE], version=1)
    assert tuple(store.sessions()) == ("x",)


def test_what_was_handed_out_or_in_is_not_the_store():
    store = MemoryStore()
    given = [ONE]
    version = store.append("x", given, version=0)
    given.append(TWO)
    before = store.read("x").commits
    store.append("x", [THREE], version=version)
    assert tuple(before) == (ONE,)
    assert tuple(store.read("x").commits) == (ONE, THREE)


def test_ids_are_data_and_share_nothing():
    store = MemoryStore()
    ids = [
        "a",
        "A",
        "a ",
        "../a",
        "a'; drop table sessions",
        "",
        "é",
        "e\u0301",
        "\0",
        "x" * 9_999,
    ]
    for number, id in enumerate(ids):
        store.append(id, [Commit((user(str(number)),))], version=0)
    assert [store.read(id).commits[0].messages[0].text for id in ids] == [
        str(n) for n in range(10)
    ]
    assert sorted(store.sessions()) == sorted(ids)
    assert repr(store) == "<MemoryStore, 10 sessions>"


def test_delete_erases_one_session_for_good():
    store = MemoryStore()
    for id in "xy":
        store.append(id, [ONE], version=0)
    store.delete("x")
    store.delete("x")
    store.delete("never")
    assert (store.version("x"), tuple(store.read("x").commits)) == (0, ())
    assert tuple(store.sessions()) == ("y",)
    store.append("x", [TWO], version=0)
    assert tuple(store.read("x").commits) == (TWO,)


def test_of_many_writers_of_one_version_exactly_one_is_first():
    store = MemoryStore()
    outcomes, barrier = [], Barrier(8)

    def write(number):
        barrier.wait()
        try:
            store.append("x", [Commit((user(str(number)),))] * 3, version=0)
            outcomes.append(number)
        except ConflictError:
            outcomes.append(None)

    in_threads(write, range(8))
    (first,) = [number for number in outcomes if number is not None]
    assert len(outcomes) == 8
    assert [commit.messages[0].text for commit in store.read("x").commits] == [str(first)] * 3


def in_threads(function, arguments):
    threads = [Thread(target=function, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- memories on one store


def test_two_memories_on_one_id_see_each_others_additions():
    store = MemoryStore()
    one = memory_of(store, policy=MessageWindow(2))
    two = memory_of(store, policy=MessageWindow(2))
    one.add_user("a")
    assert (texts(two.history), len(two), two.tokens) == (["a"], 1, 5)
    two.add_assistant("b")
    one.add_user("c")
    for memory in (one, two):
        assert texts(memory.history) == ["a", "b", "c"]
        assert texts(memory.messages) == texts(memory.request()) == ["b", "c"]
        assert [event.kind for event in memory.events] == ["evict"]
        assert repr(memory) == "<ChatMemory 'test', MessageWindow(2), 3 messages>"


def test_two_memories_on_one_id_see_each_others_lines():
    store = MemoryStore()
    one, two = memory_of(store), memory_of(store)
    one.add_user("a")
    snapshot = two.snapshot()
    two.clear()
    assert (one.history, [texts(b.messages) for b in one.branches]) == ((), [["a"]])
    one.restore(snapshot)
    assert texts(two.history) == ["a"]
    two.set([user("b")])
    one.add_assistant("c")
    assert texts(two.history) == ["b", "c"]


def test_two_ids_share_nothing():
    store = MemoryStore()
    one, two = memory_of(store, "one"), memory_of(store, "two")
    one.add_user("a")
    two.add_user("b")
    one.clear()
    assert (one.history, texts(two.history), two.branches) == ((), ["b"], ())
    store.delete("two")
    assert (two.history, len(one.branches)) == ((), 1)


def test_two_memories_without_a_store_share_nothing_even_with_one_id():
    one, two = memory_of(None), memory_of(None)
    one.add_user("a")
    assert two.history == ()


def test_a_session_that_was_deleted_begins_anew():
    store = MemoryStore()
    memory = memory_of(store)
    memory.add_user("a")
    store.delete("test")
    memory.add_user("b")
    assert texts(memory.history) == ["b"]
    assert memory.branches == ()


def test_a_session_that_was_deleted_and_begun_by_another_writer_is_read_again():
    store = MemoryStore()
    memory = memory_of(store)
    memory.add_user("erased for good")
    store.delete("test")
    memory_of(store).add_user("new")
    assert texts(memory.history) == ["new"]


def test_an_addition_is_one_commit_and_nothing_in_a_commit_changes():
    store = MemoryStore()
    memory = memory_of(store, policy=MessageWindow(1))
    seen = []
    for number in range(5):
        memory.add_user(str(number))
        commits = tuple(store.read("test").commits)
        assert commits[:-1] == tuple(seen)
        seen = commits
    assert [texts(commit.messages) for commit in seen] == [["0"], ["1"], ["2"], ["3"], ["4"]]


@pytest.mark.parametrize("policy", [KeepAll(), MessageWindow(5)], ids=repr)
def test_two_threads_lose_nothing_and_each_keeps_its_order(policy):
    store = MemoryStore()
    barrier = Barrier(2)
    failed = []

    def write(name):
        memory = memory_of(store, policy=policy)
        barrier.wait()
        try:
            for number in range(200):
                memory.add_user(f"{name}{number}")
        except Exception as error:
            failed.append(error)

    in_threads(write, "ab")
    assert failed == []
    memory = memory_of(store, policy=policy)
    history = texts(memory.history)
    assert len(history) == 400
    for name in "ab":
        assert [t for t in history if t[0] == name] == [f"{name}{n}" for n in range(200)]
    assert texts(memory.messages) == (history if policy == KeepAll() else history[-5:])


class Overtaken(MemoryStore):
    """Lets another writer in first, right before a write that is about to happen."""

    def __init__(self):
        super().__init__()
        self.others = []

    def append(self, session_id, commits, *, version):
        if self.others:
            self.others.pop()()
        return super().append(session_id, commits, version=version)


def test_a_lost_race_is_tried_again_and_loses_no_message():
    """The second of the others is overtaken by the first itself."""
    store = Overtaken()
    memory = memory_of(store, policy=MessageWindow(2))
    memory.add_user("a")
    for letter in "bc":
        store.others.append(lambda letter=letter: memory_of(store).add_user(letter))
    memory.add_all([user("d"), user("e")])
    assert texts(memory.history) == ["a", "b", "c", "d", "e"]
    assert texts(memory.messages) == ["d", "e"]
    assert texts(memory_of(store).messages) == ["d", "e"]


def last_two(messages):
    return messages[-2:]


@pytest.mark.parametrize(
    "reads_too",
    [
        False,
        True,
    ],
)
def test_what_left_the_window_is_told_once_though_two_writers_read_it(reads_too):
    store = Overtaken()
    policy = policy_from(last_two, sees="history")
    memory = memory_of(store, policy=policy)
    memory.add_all([user(letter) for letter in "abc"])
    assert texts(memory.messages) == ["b", "c"]

    def overtake():
        other = memory_of(store, policy=policy)
        if reads_too:
            assert texts(other.messages) == ["b", "c"]
        other.add_user("theirs")

    store.others.append(overtake)
    memory.add_user("mine")
    assert texts(memory.history) == ["a", "b", "c", "theirs", "mine"]
    for one in (memory, memory_of(store, policy=policy)):
        assert texts(one.messages) == ["theirs", "mine"]
    evicted = [unit for event in memory.events if event.kind == "evict" for unit in event.units]
    assert evicted == [(0,), (1,), (2,)]


@dataclass(frozen=True)
class ForgetsOld(Policy):
    """Right before a request, what is called old leaves."""

    asks: ClassVar = "request"

    def revise(self, window):
        old = tuple(unit for unit in window.units if unit.slots[0].message.text == "old")
        return Revision(evict=old, reason="old")


def test_a_reading_of_one_line_takes_nothing_out_of_the_next():
    store = Overtaken()
    memory = memory_of(store, policy=ForgetsOld())
    memory.add_all([user("old"), user("b")])
    assert texts(memory.messages) == ["b"]
    store.others.append(lambda: memory_of(store).set([user("x"), user("y")]))
    memory.add_user("mine")
    assert texts(memory.history) == ["x", "y", "mine"]
    assert texts(memory.messages) == ["x", "y", "mine"]


@pytest.mark.parametrize(
    ("change", "history"),
    [
        (lambda memory: memory.clear(), []),
        (lambda memory: memory.set([user("mine")]), ["mine"]),
    ],
    ids=["clear", "set"],
)
def test_a_new_line_that_lost_a_race_is_a_named_error_or_comes_after_the_other(change, history):
    store = Overtaken()
    memory = memory_of(store)
    memory.add_user("a")
    store.others.append(lambda: memory_of(store).add_user("theirs"))
    try:
        change(memory)
    except ConflictError:
        assert texts(memory.history) == ["a", "theirs"]
    else:
        assert texts(memory.history) == history
        assert [texts(branch.messages) for branch in memory.branches] == [["a", "theirs"]]
    memory.add_user("next")
    assert texts(memory.history)[-1] == "next"


class Broken(MemoryStore):
    """Its disk is full from some write on."""

    def __init__(self):
        super().__init__()
        self.is_full = False

    def append(self, session_id, commits, *, version):
        if self.is_full:
            raise OSError("no space left")
        return super().append(session_id, commits, version=version)


@pytest.mark.parametrize(
    "change",
    [
        lambda memory: memory.add_user("x"),
        lambda memory: memory.add_all([user("x"), user("y")]),
        lambda memory: memory.clear(),
        lambda memory: memory.set([user("x")]),
        lambda memory: memory.restore(memory.snapshot()),
        lambda memory: memory.set_policy(MessageWindow(1)),
    ],
    ids=["add", "add_all", "clear", "set", "restore", "set_policy"],
)
def test_where_the_store_fails_nothing_has_changed(change):
    store = Broken()
    memory = memory_of(store, policy=MessageWindow(3))
    memory.add_all([user(letter) for letter in "abcd"])
    before = (memory.snapshot(), memory.messages, memory.branches, memory.policy)
    store.is_full = True
    with pytest.raises(OSError, match="no space left"):
        change(memory)
    store.is_full = False
    assert (memory.snapshot(), memory.messages, memory.branches, memory.policy) == before
    memory.add_user("e")
    assert texts(memory.messages) == ["c", "d", "e"]
    assert texts(memory_of(store).messages) == ["c", "d", "e"]


def test_a_reading_that_a_full_disk_kept_unwritten_takes_nothing_out_of_the_next_line():
    store = Broken()
    memory = memory_of(store, policy=ForgetsOld())
    memory.add_all([user("old"), user("b")])
    assert texts(memory.messages) == ["b"]
    store.is_full = True
    with pytest.raises(OSError, match="no space left"):
        memory.add_user("lost")
    store.is_full = False
    memory_of(store).set([user("x"), user("y")])
    memory.add_user("mine")
    assert texts(memory.messages) == ["x", "y", "mine"]
    assert memory.events == ()


def test_a_message_that_takes_its_place_at_the_end_is_stored_once_and_as_no_change():
    store = MemoryStore()
    memory = memory_of(store)
    memory.add_user("a")
    memory.add_all([user("b"), user("c")])
    before = datetime.now(UTC)
    commits = store.read("test").commits
    assert [replace(commit, created_at=None) for commit in commits] == [
        Commit((user("a"),)),
        Commit((user("b"), user("c"))),
    ]
    assert all(before - timedelta(minutes=1) < c.created_at <= before for c in commits)
