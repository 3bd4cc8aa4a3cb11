"""Session ids and commits that a careless store mixes up, changes or loses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from chatmem_lab.keeper import Event
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
    Usage,
    assistant,
    tool_output,
    user,
)
from chatmem_lab.stores import Change, Commit, Line, Placed

__all__ = ["COMMITS", "IDS"]

#: Ids of which a careless store takes two for one, or one for a pattern, a path or a command.
IDS: tuple[str, ...] = (
    "",
    " ",
    "a",
    "A",
    "a ",
    " a",
    "a\t",
    "a\n",
    "a\0",
    "a\0b",
    "\0",
    "a\\u0000",
    "a\\0",
    "a\\",
    "*",
    "a*",
    "?",
    "[a]",
    "[",
    "%",
    "a%",
    "_",
    "'",
    '"',
    "`",
    "x' OR '1'='1",
    "'; DROP TABLE sessions; --",
    "{a}",
    "a:b",
    "a/b",
    "../a",
    "a.b",
    "%s",
    "%(a)s",
    ":a",
    "$1",
    "None",
    "1",
    "01",
    "é",
    "e\u0301",
    "ß",
    "ss",
    "İ",
    "i",
    "Ⅳ",
    "订单",
    "👩‍👩‍👧‍👦",
    "👩",
    "\u200b",
    "\ufeffa",
    "\uffff",
    "\U0010ffff",
    "x" * 10_000,
    "x" * 9_999 + "y",
)

_TOKYO = timezone(timedelta(hours=9))
_NOON = datetime(2026, 1, 1, 12, 0, 0, 123_456, _TOKYO)

_FULL = Message(
    "assistant",
    (
        Text("Here it is: \0 and \\u0000, \u2028, 👩‍👩‍👧‍👦, e\u0301."),
        Image("https://example.org/a.png", "low"),
        Image("data:image/png;base64,iVBORw0KGgo="),
        File("a.pdf", file_id="f1"),
        Audio("UklGRg==", "wav", "hello"),
        Reasoning("hm", id="rs_1", signature="sealed"),
        Refusal("no"),
        Opaque("video", '{"b": 1.10, "a": 1, "a": 2}'),
    ),
    tool_calls=(ToolCall("c1", "look", '{"b":1,"a":2,"a":3,"n":1.10}'), ToolCall("", "f", "{\0")),
    name="Mira",
    generated=False,
    id="m1",
    created_at=_NOON,
    model="gpt-5",
    usage=Usage(1, 2, 3, 4, 5),
    finish_reason="stop",
    metadata={"": [None, True, 1.5, -(2**63), 2**64 - 1, {"b": {"a": [[]]}, "a": "\0"}]},
    extra={"source": {"line": 1}},
)
_MADE = Message("user", (Text("Ann wants a refund."),), summary=SummaryOf(((0, 2),), 2, "by"))

#: Commits that between them set every field there is, by name.
COMMITS: dict[str, tuple[Commit, ...]] = {
    "a commit of nothing": (Commit(),),
    "a message with every field": (Commit((_FULL,)),),
    "a NUL, and the text that spells one": (Commit((user("a\0b"), user("A\\u0000B"))),),
    "a tool result that reports an error": (Commit((tool_output("c1", "", is_error=True),)),),
    "a text of 100,000 characters": (Commit((user("All of it. é" * 8_334),)),),
    "text that says nothing": (Commit((Message("user"), user(" \n"), assistant("")), ()),),
    "a window, its changes, and what happened to it": (
        Commit(
            (user("a"), assistant("b")),
            (
                Change(1, (0.0, 0.5), (Placed(0.25, None, "made", _MADE),)),
                Change(2, (), (Placed(1.0, 1, "cleared", assistant("[cleared]")),)),
            ),
            (Event(kind="fold", position=1, request=3, made=_MADE, units=((0, 1), (2,))),),
            Line("restore", (Placed(0.1, 0), Placed(1e-17, 1)), given=2),
            _NOON,
            is_over=True,
            was_asked=True,
        ),
    ),
    "a line whose window holds nothing, and one that has none": (
        Commit(line=Line("clear", ())),
        Commit(line=Line("set")),
    ),
    "times in UTC, east and west of it, and of no zone": tuple(
        Commit((Message("user", created_at=time),), created_at=time)
        for time in (
            _NOON.astimezone(UTC),
            _NOON.astimezone(timezone(-timedelta(hours=9, minutes=30))),
            datetime(1, 1, 1, tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59, 999_999, _TOKYO),
            datetime(2026, 3, 29, 2, 30),
        )
    ),
    "fifty messages of one moment": (
        Commit(tuple(Message("user", (Text(f"m{i}"),), created_at=_NOON) for i in range(50))),
    ),
    "fifty commits of one moment": tuple(
        Commit((user(f"m{i}"),), created_at=_NOON) for i in range(50)
    ),
}
