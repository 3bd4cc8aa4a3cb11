"""A writer that is killed, or whose server is: what was acknowledged is there."""

from __future__ import annotations

import random

import pytest

from store_writers import KINDS, add_numbered, check_crash, crash, served, session_at


@pytest.fixture(scope="module", params=KINDS)
def place(request, tmp_path_factory):
    with served(request.param, tmp_path_factory.mktemp(request.param)) as place:
        yield place


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_writer_loses_nothing_that_was_acknowledged(place, seed):
    id = f"killed writer {seed}"
    acknowledged = crash(place, id, random.Random(seed))
    check_crash(place.url, id, acknowledged)


@pytest.mark.parametrize("place", ["postgresql", "redis"], indirect=True)
def test_a_killed_server_loses_nothing_that_was_acknowledged(place):
    acknowledged = crash(place, "killed server", random.Random(3), victim="server")
    check_crash(place.url, "killed server", acknowledged)


@pytest.mark.parametrize("acknowledged", [4, 8, 9])
def test_the_check_sees_what_is_lost_and_what_is_torn(tmp_path, acknowledged):
    url = f"sqlite:///{tmp_path}/chat.db"
    with session_at(url, "x") as memory:
        for number in range(1, 7):
            add_numbered(memory, number)
    with pytest.raises(AssertionError, match="were acknowledged, and 8 messages are there"):
        check_crash(url, "x", acknowledged)
