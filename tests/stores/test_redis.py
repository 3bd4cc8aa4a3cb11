"""The store on Redis, against real servers: lifetimes, foreign keys, failures, other writers."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
import redis
from msgspec.structs import replace

from chatmem_lab.errors import ConflictError, MessageError, StoreError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import ToolCall, user
from chatmem_lab.policies import presets
from chatmem_lab.stores import Commit, RedisStore, Store, Stored
from chatmem_lab.testing.length_counter import LengthCounter
from redis_server import RedisServer
from seed_cases import GivenCosts, bug_cases, case_messages, seed_cases

ONE, TWO, THREE = (Commit((user(text),)) for text in ("one", "two", "three"))
BUGS = bug_cases()
SEEDS = {case["id"]: case for case in seed_cases()}


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def server(shared_server):
    """The module's server, emptied."""
    with shared_server.client() as client:
        client.flushall()
    return shared_server


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture
def store(server):
    with RedisStore(server.url, ttl=None) as store:
        yield store


@pytest.fixture
def own_server(tmp_path):
    """A server of the test's own, to be stopped and changed."""
    with RedisServer(tmp_path) as server:
        yield server


def memory_of(store, id="test", policy=None):
    return ChatMemory(policy, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


# --- what it keeps


def test_it_is_a_store(store, server):
    assert isinstance(store, Store)
    assert repr(store) == (
        f"<RedisStore, Redis at 127.0.0.1:{server.port}/0, prefix 'chat-memory:', no expiry>"
    )


def test_a_session_is_one_hash(store, client):
    version = store.append("ann", [ONE, TWO], version=0)
    assert client.keys() == [b"chat-memory:ann"]
    held = client.hgetall("chat-memory:ann")
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


def test_a_write_appends_and_the_version_counts_commits(store):
    version = store.append("x", [ONE, TWO], version=0)
    assert store.append("x", [THREE], version=version) == version + 1 == store.version("x")
    assert store.read("x") == Stored(version + 1, (ONE, TWO, THREE))
    assert store.read("x", after=version - 1) == Stored(version + 1, (TWO, THREE))
    assert store.read("x", after=version + 1) == Stored(version + 1, ())
    assert store.append("x", [], version=version + 1) == version + 1
    with pytest.raises(ConflictError):
        store.append("x", [], version=version)


@pytest.mark.parametrize("write", ["append", "replace"])
@pytest.mark.parametrize("off", [-1, 1, None])
def test_a_write_that_knows_another_version_writes_nothing(store, write, off):
    found = store.append("x", [ONE, TWO], version=0)
    known = 0 if off is None else found + off
    with pytest.raises(ConflictError, match=rf"'x' is at version {found}.*knew version {known}"):
        getattr(store, write)("x", [THREE, THREE], version=known)
    assert store.read("x") == Stored(found, (ONE, TWO))


def test_replace_erases_what_was_there(store, client):
    version = store.append("x", [ONE, TWO], version=0)
    assert store.replace("x", [THREE], version=version) == version + 1
    assert store.read("x") == Stored(version + 1, (THREE,))
    assert b"one" not in b"".join(client.hvals("chat-memory:x"))
    assert store.append("x", [ONE], version=version + 1) == version + 2
    assert store.read("x").commits == (THREE, ONE)
    new = store.replace("y", [ONE, TWO], version=0)
    assert store.read("y") == Stored(new, (ONE, TWO))


def test_many_commits_at_once(store):
    commits = [Commit((user(str(number)),)) for number in range(20_000)]
    version = store.append("x", commits, version=0)
    assert store.read("x") == Stored(version, tuple(commits))
    assert store.read("x", after=version - 9_000).commits == tuple(commits[11_000:])
    assert store.replace("x", commits, version=version) == version + 20_000
    assert store.read("x", after=version + 19_999).commits == tuple(commits[-1:])


def test_delete_erases_one_session_for_good(store, client):
    versions = [store.append(id, [ONE], version=0) for id in "xy"]
    assert [store.delete(id) for id in ("x", "x", "never")] == [True, False, False]
    assert (store.version("x"), store.read("x")) == (0, Stored(0, ()))
    assert client.keys() == [b"chat-memory:y"]
    assert store.append("x", [TWO], version=0) > versions[0]


def test_ids_are_data_and_share_nothing(store):
    ids = ["a", "A", "a ", "*", "a*", "[a]", "?", "\\", "\0", "é", "e\u0301", "😀", "x" * 99_999]
    for number, id in enumerate(ids):
        store.append(id, [Commit((user(str(number)),))], version=0)
    assert [store.read(id).commits[0].messages[0].text for id in ids] == [
        str(number) for number in range(len(ids))
    ]
    assert store.sessions() == sorted(ids)
    with pytest.raises(StoreError, match="surrogate"):
        store.read("\ud83d")


def test_what_an_append_costs_does_not_grow_with_the_session(store, client):
    """Counted by the server: every command that it ran, those in scripts with them."""

    def commands():
        stats = client.info("commandstats")
        return sum(one["calls"] for name, one in stats.items() if name.startswith("cmdstat_h"))

    costs = []
    for length in (1, 10, 1_000):
        version = store.append(str(length), [ONE] * length, version=0)
        before = commands()
        store.append(str(length), [TWO], version=version)
        costs.append(commands() - before)
    assert costs[0] == costs[1] == costs[2] > 0


# --- lifetimes


@pytest.mark.parametrize(
    ("sliding", "lowest", "highest"), [(True, 99_000, 100_000), (False, 97_000, 98_000)]
)
def test_b086_a_session_expires_as_a_whole(server, client, sliding, lowest, highest):
    assert BUGS["B086"]["input"]["ttl"] == 100
    store = RedisStore(server.url, ttl=100, sliding=sliding)
    version = store.append("s", [ONE], version=0)
    (key,) = client.keys()
    assert 99_000 <= client.pttl(key) <= 100_000
    client.expire(key, 98)
    store.append("s", [TWO], version=version)
    assert client.keys() == [key]
    assert lowest <= client.pttl(key) <= highest


def test_b086_none_is_no_expiry(server, client):
    store = RedisStore(server.url, ttl=None)
    version = store.append("s", [ONE], version=0)
    assert client.pttl("chat-memory:s") == -1
    client.expire("chat-memory:s", 98)
    store.append("s", [TWO], version=version)
    assert client.pttl("chat-memory:s") == -1


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
def test_b086_another_ttl_is_an_error(server, ttl):
    with pytest.raises(StoreError, match="ttl is a timedelta, whole seconds, or None"):
        RedisStore(server.url, ttl=ttl)


def test_a_ttl_must_be_chosen(server):
    with pytest.raises(TypeError, match="ttl"):
        RedisStore(server.url)


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
def test_what_begins_the_time_anew(server, client, use, renews, sliding):
    store = RedisStore(server.url, ttl=timedelta(days=30), sliding=sliding)
    version = store.append("s", [ONE], version=0)
    client.pexpire("chat-memory:s", 50_000)
    use(store, version)
    if renews and sliding:
        assert 2_591_000_000 < client.pttl("chat-memory:s") <= 2_592_000_000
    else:
        assert 40_000 < client.pttl("chat-memory:s") <= 50_000


def test_a_session_from_before_there_was_a_ttl_gets_one_with_the_next_write(server, client):
    version = RedisStore(server.url, ttl=None).append("s", [ONE], version=0)
    store = RedisStore(server.url, ttl=100, sliding=False)
    store.read("s")
    assert client.pttl("chat-memory:s") == -1
    store.append("s", [TWO], version=version)
    assert 99_000 <= client.pttl("chat-memory:s") <= 100_000


def test_who_only_reads_without_a_ttl_changes_none(server, client):
    RedisStore(server.url, ttl=100).append("s", [ONE], version=0)
    onlooker = RedisStore(server.url, ttl=None)
    assert texts(memory_of(onlooker, "s").messages) == ["one"]
    assert onlooker.sessions() == ["s"]
    assert 99_000 <= client.pttl("chat-memory:s") <= 100_000


def test_an_expired_session_is_empty_and_begins_anew(server, client):
    store = RedisStore(server.url, ttl=1)
    memory = memory_of(store)
    memory.add_all([user("a"), user("b")])
    version = store.version("test")
    client.pexpireat("chat-memory:test", 1)
    assert (store.version("test"), store.read("test"), store.sessions()) == (0, Stored(0, ()), [])
    assert memory.history == ()
    with pytest.raises(ConflictError, match="at version 0"):
        store.append("test", [ONE], version=version)
    memory.add_user("c")
    assert texts(memory.history) == texts(memory_of(store).messages) == ["c"]
    assert store.version("test") > version


def test_the_server_itself_lets_a_session_expire(server, client):
    """Waits for the server's own clock, however long that takes."""
    store = RedisStore(server.url, ttl=timedelta(milliseconds=5), sliding=False)
    store.append("s", [ONE], version=0)
    while client.exists("chat-memory:s"):
        pass
    assert store.read("s") == Stored(0, ())


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


def test_b083_what_is_foreign_is_named_and_left_alone(server, client):
    store = RedisStore(server.url, prefix="chat:", ttl=100)
    uses = [
        lambda: store.version("s1"),
        lambda: store.read("s1"),
        lambda: store.append("s1", [ONE], version=0),
        lambda: store.append("s1", [ONE], version=5),
        lambda: store.replace("s1", [ONE], version=5),
        lambda: store.delete("s1"),
        lambda: memory_of(store, "s1").add_user("hi"),
    ]
    for wanted, make in foreign_keys(client, "chat:s1"):
        client.delete("chat:s1")
        make()
        before = client.dump("chat:s1")
        for use in uses:
            with pytest.raises(StoreError, match=wanted) as caught:
                use()
            assert "'chat:s1'" in str(caught.value)
        assert client.dump("chat:s1") == before
        assert client.pttl("chat:s1") == -1
        assert client.keys() == [b"chat:s1"]


def test_a_commit_that_cannot_be_read_is_named(store, client):
    version = store.append("s", [ONE, TWO], version=0)
    client.hset("chat-memory:s", str(version), '{"messages":')
    with pytest.raises(StoreError, match=f"commit {version} of session 's' cannot be read"):
        store.read("s")
    client.hdel("chat-memory:s", str(version))
    client.hset("chat-memory:s", "instead", "x")
    with pytest.raises(StoreError, match=f"commit {version} of session 's' cannot be read"):
        store.read("s")


def test_b085_prefixes_are_name_spaces(server):
    one, two = (memory_of(RedisStore(server.url, prefix=p, ttl=None), "s") for p in ("p1:", "p2:"))
    one.add_user("one")
    two.add_user("two")
    assert (texts(one.messages), texts(two.messages)) == (["one"], ["two"])


def test_a_prefix_is_no_pattern(server, client):
    prefixes = ["", "*", "?", "[ab]", "a", "b", "\\", "\\*", "a:", "a:b:", "**"]
    stores = {p: RedisStore(server.url, prefix=p, ttl=None) for p in prefixes}
    client.set("a:string", "x")
    client.hset("a:hash", "x", "y")
    for prefix, store in stores.items():
        store.append(f"of {prefix}", [ONE], version=0)
    assert {p: store.sessions() for p, store in stores.items()} == {
        p: [f"of {p}"] for p in prefixes
    }


def test_a_session_of_a_longer_prefix_is_none_of_the_shorter(server):
    outer = RedisStore(server.url, prefix="a:", ttl=None)
    inner = RedisStore(server.url, prefix="a:b:", ttl=None)
    inner.append("c", [ONE], version=0)
    assert outer.sessions() == []
    with pytest.raises(StoreError, match="session 'c' of a store with another prefix"):
        outer.read("b:c")
    assert inner.read("c").commits == (ONE,)


# --- cases that hold for every store


def test_b073_text_that_spells_an_escape(store):
    text = r"A\u0000B"
    assert len(text) == 8
    memory_of(store).add_user(text)
    memory_of(store, "nul").add_user("A\0B")
    assert texts(memory_of(store).history) == [text]
    assert texts(memory_of(store, "nul").history) == ["A\0B"]


def test_b074_half_an_emoji(store):
    with pytest.warns(UserWarning, match="surrogate"):
        memory_of(store).add_user("a\ud83d")
    with pytest.warns(UserWarning, match="surrogate"):
        memory_of(store).add_user("\ud83d\ude00")
    assert texts(memory_of(store).history) == ["a\ufffd", "\U0001f600"]


def test_b076_arguments_stay_byte_for_byte(store):
    arguments = BUGS["B076"]["input"]["arguments"]
    memory_of(store).add_assistant(tool_calls=[ToolCall("c", "f", arguments)])
    assert memory_of(store).history[0].tool_calls[0].arguments == arguments


def test_b077_order_is_that_of_insertion(store):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    wanted = [f"m{number}" for number in range(50)]
    messages = [replace(user(text), created_at=moment) for text in wanted]
    memory_of(store, "batch").add_all(messages)
    single = memory_of(store, "single")
    for message in messages:
        single.add(message)
    for id in ("batch", "single"):
        history = memory_of(store, id).history
        assert texts(history) == wanted
        assert {message.created_at for message in history} == {moment}


def test_lc4j_redis_01_the_key_is_the_prefix_and_the_id_as_text(server, client):
    case = SEEDS["lc4j-redis-01"]
    params = case["policy"]["params"]
    store = RedisStore(server.url, prefix=params["prefix"], ttl=None)
    memory_of(store, params["memory_id"]).add_all(case_messages(case["messages"]))
    assert client.keys() == [case["expect"]["key"].encode()]
    client.flushall()
    bare = RedisStore(server.url, prefix="", ttl=None)
    memory_of(bare, params["memory_id"]).add_user("hi")
    assert client.keys() == [case["expect"]["key_without_prefix"].encode()]


@pytest.mark.parametrize("id", [SEEDS["lc4j-redis-02"]["policy"]["params"]["memory_id"], None])
def test_lc4j_redis_02_a_blank_id_is_refused(store, client, id):
    with pytest.raises(MessageError, match="an id is required"):
        memory_of(store, id)
    assert client.keys() == []


def test_lc4j_redis_03_an_oversize_message_empties_the_window_and_no_write_fails(store):
    """There an error, since that store takes no empty list; ours takes what the policy leaves."""
    case = SEEDS["lc4j-redis-03"]
    params = case["policy"]["params"]
    policy = presets.langchain4j_token_window(params["max_tokens"])

    def opened():
        return ChatMemory(policy, id="s", store=store, counter=GivenCosts(params["list_overhead"]))

    opened().add_all(case_messages(case["messages"], params["message_costs"]))
    assert opened().messages == ()
    assert texts(opened().history) == ["a huge paste"]


# --- other writers


def test_of_many_writers_of_one_version_exactly_one_is_first(server):
    stores = [RedisStore(server.url, ttl=None) for _ in range(2)]
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


def test_processes_lose_nothing_and_each_keeps_its_order(server, store):
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
        subprocess.Popen([sys.executable, "-c", program, server.url, name]) for name in "ab"
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    history = texts(memory_of(store, "x").history)
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
def test_a_write_whose_answer_is_lost_is_written_once(store, monkeypatch, write, known):
    lost = LostAnswers(monkeypatch)
    version = store.append("x", [ONE], version=0) if known else 0
    lost.times = 1
    new = getattr(store, write)("x", [TWO, THREE], version=version)
    kept = (ONE,) if known and write == "append" else ()
    assert store.read("x") == Stored(new, (*kept, TWO, THREE))


def test_a_write_whose_answer_is_lost_and_that_another_follows_is_written_once(
    store, server, monkeypatch
):
    lost = LostAnswers(monkeypatch)
    other = RedisStore(server.url, ttl=None)
    version = store.append("x", [ONE], version=0)
    lost.times = 1
    lost.meanwhile = lambda: other.append("x", [THREE], version=version + 1)
    assert store.append("x", [TWO], version=version) == version + 1
    assert store.read("x") == Stored(version + 2, (ONE, TWO, THREE))


def test_a_write_that_another_was_first_to_is_a_conflict_also_after_a_lost_answer(
    store, monkeypatch
):
    lost = LostAnswers(monkeypatch)
    version = store.append("x", [ONE], version=0)
    store.append("x", [TWO], version=version)
    lost.times = 1
    with pytest.raises(ConflictError):
        store.append("x", [THREE], version=version)
    assert store.read("x").commits == (ONE, TWO)


# --- servers that fail


def test_a_server_that_is_not_there(own_server):
    own_server.stop()
    with pytest.raises(StoreError, match=rf"127.0.0.1:{own_server.port}/0: no connection: start"):
        RedisStore(own_server.url, ttl=None)


def test_a_server_that_goes_away_and_comes_back(own_server):
    store = RedisStore(own_server.url, ttl=None)
    memory = memory_of(store)
    memory.add_user("a")
    own_server.stop()
    for use in (lambda: memory.messages, lambda: memory.add_user("lost"), store.sessions):
        with pytest.raises(StoreError, match="no connection: start it, or correct the address"):
            use()
    own_server.start()
    memory.add_user("b")
    assert texts(memory.history) == texts(memory_of(store).history) == ["a", "b"]


def test_a_server_that_was_restarted_in_between_is_not_noticed(own_server):
    store = RedisStore(own_server.url, ttl=None)
    version = store.append("x", [ONE], version=0)
    own_server.stop()
    own_server.start()
    store.append("x", [TWO], version=version)
    assert store.read("x").commits == (ONE, TWO)


def test_scripts_that_the_server_forgot_are_sent_again(store, client):
    version = store.append("x", [ONE], version=0)
    client.script_flush()
    store.append("x", [TWO], version=version)
    client.script_flush()
    assert store.read("x").commits == (ONE, TWO)


def test_a_server_that_does_not_answer(own_server):
    store = RedisStore(f"{own_server.url}?socket_timeout=0.5", ttl=None)
    store.append("x", [ONE], version=0)
    own_server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(StoreError, match="did not answer in time"):
        store.read("x")
    own_server.process.send_signal(signal.SIGCONT)
    assert store.read("x").commits == (ONE,)


def test_a_password(own_server, caplog):
    at = {"host": "127.0.0.1", "port": own_server.port, "ttl": timedelta(days=30)}
    RedisStore(**at, username="", password="").close()
    with pytest.raises(StoreError, match="has no password for this user: give none"):
        RedisStore(**at, password="s3cret")
    with own_server.client() as client:
        client.config_set("requirepass", "s3cret")
        client.acl_setuser(
            "ann", enabled=True, passwords=["+pa/ss"], keys=["*"], commands=["+@all"]
        )
    for blank in (None, ""):
        with pytest.raises(StoreError, match="wants a password"):
            RedisStore(**at, password=blank)
    with pytest.raises(StoreError, match="refuses this user or password") as caught:
        RedisStore(**at, password="s3kret")
    assert "s3kret" not in str(caught.value)
    with caplog.at_level(logging.INFO):
        store = RedisStore(**at, password="s3cret")
        url = f"redis://ann:pa%2Fss@127.0.0.1:{own_server.port}/0"
        RedisStore(url, ttl=30).append("x", [ONE], version=0)
    assert store.read("x").commits == (ONE,)
    where = f"Redis at 127.0.0.1:{own_server.port}/0, prefix 'chat-memory:', expiry"
    assert [record.getMessage() for record in caplog.records] == [
        f"sessions are kept in {where} 30 days after the last use",
        f"sessions are kept in {where} 0:00:30 after the last use",
    ]
    assert repr(store) == f"<RedisStore, {where} 30 days after the last use>"


def test_a_user_who_may_not(own_server):
    with own_server.client() as client:
        client.acl_setuser(
            "reader", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-hset"]
        )
    store = RedisStore(host="127.0.0.1", port=own_server.port, username="reader", ttl=None)
    assert store.read("x") == Stored(0, ())
    with pytest.raises(StoreError, match="this user may not do that"):
        store.append("x", [ONE], version=0)
    assert store.version("x") == 0


def test_a_read_only_replica(own_server):
    store = RedisStore(own_server.url, ttl=100, sliding=False)
    version = store.append("x", [ONE], version=0)
    with own_server.client() as client:
        client.replicaof("127.0.0.1", 1)
        assert store.read("x").commits == (ONE,)
        with pytest.raises(StoreError, match="read-only replica: give the primary's address"):
            store.append("x", [TWO], version=version)
        client.replicaof("NO", "ONE")
    assert store.append("x", [TWO], version=version) == version + 1


def test_a_server_without_memory_writes_nothing_and_can_still_erase(own_server):
    store = RedisStore(own_server.url, ttl=None)
    version = store.append("x", [ONE], version=0)
    with own_server.client() as client:
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


def test_a_prefix_is_text(server):
    with pytest.raises(StoreError, match="prefix is text, not bytes"):
        RedisStore(server.url, prefix=b"x", ttl=None)


def test_the_url_may_not_change_how_answers_are_read(server):
    store = RedisStore(f"{server.url}?decode_responses=true&protocol=3", ttl=None)
    store.append("x", [ONE], version=0)
    assert (store.read("x").commits, store.sessions()) == ((ONE,), ["x"])


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreError, match=r'pip install "chatmem-lab\[redis\]"'):
        RedisStore(ttl=None)


def test_close_leaves_no_connection_and_the_store_opens_new_ones(server, client):
    before = len(client.client_list())
    with RedisStore(server.url, ttl=None) as store:
        store.append("x", [ONE], version=0)
        assert len(client.client_list()) == before + 1
    while len(client.client_list()) > before:
        pass
    assert store.read("x").commits == (ONE,)
    store.close()
