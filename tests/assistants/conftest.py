from __future__ import annotations

import pytest

from chatmem_lab.assistants import Assistant
from chatmem_lab.memory import ChatMemories
from chatmem_lab.testing import openai_server


@pytest.fixture
def server():
    with openai_server() as server:
        yield server


@pytest.fixture
def client(server):
    with server.client(timeout=10) as client:
        yield client


@pytest.fixture
def memories():
    return ChatMemories(store="memory:")


@pytest.fixture(params=["chat", "responses"])
def api(request):
    return request.param


@pytest.fixture
def make(client, memories, api):
    """An assistant on each of the two APIs."""

    def make(**options):
        return Assistant(client, "gpt-5", options.pop("memories", memories), api=api, **options)

    return make
