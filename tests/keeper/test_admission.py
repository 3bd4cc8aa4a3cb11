"""What the rules refuse: said in bounded words."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import MessageError
from chatmem_lab.keeper.admission import check_admission
from chatmem_lab.messages import Segmenter, assistant, tool_output, user
from chatmem_lab.policies import Rules
from replaying import calls


def after(*messages):
    segmenter = Segmenter()
    for message in messages:
        segmenter.joins(message)
    return segmenter


def test_blank_messages_by_rule():
    with pytest.raises(MessageError, match="this user message says nothing"):
        check_admission(user(" "), Rules(), after())
    for blank in ("ignore", "keep"):
        check_admission(user(" "), Rules(blank=blank), after())


def test_results_by_rule():
    late = after(calls("c1"), user("never mind"))
    with pytest.raises(MessageError, match=r"'c1', but no open call .*open calls: none"):
        check_admission(tool_output("c1", "r"), Rules(), late)
    check_admission(tool_output("c1", "r"), Rules(orphan="keep"), late)
    check_admission(tool_output("c1", "r"), Rules(), after(calls("c1")))
    check_admission(assistant("a"), Rules(), after(calls("c1")))


def test_a_megabyte_of_id_is_cut():
    with pytest.raises(MessageError) as raised:
        check_admission(tool_output("x" * 1_000_000, "r"), Rules(), after(calls("y" * 1_000_000)))
    assert len(str(raised.value)) < 1_000
