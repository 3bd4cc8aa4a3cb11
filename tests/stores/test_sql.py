"""Sessions in real databases: SQLite and PostgreSQL."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count

import pytest
import sqlalchemy as sa

from chatmem_lab.errors import ConflictError, MessageError, StoreError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import Message, Text, ToolCall, user
from chatmem_lab.policies import MessageWindow
from chatmem_lab.stores import Commit, SQLStore, Store, sql_tables
from chatmem_lab.testing import LengthCounter, check_store
from postgres_server import PostgresServer, postgres_server
from seed_cases import bug_cases

BUGS = bug_cases()
ONE, TWO, THREE = (Commit((user(text),)) for text in ("one", "two", "three"))

_databases = count()


@pytest.fixture(scope="module")
def postgres():
    with postgres_server() as server:
        yield server


def new_database(server):
    """The URL of an empty database."""
    name = f"test_{next(_databases)}"
    with sa.create_engine(
        server.url().replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    ).connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    return server.url(name)


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path}/chat.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite_url")
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def store(url):
    with SQLStore(url) as store:
        yield store


def memory_of(store, id="test", policy=None):
    return ChatMemory(policy, id=id, store=store, counter=LengthCounter())


def texts(messages):
    return [message.text for message in messages]


def rows(url, query, **values):
    """What is in the tables, by another way than the store's."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    try:
        with engine.begin() as connection:
            result = connection.execute(sa.text(query), values)
            return [tuple(row) for row in result] if result.returns_rows else []
    finally:
        engine.dispose()


# --- the contract


def test_it_keeps_what_a_store_promises(url):
    check_store(lambda: SQLStore(url))
    assert rows(url, "SELECT count(*) FROM chatmem_commits") == [(0,)]


def test_one_object_keeps_it_for_many_handles(store):
    assert isinstance(store, Store)
    check_store(lambda: store, examples=2)
    with pytest.raises(StoreError, match="is closed: make a new store"):
        store.version("x")


def test_an_engine_is_used_as_it_is_and_left_open(url):
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    check_store(lambda: SQLStore(engine, "app"), examples=5)
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT version FROM app_schema")) == 1
    engine.dispose()


def test_a_serializable_engine_gives_conflicts_and_no_other_errors(postgres):
    engine = sa.create_engine(
        new_database(postgres).replace("postgresql:", "postgresql+psycopg:"),
        isolation_level="SERIALIZABLE",
    )
    check_store(lambda: SQLStore(engine), examples=3)
    engine.dispose()


def test_an_engine_that_begins_transactions_itself(sqlite_url):
    engine = sa.create_engine(sqlite_url)

    @sa.event.listens_for(engine, "connect")
    def leave_it(connection, record):
        connection.isolation_level = None

    @sa.event.listens_for(engine, "begin")
    def begin(connection):
        connection.exec_driver_sql("BEGIN")

    check_store(lambda: SQLStore(engine), examples=3)
    engine.dispose()


def test_an_engine_without_transactions_is_refused(sqlite_url):
    engine = sa.create_engine(sqlite_url, isolation_level="AUTOCOMMIT")
    with pytest.raises(StoreError, match="AUTOCOMMIT mode"):
        SQLStore(engine)


# --- the tables


def test_what_the_tables_hold(url):
    with SQLStore(url) as store:
        before = datetime.now(UTC)
        version = store.append("a\\\0é", [ONE, TWO], version=0)
        version = store.append("a\\\0é", [THREE], version=version)
    key = sha256(b"a\\\0\xc3\xa9").hexdigest()
    assert rows(url, "SELECT key, session_id, version FROM chatmem_sessions") == [
        (key, r"a\\\u0000é", version)
    ]
    assert rows(url, "SELECT key, number, body FROM chatmem_commits ORDER BY number") == [
        (key, version - 2 + i, f'{{"messages":[{{"role":"user","parts":[{part}]}}]}}')
        for i, part in enumerate(
            f'{{"type":"text","text":"{text}"}}' for text in ("one", "two", "three")
        )
    ]
    [(created, updated)] = rows(url, "SELECT created_at, updated_at FROM chatmem_sessions")
    if isinstance(created, str):
        created, updated = (datetime.fromisoformat(t + "+00:00") for t in (created, updated))
    assert before <= created < updated <= datetime.now(UTC)


def test_sessions_are_apart_under_their_table_names(url):
    with SQLStore(url, "one") as one, SQLStore(url, "two") as two:
        one.append("s", [ONE], version=0)
        assert (two.version("s"), two.sessions()) == (0, [])
        two.append("s", [TWO], version=0)
        assert [s.read("s").commits for s in (one, two)] == [(ONE,), (TWO,)]


def test_a_table_in_a_schema(postgres):
    url = new_database(postgres)
    with pytest.raises(StoreError, match='schema "app" does not exist; make that schema'):
        SQLStore(url, "app.chat")
    rows(url, "CREATE SCHEMA app")
    check_store(lambda: SQLStore(url, "app.chat"), examples=2)
    assert rows(url, "SELECT version FROM app.chat_schema") == [(1,)]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1a",
        "a b",
        "a;b",
        "a-b",
        'a"',
        "a'",
        "a.b.c",
        ".a",
        "a.",
        "é",
        "a\n",
        "x" * 41,
        7,
        None,
    ],
)
def test_table_names_that_are_refused(sqlite_url, name, tmp_path):
    with pytest.raises(StoreError, match="letters, digits and underscores, at most 40 of them"):
        SQLStore(sqlite_url, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 40, "_", "Chat_2", "select"])
def test_table_names_that_are_taken(url, name):
    with SQLStore(url, name) as store:
        store.append("s", [ONE], version=0)
        assert store.sessions() == ["s"]


def test_the_longest_names_of_two_tables_stay_apart(postgres):
    url = new_database(postgres)
    with SQLStore(url, "x" * 39 + "a") as one, SQLStore(url, "x" * 39 + "b") as two:
        one.append("s", [ONE], version=0)
        assert two.sessions() == []


def test_tables_that_are_missing_are_not_made_where_that_is_forbidden(url):
    with pytest.raises(StoreError, match=r"no tables chatmem_…, and create=False forbids making"):
        SQLStore(url, create=False)
    SQLStore(url).close()
    with SQLStore(url, create=False) as store:
        store.append("s", [ONE], version=0)


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("chatmem_sessions", "id int primary key, version bigint"),
        ("chatmem_commits", "key char(64) primary key, number bigint, body text, created_at date"),
        ("chatmem_schema", "version int"),
    ],
)
def test_a_foreign_table_is_named_and_left_alone(url, table, columns):
    rows(url, f"CREATE TABLE {table} ({columns})")
    with pytest.raises(
        StoreError, match=rf"{table} is there already, and it is none of ours: it "
    ):
        SQLStore(url)
    assert sorted(sa.inspect(sa.create_engine(_plain(url))).get_table_names()) == [table]


def _plain(url):
    return url.replace("postgresql:", "postgresql+psycopg:")


def test_a_table_that_was_dropped(url):
    SQLStore(url).close()
    rows(url, "DROP TABLE chatmem_commits")
    with pytest.raises(StoreError, match="chatmem_commits is missing beside the others"):
        SQLStore(url)


def test_tables_that_are_dropped_while_the_store_is_open(store, url):
    for table in ("sessions", "commits", "schema"):
        rows(url, f"DROP TABLE chatmem_{table}")
    with pytest.raises(StoreError, match="the tables are gone: open the store anew"):
        store.append("s", [ONE], version=0)


# --- versions of the schema


def add_title(connection, tables):
    connection.execute(sa.text(f"ALTER TABLE {tables.sessions.fullname} ADD COLUMN title text"))


def test_an_older_schema_is_brought_up_to_date_once_and_keeps_its_sessions(url, monkeypatch):
    with SQLStore(url) as store:
        version = store.append("s", [ONE], version=0)
    monkeypatch.setattr(sql_tables, "STEPS", [*sql_tables.STEPS, add_title])
    with pytest.raises(
        StoreError, match="schema version 1, 2 is wanted, and create=False forbids"
    ):
        SQLStore(url, create=False)
    for _ in range(2):
        with SQLStore(url) as store:
            assert store.read("s") == (version, (ONE,))
    assert rows(url, "SELECT version FROM chatmem_schema") == [(2,)]
    assert rows(url, "SELECT title FROM chatmem_sessions") == [(None,)]


def test_a_step_that_fails_leaves_the_older_schema(url, monkeypatch):
    with SQLStore(url) as store:
        version = store.append("s", [ONE], version=0)

    def fail(connection, tables):
        add_title(connection, tables)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sql_tables, "STEPS", [*sql_tables.STEPS, fail])
        with pytest.raises(KeyboardInterrupt):
            SQLStore(url)
    assert rows(url, "SELECT version FROM chatmem_schema") == [(1,)]
    with SQLStore(url) as store:
        assert store.read("s") == (version, (ONE,))


def test_a_newer_schema_is_refused(url):
    SQLStore(url).close()
    rows(url, "UPDATE chatmem_schema SET version = 2")
    with pytest.raises(StoreError, match="have schema version 2, and this version of chatmem-lab"):
        SQLStore(url)


def test_many_open_a_new_database_at_once(url):
    together = threading.Barrier(8)

    def open_and_write(number):
        together.wait()
        with SQLStore(url) as store:
            store.append(f"s{number}", [ONE], version=0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(open_and_write, range(8)))
    assert SQLStore(url).sessions() == [f"s{number}" for number in range(8)]
    assert rows(url, "SELECT version FROM chatmem_schema") == [(1,)]


# --- rows that were broken by hand


def test_a_broken_row_is_named(store, url):
    version = store.append("s", [ONE, TWO], version=0)
    rows(url, "UPDATE chatmem_commits SET body = '{\"mess' WHERE number = :n", n=version)
    with pytest.raises(StoreError, match=rf"session 's', commit {version} cannot be read: Input"):
        store.read("s")
    assert store.version("s") == version


@pytest.mark.parametrize("back", [0, 1, 2])
def test_a_row_that_is_missing_is_named(store, url, back):
    version = store.append("s", [ONE, TWO, THREE], version=0)
    rows(url, "DELETE FROM chatmem_commits WHERE number = :n", n=version - back)
    if back == 2:
        # No reader knows where the session began: as far as it is there, it is whole.
        assert store.read("s").commits == (TWO, THREE)
        return
    with pytest.raises(StoreError, match=rf"session 's', commit {version - back} is missing"):
        store.read("s")


def test_all_rows_are_missing(store, url):
    version = store.append("s", [ONE, TWO], version=0)
    rows(url, "DELETE FROM chatmem_commits")
    with pytest.raises(StoreError, match=rf"commit {version} is missing"):
        store.read("s")
    assert store.read("s", after=version) == (version, ())


def test_what_json_cannot_hold_is_refused_whole(store):
    version = store.append("s", [ONE], version=0)
    for unkept in (user("half \ud83d"), Message("user", metadata={"a": object()})):
        for write in (store.append, store.replace):
            with pytest.raises(StoreError, match="session 's' cannot be kept as JSON"):
                write("s", [TWO, Commit((unkept,))], version=version)
    assert store.read("s") == (version, (ONE,))


def test_an_id_with_half_a_surrogate_pair(store):
    ids = ["\ud83d", "\ud83d\ude00", "\U0001f600", "\\ud83d", "\ufffd"]
    for id in ids:
        store.append(id, [Commit((user(ascii(id)),))], version=0)
    assert store.sessions() == sorted(ids)
    assert [texts(store.read(id).commits[0].messages) for id in ids] == [[ascii(id)] for id in ids]


# --- databases that cannot be used


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite://", "in memory of its own: give a file"),
        ("sqlite:///:memory:", "or use MemoryStore"),
        ("sqlite:///file:a?mode=memory&cache=shared&uri=true", "or use MemoryStore"),
        ("chat.db", "the store's URL cannot be read: write sqlite:///chat.db, postgresql://"),
        ("", "the store's URL cannot be read"),
        (None, "the store's URL cannot be read"),
        ("postgresql://ann:hush@:x/db", "the store's URL cannot be read"),
        ("papyrus://ann:hush@host/db", "'papyrus' is no kind of database that is known"),
        ("mssql+pyodbc://ann:hush@host/db", "needs the package pyodbc, which is not installed"),
        ("sqlite:////nowhere/at/all.db", "see that its folder is there"),
        ("postgresql://ann:hush@127.0.0.1:1/db", "start the server, or correct the host, port"),
        (
            "postgresql://ann:hush@127.0.0.1:1/db?colour=red",
            "correct what stands behind the quest",
        ),
        ("postgresql://127.0.0.1:1/db?password=hush", "start the server"),
    ],
)
def test_urls_that_cannot_be_used(url, words):
    with pytest.raises(StoreError) as raised:
        SQLStore(url)
    assert words in str(raised.value)
    assert "hush" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    ("module", "url", "install"),
    [
        ("psycopg", "postgresql://ann:hush@host/db", 'pip install "chatmem-lab[postgres]"'),
        ("MySQLdb", "mysql://ann:hush@host/db", "pip install mysqlclient"),
        ("pymysql", "mysql+pymysql://ann:hush@host/db", "pip install pymysql"),
    ],
)
def test_a_driver_that_is_not_installed(monkeypatch, module, url, install):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StoreError) as raised:
        SQLStore(url)
    assert f"{module}, which is not installed: {install}" in str(raised.value)
    assert "hush" not in str(raised.value)


def test_a_wrong_password_and_a_database_that_is_not_there(postgres):
    with pytest.raises(StoreError, match="correct the user and password of the URL") as raised:
        SQLStore(postgres.url(password="hu" + "sh"))
    assert "hush" not in "".join(traceback.format_exception(raised.value))
    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        SQLStore(postgres.url("nowhere"))


def test_no_password_in_sight(postgres):
    with SQLStore(new_database(postgres)) as store:
        shown = repr(store)
    assert PostgresServer.password not in shown
    assert shown.startswith("SQLStore('postgresql+psycopg://tester:***@127.0.0.1:")


def test_a_file_that_holds_something_else(tmp_path):
    (tmp_path / "notes.txt").write_text("No database. " * 100)
    with pytest.raises(StoreError, match="that file holds something else"):
        SQLStore(f"sqlite:///{tmp_path}/notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "No database. " * 100


def test_a_file_that_may_only_be_read(sqlite_url, tmp_path):
    with SQLStore(sqlite_url) as store:
        version = store.append("s", [ONE], version=0)
    with SQLStore(f"sqlite:///file:{tmp_path}/chat.db?mode=ro&uri=true") as store:
        assert store.read("s") == (version, (ONE,))
        for write in (
            lambda: store.append("s", [TWO], version=version),
            lambda: store.append("t", [TWO], version=0),
            lambda: store.delete("s"),
        ):
            with pytest.raises(StoreError, match="may only be read: give the process the right"):
                write()
        assert store.read("s") == (version, (ONE,))


def test_a_server_that_may_only_be_read(postgres):
    url = new_database(postgres)
    with SQLStore(url) as store:
        version = store.append("s", [ONE], version=0)
    with SQLStore(f"{url}?options=-cdefault_transaction_read_only%3Don") as store:
        with pytest.raises(StoreError, match="the database may only be read"):
            store.append("s", [TWO], version=version)
        assert store.read("s") == (version, (ONE,))


def test_a_user_without_rights(postgres):
    url = new_database(postgres)
    SQLStore(url).close()
    rows(url, "DROP ROLE IF EXISTS guest")
    rows(url, "CREATE ROLE guest LOGIN PASSWORD 'hush'")
    with pytest.raises(StoreError, match="give the database user the right to read and write"):
        SQLStore(url.replace(f"tester:{postgres.password}", "guest:hush"))


def test_a_full_disk_writes_nothing(sqlite_url):
    engine = sa.create_engine(sqlite_url)
    with SQLStore(engine) as store:
        version = store.append("s", [ONE], version=0)

        @sa.event.listens_for(engine, "connect")
        def limit(connection, record):
            connection.execute("PRAGMA max_page_count = 20")

        engine.dispose()
        large = Commit((user("x" * 200_000),))
        for write in (
            lambda: store.append("s", [TWO, large], version=version),
            lambda: store.replace("s", [TWO, large], version=version),
            lambda: store.append("t", [large], version=0),
        ):
            with pytest.raises(StoreError, match="make room on the disk and call again"):
                write()
        assert (store.read("s"), store.sessions()) == ((version, (ONE,)), ["s"])
        assert store.append("s", [TWO], version=version) == version + 1
    engine.dispose()


def test_a_file_that_another_writer_holds(sqlite_url, tmp_path):
    with SQLStore(f"{sqlite_url}?timeout=0.05") as store:
        version = store.append("s", [ONE], version=0)
        with closing(sqlite3.connect(tmp_path / "chat.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"longer than the busy timeout.*nothing was w"):
                store.append("s", [TWO], version=version)
            assert store.read("s") == (version, (ONE,))
            other.execute("ROLLBACK")
        assert store.append("s", [TWO], version=version) == version + 1


def test_a_file_is_in_wal_mode_and_a_writer_waits(sqlite_url, tmp_path):
    with SQLStore(sqlite_url) as store, store._transaction() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000


def test_a_server_that_goes_away_and_comes_back():
    with postgres_server() as server, SQLStore(server.url()) as store:
        version = store.append("s", [ONE], version=0)
        server.stop()
        for call in (
            lambda: store.append("s", [TWO], version=version),
            lambda: store.read("s"),
            lambda: store.sessions(),
        ):
            with pytest.raises(StoreError, match="start the server, or correct the host"):
                call()
        server.start()
        assert store.read("s") == (version, (ONE,))
        assert store.append("s", [TWO], version=version) == version + 1


def test_a_server_that_goes_away_in_the_middle_of_a_write(postgres):
    engine = sa.create_engine(_plain(new_database(postgres)))
    with SQLStore(engine) as store:
        version = store.append("s", [ONE], version=0)
        cut_off = []

        @sa.event.listens_for(engine, "after_cursor_execute")
        def end_the_connection(connection, cursor, statement, *rest):
            if statement.startswith("UPDATE chatmem_sessions") and not cut_off:
                process = connection.connection.dbapi_connection.info.backend_pid
                cut_off.append(process)
                rows(postgres.url(), "SELECT pg_terminate_backend(:p, 5000)", p=process)

        with pytest.raises(StoreError, match="the store connects anew"):
            store.append("s", [TWO], version=version)
        assert store.read("s") == (version, (ONE,))
        assert store.append("s", [THREE], version=version) == version + 1
    engine.dispose()


def test_an_error_shows_no_message_in_its_traceback(store, url):
    rows(url, "DROP TABLE chatmem_commits")
    with pytest.raises(StoreError) as raised:
        store.append("s", [Commit((user("between" + " us"),))], version=0)
    assert "between us" not in "".join(traceback.format_exception(raised.value))


# --- its life


def test_a_closed_store_is_refused(url):
    with SQLStore(url) as store:
        store.append("s", [ONE], version=0)
    for call in (
        lambda: store.version("s"),
        lambda: store.append("s", [ONE], version=0),
        lambda: store.sessions(),
    ):
        with pytest.raises(StoreError, match="is closed: make a new store"):
            call()
    store.close()


def test_it_is_neither_pickled_nor_copied(sqlite_url):
    with SQLStore(sqlite_url) as store:
        for refused in (lambda: pickle.dumps(store), lambda: copy.deepcopy(store)):
            with pytest.raises(TypeError, match="make one from the URL in each process"):
                refused()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_goes_on_with_it_beside_its_parent(store):
    store.append("s", [ONE], version=0)
    process = multiprocessing.get_context("fork").Process(
        target=write_fifty, args=(store, "child")
    )
    process.start()
    write_fifty(store, "parent")
    process.join(60)
    assert process.exitcode == 0
    written = [commit.messages[0].text for commit in store.read("s").commits]
    assert written[0] == "one"
    assert sorted(written[1:]) == sorted(
        f"{who} {i}" for who in ("child", "parent") for i in range(50)
    )


def write_fifty(store, who):
    for i in range(50):
        while True:
            try:
                store.append("s", [Commit((user(f"{who} {i}"),))], version=store.version("s"))
                break
            except ConflictError:
                pass


def test_an_append_takes_as_many_statements_however_long_the_session_is(url):
    engine = sa.create_engine(_plain(url))
    with SQLStore(engine) as store:
        version = store.append("s", [ONE] * 500, version=0)
        statements = []

        @sa.event.listens_for(engine, "after_cursor_execute")
        def note(connection, cursor, statement, *rest):
            statements.append(statement.split()[0])

        store.append("s", [TWO, THREE], version=version)
    engine.dispose()
    assert statements == ["UPDATE", "INSERT"]


# --- memories on top

WRITER = """
import sys
from chatmem_lab.memory import ChatMemory
from chatmem_lab.policies import MessageWindow
from chatmem_lab.stores import SQLStore
from chatmem_lab.testing import LengthCounter
url, who, times = sys.argv[1:]
memory = ChatMemory(
    MessageWindow(7), id="test", store=SQLStore(url), counter=LengthCounter()
)
print("ready", flush=True)
sys.stdin.readline()
for i in range(int(times)):
    memory.add_user(f"{who} {i}")
"""


def run_writers(url, times):
    """Two processes append to one session at the same time."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, url, who, str(times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for who in ("left", "right")
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n", writer.stderr.read()
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, said = writer.communicate(timeout=120)
        assert writer.returncode == 0, said


def test_two_processes_lose_nothing_and_keep_their_order(url):
    with SQLStore(url) as store:
        memory = memory_of(store, policy=MessageWindow(7))
        run_writers(url, 40)
        written = texts(memory.history)
        assert [t for t in written if t.startswith("left")] == [f"left {i}" for i in range(40)]
        assert [t for t in written if t.startswith("right")] == [f"right {i}" for i in range(40)]
        assert len(written) == 80
        assert texts(memory.messages) == written[-7:]
        numbers = rows(url, "SELECT number FROM chatmem_commits ORDER BY number")
        version = store.version("test")
        assert [number for (number,) in numbers][-1] == version
        assert version - numbers[0][0] + 1 == len(numbers)


def test_a_memory_goes_on_in_another_process_and_sees_what_that_one_wrote(url):
    with SQLStore(url) as store:
        memory = memory_of(store)
        memory.add_user("mine")
        snapshot = memory.snapshot()
        run_writers(url, 3)
        assert len(memory.history) == 7
        memory.restore(snapshot)
    with SQLStore(url) as store:
        assert texts(memory_of(store).messages) == ["mine"]


# --- faults that people reported on other stores; each by its id


def test_b073_text_that_only_spells_the_escape(store, url):
    content = BUGS["B073"]["input"]["content"]
    assert len(content) == 8
    memory_of(store).add_user(content)
    with SQLStore(url) as other:
        assert texts(memory_of(other).history) == [content]


def test_b074_half_an_emoji(store, url):
    half, whole = (
        text.encode("ascii").decode("unicode_escape") for text in BUGS["B074"]["input"]["contents"]
    )
    memory = memory_of(store)
    with pytest.warns(UserWarning, match=r"lone ones became U\+FFFD") as warned:
        memory.add_user(half)
    assert len(warned) == 1
    with pytest.warns(UserWarning, match="surrogate"):
        memory.add_user(whole)
    with SQLStore(url) as other:
        assert texts(memory_of(other).history) == ["a\ufffd", "\U0001f600"]


def test_b076_arguments_stay_byte_for_byte(store, url):
    arguments = BUGS["B076"]["input"]["arguments"]
    memory_of(store).add_assistant(tool_calls=[ToolCall("c1", "f", arguments)])
    with SQLStore(url) as other:
        assert memory_of(other).history[0].tool_calls[0].arguments == arguments


def test_b077_fifty_messages_of_one_moment(store, url):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    memory_of(store).add_all(
        Message("user", (Text(f"m{i}"),), created_at=moment) for i in range(50)
    )
    with SQLStore(url) as other:
        history = memory_of(other).history
    assert texts(history) == [f"m{i}" for i in range(50)]
    assert {message.created_at for message in history} == {moment}


def test_b079_first_writes_to_a_new_file_by_two_processes(url):
    case = BUGS["B079"]["input"]
    assert case["processes"] == 2
    run_writers(url, case["appends_each"])
    with SQLStore(url) as store:
        assert len(set(texts(memory_of(store).history))) == 100


def test_b080_the_same_id_again(store, url):
    memory, other = memory_of(store), memory_of(SQLStore(url))
    for writer in (memory, other):
        writer.add(Message("user", (Text("yes"),), id="m1"))
        assert texts(memory.history) == ["yes"]
    with pytest.raises(MessageError, match="m1"):
        other.add(Message("user", (Text("no"),), id="m1"))
    assert texts(memory.history) == ["yes"]
    memory.add_user("yes")
    other.add_user("yes")
    assert texts(memory.history) == ["yes"] * 3


def test_b082_an_id_that_is_sql(store):
    case = BUGS["B082"]["input"]
    for id, stored in case["stored"].items():
        for text in stored:
            memory_of(store, id).add_user(text)
    hostile = memory_of(store, case["session_id"])
    assert (hostile.messages, hostile.history) == ((), ())
    hostile.add_user("mine")
    assert texts(memory_of(store, case["session_id"]).history) == ["mine"]
    assert store.sessions() == sorted([*case["stored"], case["session_id"]])
    assert store.delete(case["session_id"])
    assert store.sessions() == ["a", "b"]
