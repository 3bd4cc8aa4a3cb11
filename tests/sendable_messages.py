"""Hypothesis strategies: all that can be said, in good order and spoiled."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    SummaryOf,
    Text,
    ToolCall,
    assistant,
    developer,
    system,
    tool_output,
    user,
)

_WORDS = st.sampled_from(
    ["ok", "42 pages", "order A-117", "où?", "two\n\nlines", "nul \x00", "日本"]
)
_IMAGES = st.sampled_from(
    [
        Image("https://example.org/a.png"),
        Image("https://example.org/b.png", detail="low"),
        Image("https://example.org/c.png", detail="medium"),
        Image("data:image/png;base64,iVBORw0KGgo="),
    ]
)
_FILES = st.sampled_from(
    [
        File("a.pdf", "data:application/pdf;base64,JVBERi0="),
        File("b.pdf", "data:application/pdf;base64,JVBERi0x"),
        File("c.txt", "data:text/plain;base64,d2jDqQo="),
    ]
)
_ARGUMENTS = st.sampled_from(["", "{}", '{"q": 1}', '{"b": "é", "a": [1, {"c": null}]}'])


def _few(strategy, most=3, least=1):
    return st.lists(strategy, min_size=least, max_size=most)


@st.composite
def _asked(draw):
    parts = draw(_few(_WORDS.map(Text) | _WORDS.map(Text) | _IMAGES | _FILES))
    return [Message("user", tuple(parts), name=draw(st.sampled_from([None, None, "ada"])))]


@st.composite
def _thought(draw):
    return draw(st.sampled_from([(), (), (Reasoning("hm", signature="sealed"),)]))


@st.composite
def _said(draw):
    words = draw(_few(_WORDS.map(Text)))
    refused = [Refusal("no"), Refusal("never")]
    again = [*words, Reasoning("on second thought", signature="sealed"), *words]
    parts = draw(st.sampled_from([words, words, refused, [*words, *refused], again]))
    return [Message("assistant", (*draw(_thought()), *parts))]


@st.composite
def _thought_apart(draw):
    """What was reasoned in a message of its own, and what it was reasoned for."""
    reasoning = Message("assistant", (Reasoning("hm", id="rs_1", signature="sealed"),))
    return [reasoning, *draw(_said() | _looked_up())]


@st.composite
def _looked_up(draw):
    ids = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
    calls = tuple(ToolCall(f"call_{id}", "look", draw(_ARGUMENTS)) for id in ids)
    words = draw(st.sampled_from([(), (Text(""),), (Text(" "),), (Text("let me look"),)]))
    group = [Message("assistant", (*draw(_thought()), *words), tool_calls=calls)]
    for call in draw(st.permutations(calls)):
        blank = st.sampled_from([Text(""), Text(" ")])
        parts = tuple(draw(_few(_WORDS.map(Text) | blank | _IMAGES, 2, 0)))
        is_error = draw(st.booleans())
        group.append(Message("tool", parts, tool_call_id=call.id, is_error=is_error))
    return group


@st.composite
def sendable_lists(draw):
    """Lists that every API takes; call ids repeat in other groups."""
    groups = [draw(_asked())]
    groups += draw(st.lists(_asked() | _said() | _looked_up() | _thought_apart(), max_size=8))
    messages = [message for group in groups for message in group]
    if draw(st.booleans()):
        messages[0] = replace(assistant("Earlier: much."), summary=SummaryOf(((0, 4),)))
        messages.insert(1, user("go on"))
    starts = [0, *(i for i, m in enumerate(messages) if m.role == "user")]
    instructions = st.sampled_from([system("be brief"), developer("be kind")])
    for told in draw(st.lists(instructions, max_size=3)):
        messages.insert(draw(st.sampled_from(starts)), told)
        starts = [0, *(i for i, m in enumerate(messages) if m.role == "user")]
    return messages


def with_unique_ids(messages):
    """The same, each group's ids told apart by the place of its first message."""
    place, unique = 0, []
    for index, message in enumerate(messages):
        if message.role != "tool":
            place = index
        calls = [replace(call, id=f"{call.id}_{place}") for call in message.tool_calls]
        answers = message.tool_call_id and f"{message.tool_call_id}_{place}"
        unique.append(replace(message, tool_calls=tuple(calls), tool_call_id=answers))
    return unique


#: Messages that some API refuses, by themselves or for where they stand.
SPOILERS = [
    tool_output("call_a", "late"),
    tool_output("nobody", "nobody's"),
    Message("tool", (Text("without an id"),)),
    user(""),
    user(" "),
    assistant(""),
    Message("user", (Text("see"), Opaque("video", '{"type": "video"}'))),
    Message("assistant", (Opaque("video", '{"type": "video"}'),)),
    Message("assistant", (Reasoning("lone"),)),
    Message("assistant", (Reasoning("lone", signature="sealed"),)),
    assistant(tool_calls=[ToolCall("call_a", "look", '{"value": ')]),
    assistant("look", tool_calls=[ToolCall("call_b", "look", "[1]")]),
    assistant(tool_calls=[ToolCall("look.1:0", "look", "{}")]),
    tool_output("look.1:0", "found"),
    assistant(tool_calls=[ToolCall("call_a", "shop.find", "{}")]),
    assistant(tool_calls=[ToolCall("call_b", "", "{}")]),
    assistant("look", tool_calls=[ToolCall("long" * 17, "look", "{}")]),
    tool_output("long" * 17, "found"),
    user("it is me", name="Ada <Lovelace>"),
    user("see", images=["ftp://example.org/a.png"]),
    user(images=["data:image/tiff;base64,SUkqAA=="]),
    Message("user", (Text("see"), File("a.csv", "data:text/csv;base64,YSxi"))),
    Message("user", (Audio("UklGRg==", "wav"),)),
    Message("assistant", (Audio("UklGRg==", "wav", "what was said"),)),
    system("late"),
    assistant("hello"),
]


@st.composite
def spoiled_lists(draw):
    messages = list(draw(sendable_lists()))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(messages)))
        what = draw(st.sampled_from(["remove", "repeat", "insert", "insert"]))
        if what == "insert" or at == len(messages):
            messages.insert(at, draw(st.sampled_from(SPOILERS)))
        elif what == "remove":
            del messages[at]
        else:
            messages.insert(draw(st.integers(0, len(messages))), messages[at])
    return messages
