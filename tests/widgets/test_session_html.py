from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chatmem_lab.memory import ChatMemories
from chatmem_lab.messages import user
from chatmem_lab.policies import MessageWindow
from chatmem_lab.stores import Commit, MemoryStore
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.widgets.session_html import branch_html, session_html


@pytest.fixture
def memories():
    store = MemoryStore()
    for minute, text in enumerate(["first", "second", "third"]):
        at = datetime(2026, 5, 1, 12, minute, tzinfo=UTC)
        store.append("ann", [Commit((user(text),), created_at=at)], version=store.version("ann"))
    return ChatMemories(MessageWindow(2), store=store, counter=LengthCounter())


def test_times_window_and_history(memories):
    html = session_html(memories, "ann")
    assert "begun 2026-05-01 12:00 UTC, last written 2026-05-01 12:02 UTC, 0 branches" in html
    assert html.index("Window</bdi>") < html.index("Conversation ann")
    assert "first" in html.split("Conversation ann", 1)[1]


def test_a_line_that_was_cleared_and_one_that_is_gone(memories):
    memories.clear("ann")
    html = session_html(memories, "ann")
    assert "1 branch" in html
    assert "Its active line is empty" in html
    (branch,) = memories["ann"].branches
    assert "second" in branch_html("ann", branch)
    assert "a branch" in branch_html("ann", branch)
    memories.delete("ann")
    assert "There is no such session" in session_html(memories, "ann")
