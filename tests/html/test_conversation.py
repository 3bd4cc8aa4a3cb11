from collections import namedtuple

from chatmem_lab.html.conversation import conversation_html
from chatmem_lab.messages import Conversation, assistant, system, tool_output, user
from chatmem_lab.messages.parts import ToolCall

Call = namedtuple("Call", "name arguments")


def html_of(messages, **more):
    return conversation_html("support-1", messages, requests=2, turns=1, **more)


def test_who_said_what(read):
    page = read(
        html_of(
            [
                ("user", "Where is A-117?", ()),
                ("tool call", "", [Call("lookup", '{"id": "A-117"}')]),
                ("tool result", "shipped", ()),
            ],
            model="gpt-4o",
            source="support.jsonl",
            tools=2,
        )
    )
    rows = page.rows()
    assert rows[0] == "0 user15Where is A-117?"
    # The name, the arguments and a bracket on either side: 6 + 15 + 2.
    assert rows[1] == '1 tool call23lookup({"id": "A-117"})'
    assert rows[2] == "2 tool result7shipped"
    for words in ("3 messages", "1 turn", "2 requests", "45 characters"):
        assert words in page.text
    assert "1 tool call, 2 tool schemas" in page.text
    assert "gpt-4o · support.jsonl" in page.text


def test_long_ones_show_their_beginning_and_end_and_say_what_is_cut(read):
    page = read(html_of([("user", f"text {i}", ()) for i in range(40)]))
    rows = page.rows()
    assert [row.split("text ")[-1] for row in rows[:7]] == [str(i) for i in range(7)]
    assert rows[7] == "… 29 messages between them, see .messages"
    assert [row.split("text ")[-1] for row in rows[8:]] == ["36", "37", "38", "39"]


def test_hostile_text_stays_text(read):
    evil = "</bdi></td><script>alert(1)</script>"
    read(
        conversation_html(
            evil,
            [("user", evil, ()), ("tool call", evil, [Call(evil, evil)])],
            requests=0,
            turns=0,
            model=evil,
            source=evil,
        )
    )


def test_it_is_bounded(read):
    messages = [("assistant", "中文😀<&>" * 2_000, ())] * 3_000
    assert len(html_of(messages).encode()) < 90_000


def test_none_are_none(read):
    page = read(conversation_html("empty", [], requests=0, turns=0))
    assert "0 messages" in page.text
    assert page.rows() == []


def test_a_conversation_draws_itself(read):
    conversation = Conversation(
        "<chat>",
        (
            system("Be brief."),
            user("hi"),
            assistant(tool_calls=[ToolCall("c1", "f", "{}")]),
            tool_output("c1", "ok"),
            assistant("Done."),
        ),
    )
    page = read(conversation._repr_html_())
    assert "Conversation <chat>" in page.text
    for words in ("5 messages", "1 turn", "2 requests"):
        assert words in page.text
