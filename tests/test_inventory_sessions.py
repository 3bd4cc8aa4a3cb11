"""The inventory of what a live product uses: stores, sessions, assistant, recorder, operators.

Each entry is run on a recorded run of tau-bench. What the stores hold is read by other programs
(sqlite3, psycopg, redis-py) and held against the raw file; what the assistant sends is what a
server received.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest
from typer.testing import CliRunner

import chatmem_lab as cml
from chatmem_lab import assistants, stores
from chatmem_lab.cli import app
from chatmem_lab.stores.sql import SQLStore
from chatmem_lab.testing import LengthCounter, check_store, openai_server
from postgres_server import postgres_server
from redis_server import RedisServer


@pytest.fixture(scope="module")
def raw(transcripts):
    """The fourth run of tau-bench as plain JSON: 62 messages, 20 of them with calls."""
    runs = json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_text())
    return runs[3]["traj"]


@pytest.fixture(scope="module")
def conversation(raw, tmp_path_factory):
    path = tmp_path_factory.mktemp("inventory") / "run.json"
    path.write_text(json.dumps(raw))
    return cml.read(path)[0]


@pytest.fixture(scope="module")
def postgres():
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


def texts_of(raw):
    return [message.get("content") or "" for message in raw]


def fill(conversation, store):
    """A session, message by message; what is held of it when it is opened again."""
    policy = cml.MessageWindow(8)
    memory = cml.ChatMemory(policy, id="ann", store=store, counter=LengthCounter())
    for message in conversation.messages:
        memory.add(message)
    return memory, cml.ChatMemory(policy, id="ann", store=store, counter=LengthCounter())


def bodies_tell(bodies, raw):
    """The commits as JSON, read by nothing of ours: every message once, in order."""
    written = [
        "".join(part["text"] for part in message.get("parts", ()))
        for body in bodies
        for message in json.loads(body).get("messages", ())
    ]
    assert written == texts_of(raw)


def same_as_before(memory, again, raw):
    assert [m.text for m in again.history] == texts_of(raw)
    assert again.messages == memory.messages
    assert len(again.messages) < len(raw)


# --- stores


def memory_store(raw, conversation, tmp_path, postgres, redis):
    same_as_before(*fill(conversation, cml.MemoryStore()), raw)


def sqlite_store(raw, conversation, tmp_path, postgres, redis):
    path = tmp_path / "chat.db"
    with cml.SQLStore(f"sqlite:///{path}") as store:
        same_as_before(*fill(conversation, store), raw)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT body FROM chatmem_commits ORDER BY number").fetchall()
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    bodies_tell([body for (body,) in rows], raw)
    assert mode == "wal"


def postgres_store(raw, conversation, tmp_path, postgres, redis):
    url = postgres.url()
    with cml.SQLStore(url, table="talks") as store:
        same_as_before(*fill(conversation, store), raw)
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT body FROM talks_commits ORDER BY number").fetchall()
    bodies_tell([body for (body,) in rows], raw)


def redis_store(raw, conversation, tmp_path, postgres, redis):
    with cml.RedisStore(redis.url, prefix="inventory:", ttl=timedelta(days=30)) as store:
        same_as_before(*fill(conversation, store), raw)
    with redis.client() as client:
        held = client.hgetall("inventory:ann")
        left = client.ttl("inventory:ann")
    names = sorted((name for name in held if name.isdigit()), key=int)
    bodies_tell([held[name] for name in names], raw)
    assert 30 * 86_400 - 120 < left <= 30 * 86_400


class Shelf(dict):
    def get_messages(self, memory_id):
        return self.get(memory_id)

    def update_messages(self, memory_id, messages):
        self[memory_id] = messages

    def delete_messages(self, memory_id):
        self.pop(memory_id, None)


def store_of_three_methods(raw, conversation, tmp_path, postgres, redis):
    shelf = Shelf()
    memory, again = fill(conversation, cml.StoreAdapter(shelf))
    assert shelf["ann"] == list(memory.messages) == list(again.messages)
    assert [m.text for m in shelf["ann"]][-1] == raw[-1]["content"]


def stores_by_url(raw, conversation, tmp_path, postgres, redis):
    urls = {
        "memory:": cml.MemoryStore,
        f"sqlite:///{tmp_path}/a.db": SQLStore,
        f"{postgres.url()}?table=by_url": SQLStore,
        f"{redis.url}?ttl=12h&prefix=url:": cml.RedisStore,
    }
    for url, kind in urls.items():
        store = cml.open_store(url)
        assert isinstance(store, kind)
        same_as_before(*fill(conversation, store), raw)
        getattr(store, "close", lambda: None)()


def the_stores_contract(raw, conversation, tmp_path, postgres, redis):
    check_store(lambda: cml.SQLStore(f"sqlite:///{tmp_path}/contract.db"), examples=5)


# --- sessions


def chat_memories(raw, conversation, tmp_path, postgres, redis):
    memories = cml.ChatMemories(
        cml.MessageWindow(8), store=f"sqlite:///{tmp_path}/m.db", counter=LengthCounter()
    )
    memories["ann"].add_all(conversation.messages)
    memories["bo"].add_all(conversation.messages[:10])
    info = memories.info("ann")
    assert (memories.list(), info.messages) == (["ann", "bo"], len(raw))
    assert memories.evict("ann")
    kept = memories.conversation("ann")
    assert [m.text for m in kept.messages] == texts_of(raw)
    memories.clear("bo")
    old, active = memories.conversation("bo", branches="all")
    assert ([m.text for m in old.messages], active.messages) == (texts_of(raw[:10]), ())
    assert memories.delete("ann")
    assert memories.list() == ["bo"]
    memories.close()


def what_is_not_kept(raw, conversation, tmp_path, postgres, redis):
    path = tmp_path / "short.db"
    with cml.SQLStore(f"sqlite:///{path}") as store:
        memory = cml.ChatMemory(
            cml.MessageWindow(8),
            id="ann",
            store=store,
            counter=LengthCounter(),
            keep_history=False,
        )
        for message in conversation.messages:
            memory.add(message)
        shown = {m.text for m in memory.messages}
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT body FROM chatmem_commits").fetchall()
    body = "".join(body for (body,) in rows)
    for text in (text for text in texts_of(raw) if len(text) > 20):
        assert (json.dumps(text)[1:-1] in body or text in body) == (text in shown)


# --- operators


def in_a_store(conversation, tmp_path):
    url = f"sqlite:///{tmp_path}/ops.db"
    with cml.ChatMemories(store=url) as memories:
        memories["ann"].add_all(conversation.messages)
        memories["bo"].add_user("hi")
    return url


def run_sessions(*arguments, input=None):
    result = CliRunner().invoke(app, ["sessions", *map(str, arguments)], input=input)
    assert result.exit_code == 0, result.output
    return result.output


def sessions_list(raw, conversation, tmp_path, postgres, redis):
    output = run_sessions("list", "--store", in_a_store(conversation, tmp_path))
    assert str(len(raw)) in next(line for line in output.splitlines() if "ann" in line)


def sessions_show(raw, conversation, tmp_path, postgres, redis):
    output = run_sessions("show", "ann", "--store", in_a_store(conversation, tmp_path))
    squeezed = "".join(output.split())
    user = next(m["content"] for m in raw if m["role"] == "user")
    assert "".join(user.split())[:30] in squeezed


def sessions_info(raw, conversation, tmp_path, postgres, redis):
    url = in_a_store(conversation, tmp_path)
    info = json.loads(run_sessions("info", "ann", "--json", "--store", url))
    assert info["messages"] == len(raw)


def sessions_clear_and_delete(raw, conversation, tmp_path, postgres, redis):
    url = in_a_store(conversation, tmp_path)
    run_sessions("clear", "ann", "--store", url)
    with cml.ChatMemories(store=url) as memories:
        assert (memories["ann"].messages, len(memories["ann"].branches)) == ((), 1)
    run_sessions("delete", "ann", "--yes", "--store", url)
    with cml.ChatMemories(store=url) as memories:
        assert memories.list() == ["bo"]


def sessions_export(raw, conversation, tmp_path, postgres, redis):
    out = tmp_path / "ann.jsonl"
    run_sessions("export", "ann", "--out", out, "--store", in_a_store(conversation, tmp_path))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    roles = [line["role"] for line in lines if "role" in line]
    assert roles == [m["role"] for m in raw]
    assert [m.text for m in cml.read(out)[0].messages] == texts_of(raw)


def session_browser(raw, conversation, tmp_path, postgres, redis):
    memories = cml.ChatMemories(store="memory:")
    memories["ann"].add_all(conversation.messages)
    browser = cml.SessionBrowser(memories)
    browser.session = "ann"
    html = repr(browser._repr_mimebundle_())
    assert f"{len(raw)} messages" in html


# --- the assistant and the recorder


def assistant_on(api, raw):
    """A turn with a tool, on `api`: what the server received, and what the memory holds."""

    def get_user_details(user_id: str) -> str:
        """Look a user up."""
        return f"details of {user_id}"

    question = next(m["content"] for m in raw if m["role"] == "user")
    with openai_server() as server, server.client() as client:
        memories = cml.ChatMemories(store="memory:")
        assistant = cml.Assistant(
            client,
            "gpt-4o",
            memories,
            system=raw[0]["content"],
            tools=[get_user_details],
            api=api,
        )
        server.reply(tool_calls=[cml.ToolCall("c1", "get_user_details", '{"user_id": "mia"}')])
        server.reply("Found you.")
        answer = assistant.chat("ann", question)
        assert answer.text == "Found you."
        held = [(m.role, m.text) for m in memories["ann"].messages]
        assert held == [
            ("system", raw[0]["content"]),
            ("user", question),
            ("assistant", ""),
            ("tool", "details of mia"),
            ("assistant", "Found you."),
        ]
        sent = json.dumps(server.requests[1])
        assert json.dumps(raw[0]["content"]) in sent
        assert "details of mia" in sent
        server.reply("streamed")
        assert "".join(assistant.stream("ann", "again")) == "streamed"
        server.fail(500)
        with pytest.raises(Exception, match="500"):
            assistant.chat("ann", "lost")
        assert len(memories["ann"].history) == 7


def assistant_chat(raw, conversation, tmp_path, postgres, redis):
    assistant_on("chat", raw)


def assistant_responses(raw, conversation, tmp_path, postgres, redis):
    assistant_on("responses", raw)


def recorder(raw, conversation, tmp_path, postgres, redis):
    path = tmp_path / "calls.jsonl"
    sent = [{"role": m["role"], "content": m["content"]} for m in raw[:2]]
    with openai_server() as server, server.client() as client:
        recorded = cml.record(client, path)
        server.reply("first answer")
        server.reply("second answer")
        first = recorded.chat.completions.create(model="gpt-4o", messages=sent)
        said = [*sent, {"role": "assistant", "content": first.choices[0].message.content}]
        recorded.chat.completions.create(
            model="gpt-4o", messages=[*said, {"role": "user", "content": "and?"}]
        )
    (read,) = cml.read(path)
    assert [(m.role, m.text) for m in read.messages] == [
        *((m["role"], m["content"]) for m in sent),
        ("assistant", "first answer"),
        ("user", "and?"),
        ("assistant", "second answer"),
    ]
    assert len(cml.replay(read, cml.KeepAll(), model="gpt-4o").requests) == 2


def threads_share_a_session(raw, conversation, tmp_path, postgres, redis):
    memories = cml.ChatMemories(store=f"sqlite:///{tmp_path}/t.db", counter=LengthCounter())

    def work(number):
        for text in texts_of(raw)[:8]:
            memories["ann"].add_user(f"{number}: {text or 'nothing'}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = [m.text for m in memories["ann"].history]
    assert len(history) == 32
    for number in range(4):
        own = [text for text in history if text.startswith(f"{number}: ")]
        assert own == [f"{number}: {text or 'nothing'}" for text in texts_of(raw)[:8]]
    memories.close()


STORES = {
    "MemoryStore": memory_store,
    "SQLStore, SQLite": sqlite_store,
    "SQLStore, PostgreSQL": postgres_store,
    "RedisStore": redis_store,
    "StoreAdapter": store_of_three_methods,
    "open_store": stores_by_url,
    "check_store": the_stores_contract,
}
SESSIONS = {
    "ChatMemories": chat_memories,
    "keep_history=False": what_is_not_kept,
    "threads": threads_share_a_session,
}
OPERATORS = {
    "sessions list": sessions_list,
    "sessions show": sessions_show,
    "sessions info": sessions_info,
    "sessions clear, delete": sessions_clear_and_delete,
    "sessions export": sessions_export,
    "SessionBrowser": session_browser,
}
ASSISTANTS = {
    "Assistant, chat": assistant_chat,
    "Assistant, responses": assistant_responses,
    "record": recorder,
}
INVENTORY = {**STORES, **SESSIONS, **OPERATORS, **ASSISTANTS}


@pytest.mark.parametrize("name", INVENTORY)
def test_entry(name, raw, conversation, tmp_path, postgres, redis):
    INVENTORY[name](raw, conversation, tmp_path, postgres, redis)


def test_the_inventory_is_whole():
    named = {name for name in stores.__all__ if name.endswith("Store") and name != "Store"}
    assert named - {"MessageStore"} <= {name.partition(",")[0] for name in STORES} | {
        "StoreAdapter"
    }
    (sessions,) = [group for group in app.registered_groups if group.name == "sessions"]
    commands = {
        command.name or command.callback.__name__
        for command in sessions.typer_instance.registered_commands
    }
    listed = {word for name in OPERATORS for word in name.replace(",", "").split()[1:]}
    # `serve` is tried as a program of its own in tests/server.
    assert commands - {"serve"} == listed
    assert {"Assistant", "record"} <= set(assistants.__all__)
