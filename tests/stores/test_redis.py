"""The store on Redis, against a real server: what it keeps, and under which keys."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from chatmem_lab.errors import ConflictError, MessageError, StoreError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import ToolCall, user
from chatmem_lab.policies import presets
from chatmem_lab.stores import Commit, RedisStore, Store, Stored
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.stores import check_store
from seed_cases import GivenCosts, bug_cases, case_messages, seed_cases

ONE, TWO, THREE = (Commit((user(text),)) for text in ("one", "two", "three"))
BUGS = bug_cases()
SEEDS = {case["id"]: case for case in seed_cases()}


def memory_of(store, id="test", policy=None):
    return ChatMemory(policy, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


# --- what it keeps


@pytest.mark.parametrize("options", [{"ttl": None}, {"ttl": 3_600}, {"ttl": 60, "sliding": False}])
def test_it_keeps_the_contract(redis_server, options):
    check_store(lambda: RedisStore(redis_server.url, prefix="*[a]:", **options))


def test_it_is_a_store(redis_store, redis_server):
    assert isinstance(redis_store, Store)
    assert repr(redis_store) == (
        f"<RedisStore, Redis at 127.0.0.1:{redis_server.port}/0, prefix 'chat-memory:', no expiry>"
    )


def test_a_session_is_one_hash(redis_store, redis_client):
    version = redis_store.append("ann", [ONE, TWO], version=0)
    assert redis_client.keys() == [b"chat-memory:ann"]
    held = redis_client.hgetall("chat-memory:ann")
    assert {name: held.pop(name) for name in (b"format", b"id", b"first", b"version")} == {
        b"format": b"1",
        b"id": b"ann",
        b"first": str(version - 1).encode(),
        b"version": str(version).encode(),
    }
    assert {int(number): json.loads(body) for number, body in held.items()} == {
        version - 1: {"messages": [{"role": "user", "parts": [{"type": "text", "text": "one"}]}]},
        version: {"messages": [{"role": "user", "parts": [{"type": "text", "text": "two"}]}]},
    }


def test_a_write_appends_and_the_version_counts_commits(redis_store):
    version = redis_store.append("x", [ONE, TWO], version=0)
    assert (
        redis_store.append("x", [THREE], version=version)
        == version + 1
        == redis_store.version("x")
    )
    assert redis_store.read("x") == Stored(version + 1, (ONE, TWO, THREE))
    assert redis_store.read("x", after=version - 1) == Stored(version + 1, (TWO, THREE))
    assert redis_store.read("x", after=version + 1) == Stored(version + 1, ())
    assert redis_store.append("x", [], version=version + 1) == version + 1
    with pytest.raises(ConflictError):
        redis_store.append("x", [], version=version)


@pytest.mark.parametrize("write", ["append", "replace"])
@pytest.mark.parametrize("off", [-1, 1, None])
def test_a_write_that_knows_another_version_writes_nothing(redis_store, write, off):
    found = redis_store.append("x", [ONE, TWO], version=0)
    known = 0 if off is None else found + off
    with pytest.raises(ConflictError, match=rf"'x' is at version {found}.*knew version {known}"):
        getattr(redis_store, write)("x", [THREE, THREE], version=known)
    assert redis_store.read("x") == Stored(found, (ONE, TWO))


def test_replace_erases_what_was_there(redis_store, redis_client):
    version = redis_store.append("x", [ONE, TWO], version=0)
    assert redis_store.replace("x", [THREE], version=version) == version + 1
    assert redis_store.read("x") == Stored(version + 1, (THREE,))
    assert b"one" not in b"".join(redis_client.hvals("chat-memory:x"))
    assert redis_store.append("x", [ONE], version=version + 1) == version + 2
    assert redis_store.read("x").commits == (THREE, ONE)
    new = redis_store.replace("y", [ONE, TWO], version=0)
    assert redis_store.read("y") == Stored(new, (ONE, TWO))


def test_many_commits_at_once(redis_store):
    commits = [Commit((user(str(number)),)) for number in range(20_000)]
    version = redis_store.append("x", commits, version=0)
    assert redis_store.read("x") == Stored(version, tuple(commits))
    assert redis_store.read("x", after=version - 9_000).commits == tuple(commits[11_000:])
    assert redis_store.replace("x", commits, version=version) == version + 20_000
    assert redis_store.read("x", after=version + 19_999).commits == tuple(commits[-1:])


def test_delete_erases_one_session_for_good(redis_store, redis_client):
    versions = [redis_store.append(id, [ONE], version=0) for id in "xy"]
    assert [redis_store.delete(id) for id in ("x", "x", "never")] == [True, False, False]
    assert (redis_store.version("x"), redis_store.read("x")) == (0, Stored(0, ()))
    assert redis_client.keys() == [b"chat-memory:y"]
    assert redis_store.append("x", [TWO], version=0) > versions[0]


def test_ids_are_data_and_share_nothing(redis_store):
    ids = ["a", "A", "a ", "*", "a*", "[a]", "?", "\\", "\0", "é", "e\u0301", "😀", "x" * 99_999]
    for number, id in enumerate(ids):
        redis_store.append(id, [Commit((user(str(number)),))], version=0)
    assert [redis_store.read(id).commits[0].messages[0].text for id in ids] == [
        str(number) for number in range(len(ids))
    ]
    assert redis_store.sessions() == sorted(ids)
    with pytest.raises(StoreError, match="surrogate"):
        redis_store.read("\ud83d")


def test_what_an_append_costs_does_not_grow_with_the_session(redis_store, redis_client):
    """Counted by the server: every command that it ran, those in scripts with them."""

    def commands():
        stats = redis_client.info("commandstats")
        return sum(one["calls"] for name, one in stats.items() if name.startswith("cmdstat_h"))

    costs = []
    for length in (1, 10, 1_000):
        version = redis_store.append(str(length), [ONE] * length, version=0)
        before = commands()
        redis_store.append(str(length), [TWO], version=version)
        costs.append(commands() - before)
    assert costs[0] == costs[1] == costs[2] > 0


# --- keys


def foreign_keys(client, key):
    yield "string", lambda: client.set(key, "x")
    yield "list", lambda: client.rpush(key, "x")
    yield "set", lambda: client.sadd(key, "x")
    yield "zset", lambda: client.zadd(key, {"x": 1})
    yield "stream", lambda: client.xadd(key, {"x": 1})
    yield "another program's hash", lambda: client.hset(key, mapping={"version": "1", "1": "x"})
    whole = {"format": "1", "id": "s1", "first": "5", "version": "5", "5": '{"messages":[]}'}
    for wanted, changes in [
        ("format 2, not 1: a newer", {"format": "2"}),
        ("another prefix", {"id": "s2"}),
        ("do not fit together", {"version": "6"}),
        ("do not fit together", {"first": "-9000000000"}),
        ("do not fit together", {"first": "nan"}),
        ("do not fit together", {"version": "x"}),
        ("do not fit together", {"5": "", "more": "x"}),
    ]:
        yield wanted, lambda changes=changes: client.hset(key, mapping=whole | changes)


def test_b083_what_is_foreign_is_named_and_left_alone(redis_server, redis_client):
    store = RedisStore(redis_server.url, prefix="chat:", ttl=100)
    uses = [
        lambda: store.version("s1"),
        lambda: store.read("s1"),
        lambda: store.append("s1", [ONE], version=0),
        lambda: store.append("s1", [ONE], version=5),
        lambda: store.replace("s1", [ONE], version=5),
        lambda: store.delete("s1"),
        lambda: memory_of(store, "s1").add_user("hi"),
    ]
    for wanted, make in foreign_keys(redis_client, "chat:s1"):
        redis_client.delete("chat:s1")
        make()
        before = redis_client.dump("chat:s1")
        for use in uses:
            with pytest.raises(StoreError, match=wanted) as caught:
                use()
            assert "'chat:s1'" in str(caught.value)
        assert redis_client.dump("chat:s1") == before
        assert redis_client.pttl("chat:s1") == -1
        assert redis_client.keys() == [b"chat:s1"]


def test_a_commit_that_cannot_be_read_is_named(redis_store, redis_client):
    version = redis_store.append("s", [ONE, TWO], version=0)
    redis_client.hset("chat-memory:s", str(version), '{"messages":')
    with pytest.raises(StoreError, match=f"session 's', commit {version} cannot be read"):
        redis_store.read("s")
    redis_client.hdel("chat-memory:s", str(version))
    redis_client.hset("chat-memory:s", "instead", "x")
    with pytest.raises(StoreError, match=f"session 's', commit {version} cannot be read"):
        redis_store.read("s")


def test_b085_prefixes_are_name_spaces(redis_server):
    stores = [RedisStore(redis_server.url, prefix=p, ttl=None) for p in ("p1:", "p2:")]
    one, two = (memory_of(store, "s") for store in stores)
    one.add_user("one")
    two.add_user("two")
    assert (texts(one.messages), texts(two.messages)) == (["one"], ["two"])


def test_a_prefix_is_no_pattern(redis_server, redis_client):
    prefixes = ["", "*", "?", "[ab]", "a", "b", "\\", "\\*", "a:", "a:b:", "**"]
    stores = {p: RedisStore(redis_server.url, prefix=p, ttl=None) for p in prefixes}
    redis_client.set("a:string", "x")
    redis_client.hset("a:hash", "x", "y")
    for prefix, store in stores.items():
        store.append(f"of {prefix}", [ONE], version=0)
    assert {p: store.sessions() for p, store in stores.items()} == {
        p: [f"of {p}"] for p in prefixes
    }


def test_a_session_of_a_longer_prefix_is_none_of_the_shorter(redis_server):
    outer = RedisStore(redis_server.url, prefix="a:", ttl=None)
    inner = RedisStore(redis_server.url, prefix="a:b:", ttl=None)
    inner.append("c", [ONE], version=0)
    assert outer.sessions() == []
    with pytest.raises(StoreError, match="session 'c' of a store with another prefix"):
        outer.read("b:c")
    assert inner.read("c").commits == (ONE,)


# --- cases that hold for every store


def test_b073_text_that_spells_an_escape(redis_store):
    text = r"A\u0000B"
    assert len(text) == 8
    memory_of(redis_store).add_user(text)
    memory_of(redis_store, "nul").add_user("A\0B")
    assert texts(memory_of(redis_store).history) == [text]
    assert texts(memory_of(redis_store, "nul").history) == ["A\0B"]


def test_b074_half_an_emoji(redis_store):
    with pytest.warns(UserWarning, match="surrogate"):
        memory_of(redis_store).add_user("a\ud83d")
    with pytest.warns(UserWarning, match="surrogate"):
        memory_of(redis_store).add_user("\ud83d\ude00")
    assert texts(memory_of(redis_store).history) == ["a\ufffd", "\U0001f600"]


def test_b076_arguments_stay_byte_for_byte(redis_store):
    arguments = BUGS["B076"]["input"]["arguments"]
    memory_of(redis_store).add_assistant(tool_calls=[ToolCall("c", "f", arguments)])
    assert memory_of(redis_store).history[0].tool_calls[0].arguments == arguments


def test_b077_order_is_that_of_insertion(redis_store):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    wanted = [f"m{number}" for number in range(50)]
    messages = [replace(user(text), created_at=moment) for text in wanted]
    memory_of(redis_store, "batch").add_all(messages)
    single = memory_of(redis_store, "single")
    for message in messages:
        single.add(message)
    for id in ("batch", "single"):
        history = memory_of(redis_store, id).history
        assert texts(history) == wanted
        assert {message.created_at for message in history} == {moment}


def test_lc4j_redis_01_the_key_is_the_prefix_and_the_id_as_text(redis_server, redis_client):
    case = SEEDS["lc4j-redis-01"]
    params = case["policy"]["params"]
    store = RedisStore(redis_server.url, prefix=params["prefix"], ttl=None)
    memory_of(store, params["memory_id"]).add_all(case_messages(case["messages"]))
    assert redis_client.keys() == [case["expect"]["key"].encode()]
    redis_client.flushall()
    bare = RedisStore(redis_server.url, prefix="", ttl=None)
    memory_of(bare, params["memory_id"]).add_user("hi")
    assert redis_client.keys() == [case["expect"]["key_without_prefix"].encode()]


@pytest.mark.parametrize("id", [SEEDS["lc4j-redis-02"]["policy"]["params"]["memory_id"], None])
def test_lc4j_redis_02_a_blank_id_is_refused(redis_store, redis_client, id):
    with pytest.raises(MessageError, match="an id is required"):
        memory_of(redis_store, id)
    assert redis_client.keys() == []


def test_lc4j_redis_03_an_oversize_message_empties_the_window_and_no_write_fails(redis_store):
    """There an error, since that store takes no empty list; ours takes what the policy leaves."""
    case = SEEDS["lc4j-redis-03"]
    params = case["policy"]["params"]
    policy = presets.langchain4j_token_window(params["max_tokens"])

    def opened():
        return ChatMemory(
            policy, id="s", store=redis_store, counter=GivenCosts(params["list_overhead"])
        )

    opened().add_all(case_messages(case["messages"], params["message_costs"]))
    assert opened().messages == ()
    assert texts(opened().history) == ["a huge paste"]


def test_b080_a_message_with_an_id_is_added_once(redis_store):
    memory = memory_of(redis_store)
    for _ in range(2):
        memory.add(replace(user("yes"), id="m1"))
    assert texts(memory_of(redis_store).history) == ["yes"]
    with pytest.raises(MessageError, match="m1"):
        memory_of(redis_store).add(replace(user("no"), id="m1"))
    assert texts(memory.history) == ["yes"]
    for _ in range(2):
        memory.add(user("yes"))
    assert texts(memory_of(redis_store).history) == ["yes", "yes", "yes"]
