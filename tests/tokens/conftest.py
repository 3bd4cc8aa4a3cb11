"""tiktoken built from the files that `fetch_vocabulary.py` brought, never from a download."""

from __future__ import annotations

import pytest
import tiktoken
from tiktoken_ext import openai_public

from chatmem_lab.tokens import encodings, vocabularies
from fetch_vocabulary import CACHE, is_there


@pytest.fixture(scope="session")
def vocabulary():
    """The folder with tiktoken's vocabularies of cl100k_base and o200k_base."""
    if not is_there():
        pytest.fail("tiktoken's vocabularies are missing: run python tests/fetch_vocabulary.py")
    return CACHE


@pytest.fixture(scope="session")
def reference(vocabulary):
    """Encodings of tiktoken by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
        return {
            name: tiktoken.Encoding(**getattr(openai_public, name)())
            for name in ("cl100k_base", "o200k_base", "o200k_harmony")
        }


@pytest.fixture
def fresh_tiktoken(monkeypatch):
    """Nothing built before, and no warning said, so that a test sees the first time."""
    vocabularies._built.cache_clear()
    monkeypatch.setattr(encodings, "_told", set())
    yield
    vocabularies._built.cache_clear()


@pytest.fixture
def no_network(monkeypatch):
    """Any look at the network fails the test at once."""

    def refuse(*_, **__):
        pytest.fail("a look at the network")

    monkeypatch.setattr("socket.getaddrinfo", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)


@pytest.fixture(autouse=True)
def nothing_remembered():
    """Each test counts for itself, whatever another one has counted."""
    from chatmem_lab.tokens import encodings

    encodings._count_short.cache_clear()
