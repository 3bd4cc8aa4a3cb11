"""Stores by URL."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chatmem_lab.errors import StoreError
from chatmem_lab.stores import MemoryStore, open_store, parse_ttl


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30d", 2_592_000), ("12h", 43_200), ("90m", 5_400), ("3600s", 3_600), (" 7 ", 7)],
)
def test_lifetimes(text, seconds):
    assert parse_ttl(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["none", "None", " NONE "])
def test_no_end(text):
    assert parse_ttl(text) is None


@pytest.mark.parametrize("text", ["", "0", "0d", "-1d", "1w", "1.5h", "d", "1" * 20, "²"])
def test_what_is_no_lifetime(text):
    with pytest.raises(StoreError, match="ttl is a time such as 30d"):
        parse_ttl(text)


def test_memory_and_the_environment(monkeypatch):
    assert isinstance(open_store("memory:"), MemoryStore)
    monkeypatch.setenv("CHATMEM_LAB_STORE", "  ")
    assert isinstance(open_store(), MemoryStore)
    monkeypatch.setenv("CHATMEM_LAB_STORE", "mongodb://x")
    with pytest.raises(StoreError, match="names no store"):
        open_store()


@pytest.mark.parametrize("url", ["", "chat.db", "http://x", "sqlite", "://", "mongodb://h/d"])
def test_what_names_no_store(url):
    with pytest.raises(StoreError, match=r"names no store: memory:, sqlite:///chat\.db") as error:
        open_store(url)
    assert "secret" not in str(error.value)


def test_a_secret_is_not_said_again():
    with pytest.raises(StoreError) as error:
        open_store("mongodb://ann:secret@host/db")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:sec\u2100ret@h/db",
        "redis://u:sec[ret@h/0?ttl=1d",
        "mongodb://u:sec/ret@h/db",
        "foo://h/db?password=secret",
        "foo:u:secret@h",
        "sqlite:///x\0y.db",
        "redis://h/0?ttl=1d&retry=5",
    ],
)
def test_what_cannot_be_read_is_a_named_error_without_secrets(url):
    with pytest.raises(StoreError) as error:
        open_store(url)
    assert "sec" not in str(error.value).replace("seconds", "")


def test_the_lifetime_in_redis_must_be_chosen():
    with pytest.raises(StoreError, match=r"must be chosen: add \?ttl=30d"):
        open_store("redis://localhost:1/0")


def test_sqlite_with_a_table_of_its_own(tmp_path):
    url = f"sqlite:///{tmp_path}/chat.db?table=talks"
    store = open_store(url)
    assert store.version("x") == 0
    assert (tmp_path / "chat.db").exists()
    assert "talks" in repr(store)
