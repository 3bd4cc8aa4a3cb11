"""What a projection is given."""

from __future__ import annotations

import copy
import pickle
import warnings
from types import SimpleNamespace

import pytest

from chatmem_lab.errors import MessageError
from chatmem_lab.messages import (
    Conversation,
    Message,
    Text,
    ToolCall,
    assistant,
    tool_output,
    user,
)
from chatmem_lab.projections import to_anthropic, to_chat, to_responses

ALL = [to_chat, to_responses, to_anthropic]
TALK = [user("hi"), assistant("hello")]
IN_CHAT = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize(
    "wrong",
    [None, 7, "hi", b"hi", {}, {"role": "user", "content": "hi"}, SimpleNamespace(messages=1)],
)
def test_what_holds_no_messages_is_refused(project, wrong):
    with pytest.raises(MessageError, match=f"was expected, not {type(wrong).__name__}"):
        project(wrong)


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize("wrong", [None, "hi", [user("hi")], {"role": "user", "content": "hi"}])
def test_what_is_no_message_is_named_by_its_place(project, wrong):
    with pytest.raises(
        MessageError, match=rf"messages\[1\] is no Message but {type(wrong).__name__}"
    ):
        project([user("hi"), wrong], repair=True)


def test_a_message_that_is_none_inside_is_named_by_its_place():
    with pytest.raises(MessageError, match=r"messages\[1\]: role must be one of"):
        to_chat([user("hi"), Message("robot", (Text("hi"),))])


def test_list_iterator_conversation_and_what_has_messages_are_the_same():
    for source in (TALK, tuple(TALK), iter(TALK), Conversation("c", tuple(TALK))):
        assert to_chat(source) == IN_CHAT
    assert to_chat(SimpleNamespace(messages=tuple(TALK))) == IN_CHAT
    assert to_chat([]) == [] == to_responses([])


def test_one_message_alone_is_not_asked_for_its_neighbours():
    call = assistant(tool_calls=[ToolCall("a.b", "f")])
    assert to_chat(call)[0]["tool_calls"][0]["id"] == "a.b"
    assert to_chat(tool_output("c9", "42")) == [
        {"role": "tool", "tool_call_id": "c9", "content": "42"}
    ]
    assert to_responses(tool_output("c9", "42")) == [
        {"type": "function_call_output", "call_id": "c9", "output": "42"}
    ]
    assert to_anthropic(assistant("hello")) == {
        "messages": [{"role": "assistant", "content": [{"type": "text", "text": "hello"}]}]
    }


@pytest.mark.parametrize("project", ALL)
def test_lone_surrogates_are_sent_as_u_fffd_with_one_warning(project):
    given = [user("a\ud800b"), user("c\udfffd"), user("nul \x00")]
    with pytest.warns(UserWarning, match=r"messages 0, 1") as said:
        sent = str(project(given))
    assert len(said) == 1
    assert said[0].filename == __file__
    assert "a\ufffdb" in sent
    assert "c\ufffdd" in sent
    assert "nul \\x00" in sent
    assert given[0].text == "a\ud800b"


@pytest.mark.parametrize(("n", "named"), [(5, "0, 1, 2, 3, 4)"), (6, "0, 1, 2, 3, 4, …)")])
def test_at_most_five_messages_are_named(n, named):
    with pytest.warns(UserWarning, match="surrogates") as said:
        to_chat([user("\ud800")] * n)
    assert f"(messages {named}" in str(said[0].message)


def test_a_pair_of_surrogates_is_joined_in_ids_and_arguments_too():
    call = ToolCall("c\ud83d\ude00", "f", '{"a": "\udc00"}')
    with pytest.warns(UserWarning, match="surrogates"):
        sent = to_chat([assistant(tool_calls=[call]), tool_output("c\ud83d\ude00", "1")])
    assert sent[0]["tool_calls"][0]["id"] == "c\U0001f600" == sent[1]["tool_call_id"]
    assert sent[0]["tool_calls"][0]["function"]["arguments"] == '{"a": "\ufffd"}'


@pytest.mark.parametrize("project", ALL)
def test_nothing_is_shared_and_nothing_changes(project):
    call = ToolCall("c1", "f", '{"a": [1]}')
    given = [
        user("q", images=["https://example.org/a.png"]),
        assistant(tool_calls=[call]),
        tool_output("c1", "r"),
    ]
    before = copy.deepcopy(given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = project(given), project(given)
    assert first == second
    assert first.repairs == ()
    (first if isinstance(first, list) else first["messages"]).clear()
    assert given == before
    assert project(given) == second


@pytest.mark.parametrize("project", ALL)
def test_what_is_sent_can_be_pickled_with_its_repairs(project):
    sent = project([user("hi"), tool_output("c9", "42")], repair=True)
    again = pickle.loads(pickle.dumps(sent))
    assert again == sent
    assert again.repairs == sent.repairs
    assert copy.deepcopy(sent).repairs == sent.repairs
