"""Several writers on Redis, and writes whose answer is lost."""

from __future__ import annotations

import subprocess
import sys
from threading import Barrier, Thread

import pytest
import redis

from chatmem_lab.errors import ConflictError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.stores import Commit, RedisStore, Stored
from chatmem_lab.testing.length_counter import LengthCounter

ONE, TWO, THREE = (Commit((user(text),)) for text in ("one", "two", "three"))


def memory_of(store, id="test", policy=None):
    return ChatMemory(policy, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def test_of_many_writers_of_one_version_exactly_one_is_first(redis_server):
    stores = [RedisStore(redis_server.url, ttl=None) for _ in range(2)]
    outcomes, barrier = [], Barrier(8)

    def write(number):
        barrier.wait()
        try:
            stores[number % 2].append("x", [Commit((user(str(number)),))] * 3, version=0)
            outcomes.append(number)
        except ConflictError:
            outcomes.append(None)

    in_threads(write, range(8))
    (first,) = [number for number in outcomes if number is not None]
    assert len(outcomes) == 8
    assert [c.messages[0].text for c in stores[0].read("x").commits] == [str(first)] * 3


def in_threads(function, arguments):
    threads = [Thread(target=function, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_processes_lose_nothing_and_each_keeps_its_order(redis_server, redis_store):
    program = (
        "import sys\n"
        "from chatmem_lab.memory import ChatMemory\n"
        "from chatmem_lab.stores import RedisStore\n"
        "from chatmem_lab.testing.length_counter import LengthCounter\n"
        "memory = ChatMemory(id='x', store=RedisStore(sys.argv[1], ttl=100),\n"
        "                    counter=LengthCounter())\n"
        "for number in range(50):\n"
        "    memory.add_user(f'{sys.argv[2]}{number}')\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, redis_server.url, name]) for name in "ab"
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    history = texts(memory_of(redis_store, "x").history)
    assert len(history) == 100
    for name in "ab":
        assert [t for t in history if t[0] == name] == [f"{name}{n}" for n in range(50)]


class LostAnswers:
    """The server does what it is asked, and then the connection breaks, `times` times."""

    def __init__(self, monkeypatch):
        self.times = 0
        self.meanwhile = lambda: None
        original = redis.Connection.read_response

        def read_response(connection, *args, **options):
            answer = original(connection, *args, **options)
            if self.times:
                self.times -= 1
                self.meanwhile()
                raise redis.ConnectionError("the connection broke")
            return answer

        monkeypatch.setattr(redis.Connection, "read_response", read_response)


@pytest.mark.parametrize("write", ["append", "replace"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("by_url", [False, True])
def test_a_write_whose_answer_is_lost_is_written_once(
    redis_server, monkeypatch, write, known, by_url
):
    at = {"host": "127.0.0.1", "port": redis_server.port}
    store = RedisStore(**({"url": redis_server.url} if by_url else at), ttl=None)
    lost = LostAnswers(monkeypatch)
    version = store.append("x", [ONE], version=0) if known else 0
    lost.times = 1
    new = getattr(store, write)("x", [TWO, THREE], version=version)
    kept = (ONE,) if known and write == "append" else ()
    assert store.read("x") == Stored(new, (*kept, TWO, THREE))


def test_a_write_whose_answer_is_lost_and_that_another_follows_is_written_once(
    redis_store, redis_server, monkeypatch
):
    lost = LostAnswers(monkeypatch)
    other = RedisStore(redis_server.url, ttl=None)
    version = redis_store.append("x", [ONE], version=0)
    lost.times = 1
    lost.meanwhile = lambda: other.append("x", [THREE], version=version + 1)
    assert redis_store.append("x", [TWO], version=version) == version + 1
    assert redis_store.read("x") == Stored(version + 2, (ONE, TWO, THREE))


def test_a_write_that_another_was_first_to_is_a_conflict_also_after_a_lost_answer(
    redis_store, monkeypatch
):
    lost = LostAnswers(monkeypatch)
    version = redis_store.append("x", [ONE], version=0)
    redis_store.append("x", [TWO], version=version)
    lost.times = 1
    with pytest.raises(ConflictError):
        redis_store.append("x", [THREE], version=version)
    assert redis_store.read("x").commits == (ONE, TWO)
