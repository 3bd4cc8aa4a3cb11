"""Repairs: a named error, or a report."""

from __future__ import annotations

import json

import msgspec
import pytest

from chatmem_lab.errors import ChatMemLabError, ProjectionError
from chatmem_lab.messages import tool_output, user
from chatmem_lab.projections import Repair, to_chat
from chatmem_lab.projections.repair import Repairs


def test_repairs_stand_in_the_order_of_the_messages():
    repairs = Repairs("an API", True)
    repairs.needed("blank_message", 2, "says nothing")
    repairs.needed("orphan_result", 0, "is lost", "c1")
    repairs.needed("unsendable_part", 2, "holds a film")
    assert repairs.made == (
        Repair(0, "c1", "orphan_result", "message 0 is lost: left out"),
        Repair(2, None, "blank_message", "message 2 says nothing: left out"),
        Repair(2, None, "unsendable_part", "message 2 holds a film: left out"),
    )


def test_the_error_says_what_is_wrong_and_what_repair_would_do():
    with pytest.raises(ProjectionError) as error:
        Repairs("an API", False).needed("bad_arguments", 4, 'makes call "c1" with half of them')
    assert isinstance(error.value, ChatMemLabError | ValueError)
    assert str(error.value) == (
        'an API would refuse this: message 4 makes call "c1" with half of them. '
        "repair=True sends {} instead."
    )


def test_a_repair_is_a_plain_frozen_value():
    (repair,) = to_chat([user("hi"), tool_output("c" * 500, "42")], repair=True).repairs
    assert (repair.index, repair.call_id, repair.what) == (1, "c" * 500, "orphan_result")
    assert len(repair.text) < 160
    assert json.loads(msgspec.json.encode(repair))["what"] == "orphan_result"
    with pytest.raises(AttributeError):
        repair.index = 2
