"""Redis servers for the tests of this folder."""

from __future__ import annotations

import pytest

from chatmem_lab.stores import RedisStore
from redis_server import RedisServer


@pytest.fixture(scope="module")
def shared_redis(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")) as redis_server:
        yield redis_server


@pytest.fixture
def redis_server(shared_redis):
    """The module's server, emptied."""
    with shared_redis.client() as client:
        client.flushall()
    return shared_redis


@pytest.fixture
def redis_client(redis_server):
    with redis_server.client() as client:
        yield client


@pytest.fixture
def redis_store(redis_server):
    with RedisStore(redis_server.url, ttl=None) as store:
        yield store


@pytest.fixture
def own_redis(tmp_path):
    """A server of the test's own, to be stopped and changed."""
    with RedisServer(tmp_path) as redis_server:
        yield redis_server
