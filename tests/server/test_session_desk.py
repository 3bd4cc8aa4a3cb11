from __future__ import annotations

import pytest

from chatmem_lab.errors import MessageError, StoreError
from chatmem_lab.messages import user
from chatmem_lab.policies import MessageWindow
from chatmem_lab.server.configuration import ChatmemLab
from chatmem_lab.server.session_desk import NoSessionError, SessionDesk, open_existing_store
from chatmem_lab.stores import MemoryStore
from chatmem_lab.stores.sql import SQLStore


@pytest.fixture
def store():
    desk = SessionDesk(MemoryStore())
    desk.memories["ann"].add_all([user("1"), user("2")])
    desk.memories["ann"].clear()
    desk.memories["ann"].add_user("3")
    desk.memories["bo"].add_user("hi")
    desk.memories["bo"].clear()
    return desk.memories.store


def test_a_row_counts_the_active_line(store):
    rows = list(SessionDesk(store).overviews())
    assert [(row.id, row.messages) for row in rows] == [("ann", 1), ("bo", 0)]
    assert rows[0].updated_at == store.read("ann").commits[-1].created_at


def test_a_session_that_goes_while_the_list_is_read(store):
    desk = SessionDesk(store)
    rows = desk.overviews()
    assert next(rows).id == "ann"
    store.delete("bo")
    assert list(rows) == []


def test_the_policy_is_said_only_where_it_was_named(store):
    assert SessionDesk(store).info("ann")["policy"] is None
    assert SessionDesk(store, MessageWindow(3)).info("ann")["policy"] == "MessageWindow(3)"


def test_looking_writes_nothing(store):
    version = store.version("ann")
    desk = SessionDesk(store, MessageWindow(1))
    desk.info("ann")
    desk.check("ann")
    list(desk.overviews())
    assert store.version("ann") == version


@pytest.mark.parametrize("ask", ["info", "check", "delete"])
def test_what_is_not_there(store, ask):
    desk = SessionDesk(store)
    with pytest.raises(NoSessionError, match="no session 'cy': never begun, deleted or expired"):
        getattr(desk, ask)("cy")
    with pytest.raises(MessageError, match="an id is required"):
        getattr(desk, ask)(" ")
    assert desk.ids() == ["ann", "bo"]


@pytest.mark.parametrize("url", ["sqlite:///{}/x.db", "sqlite+pysqlite:///{}/x.db?timeout=5"])
def test_a_mistyped_file_is_not_made(tmp_path, url):
    with pytest.raises(StoreError, match=r"there is no file .*x\.db: correct the URL"):
        open_existing_store(url.format(tmp_path))
    assert list(tmp_path.iterdir()) == []
    SQLStore(f"sqlite:///{tmp_path}/x.db").close()
    store = open_existing_store(url.format(tmp_path))
    assert list(store.sessions()) == []
    store.close()


def test_a_store_that_failed_is_tried_again(tmp_path):
    url = f"sqlite:///{tmp_path}/chat.db"
    configuration = ChatmemLab(store=url)
    with pytest.raises(StoreError):
        configuration.desk()
    SQLStore(url).close()
    desk = configuration.desk()
    assert desk.ids() == []
    assert configuration.desk() is desk
    desk.close()
