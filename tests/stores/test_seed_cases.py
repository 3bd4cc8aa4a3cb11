"""What AI4J's store does: each case through ours, on a real SQLite file."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import MessageError, StoreError
from chatmem_lab.memory import ChatMemories, ChatMemory
from chatmem_lab.policies.presets import ai4j_unbounded
from chatmem_lab.stores import open_store
from chatmem_lab.stores.sql import SQLStore
from seed_cases import GivenCosts, case_messages, indices, seed_cases

CASES = {case["id"]: case for case in seed_cases()}


@pytest.fixture
def store(tmp_path):
    with SQLStore(f"sqlite:///{tmp_path}/chat.db") as store:
        yield store


def test_ai4j_jdbc_02_a_session_id_is_required(store):
    assert CASES["ai4j-jdbc-02"]["expect"]["error"]["message_contains"] == "sessionId is required"
    with pytest.raises(TypeError, match="id"):
        ChatMemory(ai4j_unbounded(), store=store)
    for id in (None, "", "   "):
        with pytest.raises(MessageError, match="an id is required"):
            ChatMemory(ai4j_unbounded(), id=id, store=store)


@pytest.mark.parametrize("nothing", [None, ""])
def test_ai4j_jdbc_03_a_database_is_required(nothing):
    assert "required" in CASES["ai4j-jdbc-03"]["expect"]["error"]["message_contains"]
    with pytest.raises(StoreError):
        SQLStore(nothing)
    with pytest.raises(StoreError):
        open_store("sqlite:")


def test_ai4j_jdbc_05_two_sessions_in_one_table(store):
    case = CASES["ai4j-jdbc-05"]
    messages = case_messages(case["messages"])
    memories = ChatMemories(ai4j_unbounded(), store=store, counter=GivenCosts())
    session = None
    for name, *argument in case["ops"]:
        if name == "session":
            session = memories[argument[0]]
        elif name == "add":
            session.add(messages[argument[0]])
        else:
            session.clear()
    held = {id: indices(memories[id].messages) for id in ("ann", "bo")}
    assert held == case["expect"]["sessions"]
