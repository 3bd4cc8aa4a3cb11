"""What a message must hold to be one."""

from __future__ import annotations

import math

import pytest

from chatmem_lab.errors import MessageError
from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    Usage,
    user,
)
from chatmem_lab.messages.wellformed import check_message, with_texts

TEXT = (Text("hi"),)

WRONG = [
    (Message("robot", TEXT), "role must be one of system, developer, user, assistant, tool, not"),
    (Message(None, TEXT), "not None"),
    (Message("user", [Text("hi")]), "parts must be a tuple of parts"),
    (Message("user", ("hi",)), "parts[0] must be a part such as Text or Image, not 'hi'"),
    (Message("user", (Text("a"), Text(5))), "parts[1].text must be a str, not 5"),
    (Message("user", (Text(None),)), "parts[0].text must be a str, not None"),
    (Message("user", (Image("u", detail=3),)), "parts[0].detail must be a str, not 3"),
    (Message("user", TEXT, tool_calls=(ToolCall("c", "f"),)), "only an assistant message makes"),
    (Message("assistant", tool_calls=({"id": "c"},)), "tool_calls[0] must be a ToolCall, not {"),
    (
        Message("assistant", tool_calls=(ToolCall(1, "f"),)),
        "tool_calls[0].id must be a str, not 1",
    ),
    (Message("assistant", tool_calls=(ToolCall("c", None),)), "tool_calls[0].name must be a str"),
    (Message("assistant", tool_calls=(ToolCall("c", "f", {}),)), "arguments must be the raw JSON"),
    (Message("tool", TEXT, tool_call_id=7), "tool_call_id must be a str or None, not 7"),
    (Message("user", TEXT, name=b"ada"), "name must be a str or None"),
    (Message("user", TEXT, usage={}), "usage must be a Usage or None"),
    (Message("user", TEXT, metadata=[1]), "metadata must be a dict or None"),
    (
        Message("user", TEXT, metadata={"a": [1, {"b": math.nan}]}),
        "metadata.a[1].b = nan is no number",
    ),
    (Message("user", TEXT, extra={"x": (-math.inf,)}), "extra.x[0] = -inf is no number"),
]


@pytest.mark.parametrize(("message", "words"), WRONG, ids=[words for _, words in WRONG])
def test_what_is_no_message(message, words):
    with pytest.raises(MessageError) as error:
        check_message(message)
    assert words in str(error.value)


def test_a_long_value_is_cut_in_the_error():
    with pytest.raises(MessageError) as error:
        check_message(Message("x" * 10_000))
    assert len(str(error.value)) < 200


def test_every_part_and_fact_may_be_there():
    loop: dict[str, object] = {"n": 1.5}
    loop["self"] = loop
    parts = (Text("t"), Image("u"), File(), Audio("d"), Reasoning(), Refusal("r"), Opaque("k", ""))
    call = ToolCall("c1", "f", "{}")
    check_message(
        Message("assistant", parts, tool_calls=(call,), usage=Usage(1), metadata=loop, id="m")
    )


def test_every_text_is_changed_and_nothing_else():
    message = Message(
        "assistant",
        (Text("a"), Image("b")),
        tool_calls=(ToolCall("c", "d", "e"),),
        tool_call_id="f",
        name="g",
        id="h",
        metadata={"i": "j"},
    )
    assert with_texts(message, str.upper) == Message(
        "assistant",
        (Text("A"), Image("B")),
        tool_calls=(ToolCall("C", "D", "E"),),
        tool_call_id="F",
        name="G",
        id="H",
        metadata={"i": "j"},
    )


def test_where_nothing_changes_the_message_is_the_same():
    message = user("a", name="b")
    assert with_texts(message, lambda text: text) is message
