"""What the rules refuse: said in bounded words."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import MessageError
from chatmem_lab.keeper.admission import check_admission
from chatmem_lab.messages import Segmenter, assistant, tool_output, user
from chatmem_lab.policies import Rules
from replaying import calls


def refused(message, *before, **rules):
    segmenter = Segmenter()
    for earlier in before:
        segmenter.joins(earlier)
    check_admission(message, Rules(**rules), segmenter, before)


def test_blank_messages_by_rule():
    with pytest.raises(MessageError, match="this user message says nothing"):
        refused(user(" "))
    for blank in ("ignore", "keep"):
        refused(user(" "), blank=blank)


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            [],
            r"'c1', but no open call has that id \(open calls: none\): add the assistant message",
        ),
        ([calls("c2")], r"'c1', but no open call has that id \(open calls: 'c2'\)"),
        (
            [calls("c1"), user("never mind")],
            "'c1', but message 1, of role user, came before it and closed the calls of message 0",
        ),
        (
            [user("q"), calls("c1", "c2"), tool_output("c2", "r"), assistant("so"), user("go")],
            "'c1', but message 3, of role assistant, came before it and closed .* message 1: add",
        ),
        (
            [calls("c1", "c2"), tool_output("c1", "r")],
            "'c1', but message 1 is its result already: a call has one",
        ),
    ],
)
def test_results_by_rule(before, wanted):
    with pytest.raises(MessageError, match=f"tool result for {wanted}"):
        refused(tool_output("c1", "r"), *before)
    refused(tool_output("c1", "r"), *before, orphan="keep")


def test_what_answers_an_open_call_is_taken():
    refused(tool_output("c1", "r"), calls("c1"))
    refused(assistant("a"), calls("c1"))


def test_a_megabyte_of_id_is_cut():
    with pytest.raises(MessageError) as raised:
        refused(tool_output("x" * 1_000_000, "r"), calls("y" * 1_000_000))
    assert len(str(raised.value)) < 1_000
