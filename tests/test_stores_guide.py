"""What the page on stores shows, run in order on a new file and a real Redis server."""

import re
from pathlib import Path

import pytest

import chatmem_lab as cml
from redis_server import RedisServer

PAGE = Path(__file__).resolve().parent.parent / "docs" / "stores.md"


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the page's blocks have defined, run up to the last."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    names = {}
    with RedisServer(tmp_path) as server:
        for block in blocks:
            code = block.replace("redis://localhost:6379/0", server.url)
            exec(compile(code, PAGE.name, "exec"), names)
        with server.client() as client:
            names["lifetimes"] = [(key, client.ttl(key)) for key in client.scan_iter()]
    return names


def test_the_blocks_run_and_do_what_is_said_beside_them(names, tmp_path):
    memories = names["memories"]
    assert (tmp_path / "chat.db").is_file()
    assert memories.list() == ["user-42"]
    assert [m.text for m in memories["user-42"].messages] == ["Who wrote Emma?"]
    ((key, seconds),) = names["lifetimes"]
    assert key == b"shop:user-42"
    assert 2_591_900 < seconds <= 2_592_000
    memories.close()


def test_a_forgetful_memory_holds_what_the_page_says():
    store = cml.MemoryStore()
    memory = cml.ChatMemory(cml.MessageWindow(2), id="x", store=store, keep_history=False)
    for text in ("one", "two", "three"):
        memory.add_user(text)
    assert [message.text for message in memory.history] == ["two", "three"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("memory:", "MemoryStore"),
        ("sqlite:///chat.db", "SQLStore"),
    ],
)
def test_the_urls_name_these_stores(url, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"`{url}`" in PAGE.read_text()
    assert type(cml.open_store(url)).__name__ == name


def test_every_name_is_there():
    text = PAGE.read_text()
    found = set(re.findall(r"\bcml\.(\w+)", text))
    assert found >= {"ChatMemories", "ChatMemory", "Store"}
    assert [name for name in sorted(found) if not hasattr(cml, name)] == []
