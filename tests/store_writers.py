"""Processes that write to one session, and what must be there when they have ended.

Run as a program it is one such process: ``crash URL ID`` or ``contend URL ID NAME COUNT HOW``.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from chatmem_lab.errors import ConflictError, StoreError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import ToolCall
from chatmem_lab.policies import MessageWindow
from chatmem_lab.stores import open_store
from chatmem_lab.testing.length_counter import LengthCounter

__all__ = [
    "KINDS",
    "Place",
    "Writers",
    "add_numbered",
    "check_contention",
    "check_crash",
    "contend",
    "crash",
    "open_session",
    "served",
    "session_at",
]

KINDS = ("sqlite", "postgresql", "redis")

WINDOW = 5


class Place(NamedTuple):
    """Where a store is while a test runs; a server can be killed and started again."""

    url: str
    kill: Callable[[], object] | None = None
    start: Callable[[], object] | None = None


@contextmanager
def served(kind: str, folder: Path) -> Iterator[Place]:
    """An empty store of one of `KINDS`, on a server of its own."""
    from postgres_server import postgres_server
    from redis_server import RedisServer

    if kind == "sqlite":
        yield Place(f"sqlite:///{folder}/chat.db")
    elif kind == "postgresql":
        with postgres_server() as server:
            yield Place(server.url(), server.stop, server.start)
    else:
        with RedisServer(folder) as server:

            def kill() -> None:
                server.process.kill()
                server.process.wait()

            yield Place(f"{server.url}?ttl=none", kill, server.start)


def open_session(store, id: str) -> ChatMemory:
    return ChatMemory(MessageWindow(WINDOW), id=id, store=store, counter=LengthCounter())


@contextmanager
def session_at(url: str, id: str) -> Iterator[ChatMemory]:
    with open_store(url) as store:
        yield open_session(store, id)


# --- one writer that is killed


def add_numbered(memory: ChatMemory, number: int) -> None:
    """A question, and every third time a call with its result, as one turn."""
    if number % 3:
        memory.add_user(f"question {number}")
        return
    with memory.turn():
        memory.add_assistant(f"call {number}", tool_calls=[ToolCall(f"c{number}", "look", "{}")])
        memory.add_tool_output(f"c{number}", f"result {number}")


def numbered_texts(numbers: range) -> list[str]:
    pairs = ([f"question {n}"] if n % 3 else [f"call {n}", f"result {n}"] for n in numbers)
    return [text for pair in pairs for text in pair]


def _write_numbers(url: str, id: str) -> None:
    """Add without end; what is acknowledged is said at once."""
    with session_at(url, id) as memory:
        for number in count(1):
            add_numbered(memory, number)
            os.write(1, b"%d\n" % number)


def crash(place: Place, id: str, dice: random.Random, *, victim: str = "writer") -> int:
    """Kill the writer, or the server under it, in the middle; how much it had acknowledged."""
    with _process("crash", place.url, id) as writer:
        acknowledged = [writer.stdout.readline() for _ in range(dice.randrange(60))]
        time.sleep(dice.uniform(0, 0.01))
        if victim == "server":
            assert place.kill is not None
            place.kill()
        else:
            writer.kill()
        # `communicate` would lose what `readline` has read ahead.
        rest, said = writer.stdout.read(), writer.stderr.read()
    if victim == "server":
        place.start()
    assert (StoreError.__name__ in said) == (victim == "server"), said
    numbers = [int(line) for line in [*acknowledged, *rest.splitlines()]]
    assert numbers == list(range(1, len(numbers) + 1))
    return len(numbers)


def check_crash(url: str, id: str, acknowledged: int) -> None:
    """All that was acknowledged is there, at most one addition more, and it goes on from there."""
    with session_at(url, id) as memory:
        texts = _texts(memory)
        wanted = numbered_texts(range(1, acknowledged + 1))
        one_more = numbered_texts(range(1, acknowledged + 2))
        assert texts in (wanted, one_more), (
            f"{acknowledged} additions were acknowledged, and {len(texts)} messages are there, "
            f"the last ones {texts[-4:]}"
        )
        _check_window(memory)
        found = acknowledged + (texts == one_more)
        for number in range(found + 1, found + 4):
            add_numbered(memory, number)
    with session_at(url, id) as memory:
        assert _texts(memory) == numbered_texts(range(1, found + 4))
        _check_window(memory)


def _texts(memory: ChatMemory) -> list[str]:
    return [message.text for message in memory.history]


def _check_window(memory: ChatMemory) -> None:
    """The window is what a replay leaves of the history, and what the naive reference does."""
    from naive_reference import Reference, messages_held, window_policy
    from replaying import trace_of

    reference = Reference(LengthCounter(), (), [window_policy(messages_held(), WINDOW)])
    for message in memory.history:
        reference.add(message)
    held = [slot.position for slot in memory.window.slots]
    assert held == [entry["at"] for entry in reference.window]
    if held:
        replayed = trace_of(memory.history, MessageWindow(WINDOW)).window(-1)
        assert held == [slot.position for slot in replayed.slots]


# --- many writers on one session


class Writers(NamedTuple):
    """How it went: seconds from the common start to the last end, and lost races."""

    seconds: float
    conflicts: int


def contend(url: str, id: str, *, writers: int, additions: int, how: str = "plain") -> Writers:
    """So many processes add so many messages, or turns, to one session at the same time."""
    processes = [
        _process("contend", url, id, str(name), str(additions), how) for name in range(writers)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
    start = time.perf_counter()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=1_800) for process in processes]
    seconds = time.perf_counter() - start
    assert not any(process.returncode for process in processes), said
    return Writers(seconds, sum(json.loads(output) for output, _ in said))


def _write_among_others(url: str, id: str, name: str, additions: str, how: str) -> None:
    add = add_turn if how == "turns" else add_plain
    with session_at(url, id) as memory:
        conflicts = _counted_conflicts(memory._session.store)
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(int(additions)):
            add(memory, name, number)
        print(len(conflicts))


def add_plain(memory: ChatMemory, name: str, number: int) -> None:
    memory.add_user(f"{name} {number}")


def add_turn(memory: ChatMemory, name: str, number: int) -> None:
    """A lost race discards a turn, so its writer repeats it."""
    while True:
        try:
            with memory.turn():
                memory.add_user(f"{name} {number}")
                id = f"{name}-{number}"
                memory.add_assistant(tool_calls=[ToolCall(id, "look", "{}")])
                memory.add_tool_output(id, f"{name} {number}")
            return
        except ConflictError:
            pass


def _counted_conflicts(store) -> list[ConflictError]:
    conflicts: list[ConflictError] = []
    append = store.append

    def counted(*arguments, **options):
        try:
            return append(*arguments, **options)
        except ConflictError as lost:
            conflicts.append(lost)
            raise

    store.append = counted
    return conflicts


def check_contention(
    url: str, id: str, *, writers: int, additions: int, how: str = "plain"
) -> None:
    """Every message is there once, each writer's in its order, and no number is left out."""
    with session_at(url, id) as memory:
        history = memory.history
        store = memory._session.store
        _check_window(memory)
    size = 3 if how == "turns" else 1
    commits = writers * additions * size
    assert len(history) == commits
    units = [history[start : start + size] for start in range(0, len(history), size)]
    for unit in units:
        texts = [message.text for message in unit]
        assert texts in ([texts[0]], [texts[0], "", texts[0]])
    first = [unit[0].text for unit in units]
    for name in range(writers):
        mine = [text for text in first if text.startswith(f"{name} ")]
        assert mine == [f"{name} {number}" for number in range(additions)]
    with open_store(url) as store:
        version = store.version(id)
        for after in (0, version - commits):
            stored = store.read(id, after=after)
            assert (stored.version, len(stored.commits)) == (version, commits)
        assert len(store.read(id, after=version - commits + 1).commits) == commits - 1


def _process(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


if __name__ == "__main__":
    {"crash": _write_numbers, "contend": _write_among_others}[sys.argv[1]](*sys.argv[2:])
