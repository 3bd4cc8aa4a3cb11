"""Parts without a form, messages that say nothing, reasoning without its reply."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import ProjectionError
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
    assistant,
    tool_output,
    user,
)
from chatmem_lab.projections import to_anthropic, to_chat, to_responses
from chatmem_lab.projections.content import describe_part

ALL = [to_chat, to_responses, to_anthropic]
BOTH = [to_responses, to_anthropic]
THOUGHT = Message("assistant", (Reasoning("hm", signature="sealed"),))


def kinds(sent):
    return [(r.index, r.what) for r in sent.repairs]


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize(
    "blank",
    [
        user("  \n"),
        user(),
        Message("system", (Text(""),)),
        assistant(""),
        Message("assistant", (Text(" "), Refusal(""))),
    ],
)
def test_a_message_that_says_nothing(project, blank):
    with pytest.raises(ProjectionError, match="message 1 says nothing"):
        project([user("q"), blank, user("r")])
    mended = project([user("q"), blank, user("r")], repair=True)
    assert mended == project([user("q"), user("r")])
    assert kinds(mended) == [(1, "blank_message")]
    with pytest.raises(ProjectionError, match="message 0 says nothing"):
        project(blank)


@pytest.mark.parametrize("project", ALL)
def test_an_empty_result_says_something(project):
    sent = project([user("q"), assistant(tool_calls=[ToolCall("c1", "f")]), tool_output("c1", "")])
    assert sent.repairs == ()
    assert "c1" in str((sent if isinstance(sent, list) else sent["messages"])[-1])


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_a_part_of_a_foreign_kind_is_named(project, role):
    film = Message(role, (Text("look"), Opaque("video_url", '{"type": "video_url"}')))
    an = "an" if role == "assistant" else "a"
    with pytest.raises(
        ProjectionError,
        match=f'message 1 holds a part of kind "video_url", which has no form in {an} {role} m',
    ):
        project([user("q"), film])
    mended = project([user("q"), film], repair=True)
    assert mended == project([user("q"), Message(role, (Text("look"),))])
    assert kinds(mended) == [(1, "unsendable_part")]


@pytest.mark.parametrize("project", ALL)
def test_of_a_message_that_only_holds_what_cannot_be_sent_nothing_is_left(project):
    film = Message("assistant", (Text(" "), Opaque("film", "{}")))
    mended = project([user("q"), film, user("r")], repair=True)
    assert mended == project([user("q"), user("r")])
    assert kinds(mended) == [(1, "unsendable_part"), (1, "blank_message")]


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize(
    "part", [Image("https://example.org/a.png"), File(url="data:x"), Audio("")]
)
def test_an_assistant_sends_only_texts(project, part):
    with pytest.raises(ProjectionError, match="message 1 holds a"):
        project([user("q"), Message("assistant", (Text("look"), part))])


@pytest.mark.parametrize("project", ALL)
def test_what_a_model_spoke_is_sent_as_its_text(project):
    spoken = Message("assistant", (Audio("UklGRg==", "wav", "hello"),))
    assert project([user("q"), spoken]) == project([user("q"), assistant("hello")])


@pytest.mark.parametrize("project", BOTH)
def test_reasoning_alone_belongs_to_the_reply_directly_after_it(project):
    reply = assistant("done")
    together = Message("assistant", (*THOUGHT.parts, *reply.parts))
    sent = project([user("q"), THOUGHT, reply])
    assert sent == project([user("q"), together])
    assert sent.repairs == ()
    twice = project([user("q"), THOUGHT, THOUGHT, reply])
    assert twice == project([user("q"), Message("assistant", (*THOUGHT.parts, *together.parts))])


@pytest.mark.parametrize("project", BOTH)
def test_reasoning_without_a_reply(project):
    for rest in ([], [user("r")], [user("r"), assistant("done")]):
        with pytest.raises(ProjectionError, match="message 1 holds reasoning, and no reply"):
            project([user("q"), THOUGHT, *rest])
        mended = project([user("q"), THOUGHT, *rest], repair=True)
        assert mended == project([user("q"), *rest])
        assert kinds(mended) == [(1, "lone_reasoning")]


@pytest.mark.parametrize("project", BOTH)
def test_reasoning_whose_reply_is_left_out_goes_too(project):
    mended = project([user("q"), THOUGHT, assistant(""), user("r")], repair=True)
    assert mended == project([user("q"), user("r")])
    assert kinds(mended) == [(1, "lone_reasoning"), (2, "blank_message")]


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize(
    "address",
    [
        "a.png",
        "/tmp/a.png",
        "file:///tmp/a.png",
        "ftp://example.org/a.png",
        "https://",
        "https://example.org/a b.png",
        "data:image/png,iVBORw0KGgo=",
        "data:image/png;base64,",
        "data:image/png;base64,not base64",
        "data:application/pdf;base64,JVBERi0=",
    ],
)
def test_an_image_that_no_api_can_reach(project, address):
    shown = Message("user", (Text("look"), Image(address)))
    with pytest.raises(ProjectionError, match=r"message 1 holds an image by .* in a user message"):
        project([user("q"), shown])
    mended = project([user("q"), shown], repair=True)
    assert mended == project([user("q"), user("look")])
    assert kinds(mended) == [(1, "unsendable_part")]


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize(
    "address",
    ["http://example.org/a.png", "HTTPS://example.org/a", "data:image/png;base64,iVBORw0KGgo="],
)
def test_an_image_that_every_api_can_reach(project, address):
    assert project([user("look", images=[address])]).repairs == ()


def test_parts_are_described_for_people():
    assert [
        describe_part(part)
        for part in (
            Image(" "),
            Image("ftp://example.org/a.png"),
            File(),
            File(file_id="file-1"),
            File(url="https://example.org/a.pdf"),
            Audio("", "flac"),
            Audio(""),
            Reasoning("hm"),
        )
    ] == [
        "an image without an address",
        'an image by "ftp://example.org/a.png"',
        "a file without content",
        "a file by its id",
        'a file by "https://example.org/a.pdf"',
        'audio of format "flac"',
        "audio",
        "reasoning",
    ]
