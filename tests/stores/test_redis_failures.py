"""How a store on Redis is opened, and servers that fail."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
from datetime import timedelta

import pytest

from chatmem_lab.errors import StoreError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.stores import Commit, RedisStore, Stored
from chatmem_lab.testing.length_counter import LengthCounter

ONE, TWO, THREE = (Commit((user(text),)) for text in ("one", "two", "three"))


def memory_of(store, id="test", policy=None):
    return ChatMemory(policy, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


# --- servers that fail


def test_a_server_that_is_not_there(own_redis):
    own_redis.stop()
    with pytest.raises(StoreError, match=rf"127.0.0.1:{own_redis.port}/0: no connection: start"):
        RedisStore(own_redis.url, ttl=None)


def test_a_server_that_goes_away_and_comes_back(own_redis):
    store = RedisStore(own_redis.url, ttl=None)
    memory = memory_of(store)
    memory.add_user("a")
    own_redis.stop()
    for use in (lambda: memory.messages, lambda: memory.add_user("lost"), store.sessions):
        with pytest.raises(StoreError, match="no connection: start it, or correct the address"):
            use()
    own_redis.start()
    memory.add_user("b")
    assert texts(memory.history) == texts(memory_of(store).history) == ["a", "b"]


def test_a_server_that_was_restarted_in_between_is_not_noticed(own_redis):
    store = RedisStore(own_redis.url, ttl=None)
    version = store.append("x", [ONE], version=0)
    own_redis.stop()
    own_redis.start()
    store.append("x", [TWO], version=version)
    assert store.read("x").commits == (ONE, TWO)


def test_scripts_that_the_server_forgot_are_sent_again(redis_store, redis_client):
    version = redis_store.append("x", [ONE], version=0)
    redis_client.script_flush()
    redis_store.append("x", [TWO], version=version)
    redis_client.script_flush()
    assert redis_store.read("x").commits == (ONE, TWO)


def test_a_server_that_does_not_answer(own_redis):
    store = RedisStore(f"{own_redis.url}?socket_timeout=0.5", ttl=None)
    store.append("x", [ONE], version=0)
    own_redis.process.send_signal(signal.SIGSTOP)
    with pytest.raises(StoreError, match="did not answer in time"):
        store.read("x")
    own_redis.process.send_signal(signal.SIGCONT)
    assert store.read("x").commits == (ONE,)


def test_a_password(own_redis, caplog):
    at = {"host": "127.0.0.1", "port": own_redis.port, "ttl": timedelta(days=30)}
    RedisStore(**at, username="", password=" ").close()
    RedisStore(own_redis.url, username=" ", password="", ttl=None).close()
    with pytest.raises(StoreError, match="has no password for this user: give none"):
        RedisStore(**at, password="s3cret")
    with own_redis.client() as client:
        client.config_set("requirepass", "s3cret")
        client.acl_setuser(
            "ann", enabled=True, passwords=["+pa/ss"], keys=["*"], commands=["+@all"]
        )
    for blank in (None, "", " "):
        with pytest.raises(StoreError, match="wants a password"):
            RedisStore(**at, password=blank)
    with pytest.raises(StoreError, match="refuses this user or password") as caught:
        RedisStore(**at, password="s3kret")
    assert "s3kret" not in str(caught.value)
    with caplog.at_level(logging.INFO):
        store = RedisStore(**at, password="s3cret")
        url = f"redis://ann:pa%2Fss@127.0.0.1:{own_redis.port}/0"
        RedisStore(url, ttl=30).append("x", [ONE], version=0)
    assert store.read("x").commits == (ONE,)
    where = f"Redis at 127.0.0.1:{own_redis.port}/0, prefix 'chat-memory:', expiry"
    assert [record.getMessage() for record in caplog.records] == [
        f"sessions are kept in {where} 30 days after the last use",
        f"sessions are kept in {where} 0:00:30 after the last use",
    ]
    assert repr(store) == f"<RedisStore, {where} 30 days after the last use>"


def test_a_user_who_may_not(own_redis):
    with own_redis.client() as client:
        client.acl_setuser(
            "reader", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-hset"]
        )
    store = RedisStore(host="127.0.0.1", port=own_redis.port, username="reader", ttl=None)
    assert store.read("x") == Stored(0, ())
    with pytest.raises(StoreError, match="this user may not do that"):
        store.append("x", [ONE], version=0)
    assert store.version("x") == 0


def test_a_read_only_replica(own_redis):
    store = RedisStore(own_redis.url, ttl=100, sliding=False)
    version = store.append("x", [ONE], version=0)
    with own_redis.client() as client:
        client.replicaof("127.0.0.1", 1)
        assert store.read("x").commits == (ONE,)
        with pytest.raises(StoreError, match="read-only replica: give the primary's address"):
            store.append("x", [TWO], version=version)
        client.replicaof("NO", "ONE")
    assert store.append("x", [TWO], version=version) == version + 1


def test_a_server_without_memory_writes_nothing_and_can_still_erase(own_redis):
    store = RedisStore(own_redis.url, ttl=None)
    version = store.append("x", [ONE], version=0)
    with own_redis.client() as client:
        client.config_set("maxmemory", 1)
        for use in (
            lambda: store.append("x", [TWO, THREE], version=version),
            lambda: store.append("new", [TWO], version=0),
        ):
            with pytest.raises(StoreError, match="memory is full: raise its maxmemory"):
                use()
        assert store.read("x") == Stored(version, (ONE,))
        assert store.sessions() == ["x"]
        assert store.delete("x")
        client.config_set("maxmemory", 0)
    store.append("x", [TWO], version=0)


# --- how it is opened


@pytest.mark.parametrize(
    "url",
    [
        "redis://:s3cret/s3cret@127.0.0.1:6379/0",
        "http://:s3cret@127.0.0.1",
        "127.0.0.1:6379",
        "",
        "redis://127.0.0.1:99999999",
        "redis://:s3cret@127.0.0.1:1?pass=1",
        "redis://127.0.0.1:1/0?socket_timeout=pass",
        b"redis://127.0.0.1",
        6379,
    ],
)
def test_a_url_that_cannot_be_used(url):
    with pytest.raises(StoreError) as caught:
        RedisStore(url, ttl=None)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "part", [{"host": "h"}, {"port": 1}, {"db": 1}, {"username": "u"}, {"password": "p"}]
)
def test_a_url_and_its_parts_are_too_much(part):
    with pytest.raises(StoreError, match=r"give url, or host, port.*, not both"):
        RedisStore("redis://127.0.0.1:1", **part, ttl=None)


def test_a_prefix_is_text(redis_server):
    with pytest.raises(StoreError, match="prefix is text, not bytes"):
        RedisStore(redis_server.url, prefix=b"x", ttl=None)


def test_the_url_may_not_change_how_answers_are_read(redis_server):
    store = RedisStore(f"{redis_server.url}?decode_responses=true&protocol=3", ttl=None)
    store.append("x", [ONE], version=0)
    assert (store.read("x").commits, store.sessions()) == ((ONE,), ["x"])


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreError, match=r'pip install "chatmem-lab\[redis\]"'):
        RedisStore(ttl=None)


def test_close_leaves_no_connection(redis_server, redis_client):
    before = len(redis_client.client_list())
    with RedisStore(redis_server.url, ttl=None) as store:
        store.append("x", [ONE], version=0)
        assert len(redis_client.client_list()) == before + 1
    while len(redis_client.client_list()) > before:
        pass
    for use in (store.sessions, lambda: store.read("x"), lambda: memory_of(store).messages):
        with pytest.raises(StoreError, match="is closed: make a new store"):
            use()


def test_it_is_not_pickled(redis_store):
    with pytest.raises(TypeError, match="make one from the URL in each process"):
        pickle.dumps(redis_store)


def test_a_fork_goes_on_with_the_store_and_so_does_its_parent(redis_store):
    version = redis_store.append("x", [ONE], version=0)
    child = os.fork()
    if not child:
        redis_store.append("x", [TWO], version=version)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert redis_store.append("x", [THREE], version=version + 1) == version + 2
    assert redis_store.read("x").commits == (ONE, TWO, THREE)
