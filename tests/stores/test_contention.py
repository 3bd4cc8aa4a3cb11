"""Several processes that write to one session at the same time."""

from __future__ import annotations

import pytest

from store_writers import KINDS, check_contention, contend, served


@pytest.fixture(scope="module", params=KINDS)
def place(request, tmp_path_factory):
    with served(request.param, tmp_path_factory.mktemp(request.param)) as place:
        yield place


@pytest.mark.parametrize(("how", "additions"), [("plain", 25), ("turns", 10)])
def test_nothing_is_lost_or_moved(place, how, additions):
    amount = {"writers": 4, "additions": additions, "how": how}
    contend(place.url, how, **amount)
    check_contention(place.url, how, **amount)


@pytest.mark.parametrize(("writers", "additions"), [(1, 3), (2, 2), (1, 5)])
def test_the_check_sees_what_is_too_many_and_what_is_missing(tmp_path, writers, additions):
    url = f"sqlite:///{tmp_path}/chat.db"
    contend(url, "x", writers=1, additions=4)
    with pytest.raises(AssertionError):
        check_contention(url, "x", writers=writers, additions=additions)
