"""How long a session on Redis lives."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chatmem_lab.errors import ConflictError, StoreError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.stores import Commit, RedisStore, Stored
from chatmem_lab.testing.length_counter import LengthCounter
from seed_cases import bug_cases

ONE, TWO, THREE = (Commit((user(text),)) for text in ("one", "two", "three"))
BUGS = bug_cases()


def memory_of(store, id="test", policy=None):
    return ChatMemory(policy, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


@pytest.mark.parametrize(
    ("sliding", "lowest", "highest"), [(True, 99_000, 100_000), (False, 97_000, 98_000)]
)
def test_b086_a_session_expires_as_a_whole(redis_server, redis_client, sliding, lowest, highest):
    assert BUGS["B086"]["input"]["ttl"] == 100
    store = RedisStore(redis_server.url, ttl=100, sliding=sliding)
    version = store.append("s", [ONE], version=0)
    (key,) = redis_client.keys()
    assert 99_000 <= redis_client.pttl(key) <= 100_000
    redis_client.expire(key, 98)
    store.append("s", [TWO], version=version)
    assert redis_client.keys() == [key]
    assert lowest <= redis_client.pttl(key) <= highest


def test_b086_none_is_no_expiry(redis_server, redis_client):
    store = RedisStore(redis_server.url, ttl=None)
    version = store.append("s", [ONE], version=0)
    assert redis_client.pttl("chat-memory:s") == -1
    redis_client.expire("chat-memory:s", 98)
    store.append("s", [TWO], version=version)
    assert redis_client.pttl("chat-memory:s") == -1


@pytest.mark.parametrize(
    "ttl",
    [
        0,
        -1,
        True,
        1.5,
        "30d",
        timedelta(0),
        timedelta(microseconds=999),
        timedelta(days=-1),
        10**30,
    ],
)
def test_b086_another_ttl_is_an_error(redis_server, ttl):
    with pytest.raises(StoreError, match="ttl is a timedelta, whole seconds, or None"):
        RedisStore(redis_server.url, ttl=ttl)


def test_a_ttl_must_be_chosen(redis_server):
    with pytest.raises(TypeError, match="ttl"):
        RedisStore(redis_server.url)


@pytest.mark.parametrize(
    ("use", "renews"),
    [
        (lambda store, version: store.version("s"), True),
        (lambda store, version: store.read("s"), True),
        (lambda store, version: store.read("s", after=version), True),
        (lambda store, version: store.append("s", [TWO], version=version), True),
        (lambda store, version: store.replace("s", [TWO], version=version), True),
        (lambda store, version: store.sessions(), False),
        (lambda store, version: store.version("other"), False),
    ],
)
@pytest.mark.parametrize("sliding", [True, False])
def test_what_begins_the_time_anew(redis_server, redis_client, use, renews, sliding):
    store = RedisStore(redis_server.url, ttl=timedelta(days=30), sliding=sliding)
    version = store.append("s", [ONE], version=0)
    redis_client.pexpire("chat-memory:s", 50_000)
    use(store, version)
    if renews and sliding:
        assert 2_591_000_000 < redis_client.pttl("chat-memory:s") <= 2_592_000_000
    else:
        assert 40_000 < redis_client.pttl("chat-memory:s") <= 50_000


def test_a_session_from_before_there_was_a_ttl_gets_one_with_the_next_write(
    redis_server, redis_client
):
    version = RedisStore(redis_server.url, ttl=None).append("s", [ONE], version=0)
    store = RedisStore(redis_server.url, ttl=100, sliding=False)
    store.read("s")
    assert redis_client.pttl("chat-memory:s") == -1
    store.append("s", [TWO], version=version)
    assert 99_000 <= redis_client.pttl("chat-memory:s") <= 100_000


def test_who_only_reads_without_a_ttl_changes_none(redis_server, redis_client):
    RedisStore(redis_server.url, ttl=100).append("s", [ONE], version=0)
    onlooker = RedisStore(redis_server.url, ttl=None)
    assert texts(memory_of(onlooker, "s").messages) == ["one"]
    assert onlooker.sessions() == ["s"]
    assert 99_000 <= redis_client.pttl("chat-memory:s") <= 100_000


def test_an_expired_session_is_empty_and_begins_anew(redis_server, redis_client):
    store = RedisStore(redis_server.url, ttl=1)
    memory = memory_of(store)
    memory.add_all([user("a"), user("b")])
    version = store.version("test")
    redis_client.pexpireat("chat-memory:test", 1)
    assert (store.version("test"), store.read("test"), store.sessions()) == (0, Stored(0, ()), [])
    assert memory.history == ()
    with pytest.raises(ConflictError, match="at version 0"):
        store.append("test", [ONE], version=version)
    memory.add_user("c")
    assert texts(memory.history) == texts(memory_of(store).messages) == ["c"]
    assert store.version("test") > version


def test_the_server_itself_lets_a_session_expire(redis_server, redis_client):
    """Waits for the server's own clock, however long that takes."""
    store = RedisStore(redis_server.url, ttl=timedelta(milliseconds=5), sliding=False)
    store.append("s", [ONE], version=0)
    while redis_client.exists("chat-memory:s"):
        pass
    assert store.read("s") == Stored(0, ())
