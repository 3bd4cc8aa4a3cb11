"""The judge of projections, judged: what each API takes, and what it refuses and why."""

from __future__ import annotations

import pytest

from provider_rules import anthropic_faults, chat_faults, responses_faults

PNG = "data:image/png;base64,AAAA"


def chat_call(*ids, **function):
    function = {"name": "look", "arguments": "{}", **function}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_result(id, content="ok"):
    return {"role": "tool", "tool_call_id": id, "content": content}


SYSTEM = {"role": "system", "content": "be brief"}
USER = {"role": "user", "content": "q"}
REPLY = {"role": "assistant", "content": "a"}


def seen(*parts):
    return [{"role": "user", "content": list(parts)}]


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [SYSTEM, {**SYSTEM, "role": "developer"}, {**USER, "name": "ada"}, REPLY],
        [USER, chat_call("a", "b"), chat_result("b"), chat_result("a", ""), REPLY],
        [USER, chat_call("a"), chat_result("a"), chat_call("a"), chat_result("a")],
        [USER, {"role": "assistant", "content": None, "refusal": "no"}],
        [{**chat_call("a"), "content": ""}, chat_result("a", [{"type": "text", "text": "1"}])],
        seen(
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ),
    ],
)
def test_chat_takes(messages):
    assert chat_faults(messages) == []


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([{"role": "robot", "content": "x"}], "role 'robot'"),
        (["hello"], "role None"),
        ([{**USER, "id": "m1"}], "unknown key 'id'"),
        ([{"role": "user"}], "content is missing"),
        ([{**USER, "content": None}], "None is no list"),
        ([{**USER, "content": " "}], "messages[0].content"),
        ([{**USER, "content": []}], "messages[0].content"),
        ([{**USER, "content": "\ud800"}], "not sendable"),
        ([{**USER, "name": "Ada Lovelace"}], "messages[0].name"),
        (seen({"type": "input_text", "text": "x"}), "type 'input_text'"),
        (seen({"type": "text", "text": ""}), "content[0].text"),
        (seen({"type": "image_url", "image_url": PNG}), "is no object"),
        (seen({"type": "image_url", "image_url": {"url": "a.png"}}), "image_url.url"),
        (seen({"type": "image_url", "image_url": {"url": PNG, "detail": None}}), "detail"),
        (seen({"type": "input_audio", "input_audio": {"data": "AAAA"}}), "format is missing"),
        (seen({"type": "file", "file": {}}), "content[0].file"),
        ([{**REPLY, "content": None}], "says nothing"),
        ([{**REPLY, "content": " "}], "says nothing"),
        ([{**REPLY, "tool_calls": []}], "tool_calls"),
        ([{**REPLY, "content": seen({"type": "image_url"})[0]["content"]}], "type 'image_url'"),
        ([chat_call("a", arguments={}), chat_result("a")], "function.arguments"),
        ([chat_call("a", name="two words"), chat_result("a")], "function.name"),
        ([chat_call(""), chat_result("")], "tool_calls[0].id"),
        ([chat_call("a"), {**chat_result("a"), "name": "look"}], "unknown key 'name'"),
        (
            [chat_call("a"), chat_result("a", [{"type": "image_url", "image_url": {"url": PNG}}])],
            "type 'image_url'",
        ),
        ([USER, SYSTEM], "system after other messages"),
        ([REPLY, {**SYSTEM, "role": "developer"}], "developer after other messages"),
        ([USER, chat_result("a")], "no open call 'a'"),
        ([chat_call("a"), chat_result("a"), chat_result("a")], "a second result for 'a'"),
        ([chat_call("a"), chat_result("a"), USER, chat_result("a")], "no open call 'a'"),
        ([chat_call("a", "b"), chat_result("a"), USER], "messages[2]: call 'b' has no result"),
        ([chat_call("a", "b"), chat_result("a")], "end: call 'b' has no result"),
        ([chat_call("a"), USER, chat_result("a")], "messages[1]: call 'a' has no result"),
        ([chat_call("a", "a"), chat_result("a"), chat_result("a")], "twice in one group"),
    ],
)
def test_chat_refuses(messages, fault):
    assert any(fault in found for found in chat_faults(messages)), chat_faults(messages)


def item(role, *content, **more):
    return {"type": "message", "role": role, "content": list(content), **more}


def call(id, **more):
    return {"type": "function_call", "call_id": id, "name": "f", "arguments": "{}", **more}


def output(id, output="ok"):
    return {"type": "function_call_output", "call_id": id, "output": output}


def said(text="a", **more):
    part = {"type": "output_text", "text": text, "annotations": [], **more}
    return item("assistant", part, status="completed")


def reasoning(**more):
    return {"type": "reasoning", "summary": [], **more}


ASKED = item("user", {"type": "input_text", "text": "q"})
TOLD = item("system", {"type": "input_text", "text": "be brief"})
IMAGE = {"type": "input_image", "image_url": PNG, "detail": "auto"}


@pytest.mark.parametrize(
    "items",
    [
        [],
        [TOLD, ASKED, said(), item("user", IMAGE, {"type": "input_file", "file_id": "f1"})],
        [ASKED, said(), call("a"), call("b"), output("b"), output("a", [IMAGE]), said()],
        [ASKED, call("a"), output("a", ""), call("a"), output("a")],
        [ASKED, reasoning(id="rs_1", encrypted_content="x"), call("a"), output("a")],
        [reasoning(summary=[{"type": "summary_text", "text": "hm"}]), reasoning(), said()],
        [item("assistant", {"type": "refusal", "refusal": "no"}, status="completed", id="msg_1")],
        [{**said(), "phase": "commentary"}],
    ],
)
def test_responses_takes(items):
    assert responses_faults(items) == []


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        (["hello"], "type None"),
        ([{"role": "user", "content": "q"}], "type None"),
        ([{"type": "tool_call"}], "type 'tool_call'"),
        ([{**ASKED, "name": "ada"}], "unknown key 'name'"),
        ([item("tool", IMAGE)], "role"),
        ([item("user")], "content"),
        ([item("user", {"type": "output_text", "text": "x", "annotations": []})], "output_text"),
        ([item("user", {"type": "input_text", "text": ""})], "content[0].text"),
        ([item("system", IMAGE)], "type 'input_image'"),
        ([item("user", {"type": "input_image", "image_url": PNG})], "detail is missing"),
        ([item("user", {**IMAGE, "image_url": {"url": PNG}})], "image_url"),
        ([{**said(), "status": "done"}], "status"),
        ([{**said(), "id": "rs_1"}], ".id"),
        ([item("assistant", {"type": "output_text", "text": "x"}, status="completed")], "annotat"),
        ([item("assistant", IMAGE, status="completed")], "type 'input_image'"),
        ([call("a", arguments=None), output("a")], "arguments"),
        ([call("a" * 65), output("a" * 65)], "call_id"),
        ([call("a"), output("a", None)], "output"),
        ([call("a"), {**output("a"), "is_error": True}], "unknown key 'is_error'"),
        ([{**reasoning(summary=["hm"]), "id": "rs_1"}, said()], "summary"),
        ([{"type": "reasoning"}, said()], "summary is missing"),
        ([ASKED, TOLD], "system after other items"),
        ([reasoning(), ASKED], "reasoning without the item after it"),
        ([said(), reasoning()], "reasoning without the item after it"),
        ([call("a"), reasoning(), output("a")], "reasoning without the item after it"),
        ([ASKED, output("a")], "no open call 'a'"),
        ([call("a"), output("a"), output("a")], "a second result for 'a'"),
        ([call("a"), ASKED, output("a")], "items[1]: call 'a' has no result"),
        ([call("a"), call("b"), output("a"), call("c"), output("c")], "call 'b' has no result"),
        ([call("a")], "end: call 'a' has no result"),
        ([call("a"), call("a"), output("a"), output("a")], "twice in one group"),
        ([{**said(), "id": "msg_1"}, ASKED, {**said(), "id": "msg_1"}], "id 'msg_1' twice"),
    ],
)
def test_responses_refuses(items, fault):
    assert any(fault in found for found in responses_faults(items)), responses_faults(items)


def text(text="q"):
    return {"type": "text", "text": text}


def use(id, **more):
    return {"type": "tool_use", "id": id, "name": "f", "input": {}, **more}


def result(id, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def image(**source):
    return {"type": "image", "source": source}


def body(*contents, **more):
    """The user's first, then in turns."""
    roles = ["user", "assistant"] * len(contents)
    messages = [{"role": role, "content": list(c)} for role, c in zip(roles, contents)]
    return {"messages": messages, **more}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "x"}
WEB = image(type="url", url="https://example.org/a.png")


@pytest.mark.parametrize(
    "body",
    [
        body([text(), WEB], system="be brief"),
        body([text()], [text("a")], [text(), image(type="base64", media_type="image/png",
             data="AAAA")]),
        body([text()], [THOUGHT, text("a"), use("a"), use("b")],
             [result("b", [text(), WEB]), result("a", "no", is_error=True), text()]),
        body([text()], [use("a")], [result("a")], [use("b")], [result("b")]),
        body([{"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}]),
    ],
)  # fmt: skip
def test_anthropic_takes(body):
    assert anthropic_faults(body) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({}, "messages is missing"),
        ({"messages": []}, "messages"),
        (body([text()], system=" "), "system"),
        (body([text()], max_token=1), "unknown key 'max_token'"),
        ({"messages": [{"role": "system", "content": [text()]}]}, "role"),
        ({"messages": [{"role": "assistant", "content": [text()]}]}, "not the user's"),
        ({"messages": body([text()])["messages"] * 2}, "user twice in a row"),
        (body([]), "content"),
        (body([text(" ")]), "content[0].text"),
        (body([{**text(), "name": "ada"}]), "unknown key 'name'"),
        (body([image(type="url", url=PNG)]), "source.url"),
        (body([image(type="base64", media_type="image/tiff", data="AAAA")]), "media_type"),
        (body([image(type="base64", media_type="image/png", data=PNG)]), "data"),
        (body([{"type": "image_url", "image_url": {"url": PNG}}]), "type 'image_url'"),
        (body([text()], [WEB]), "type 'image'"),
        (body([text()], [{"type": "thinking", "thinking": "hm"}, text()]), "signature is missing"),
        (body([text()], [THOUGHT]), "ends with thinking"),
        (body([text()], [use("a", input="{}")], [result("a")]), "input"),
        (body([text()], [use("a.b")], [result("a.b")]), ".id"),
        (body([text()], [use("a", name="two words")], [result("a")]), "name"),
        (body([text()], [use("a")], [result("a", [text("")])]), "text"),
        (body([text()], [use("a")], [result("a", is_error=None)]), "is_error"),
        (body([text()], [use("a")], [result("a", " ", is_error=True)]), "that says nothing"),
        (body([text()], [use("a")], [result("a", [WEB], is_error=True)]), "more than text"),
        (body([text()], [use("a")], [text(), result("a")]), "behind other blocks"),
        (body([result("a")]), "no open call 'a'"),
        (body([text()], [use("a")], [text()], [text()], [result("a")]), "'a' has no result"),
        (body([text()], [use("a"), use("b")], [result("a"), text()]), "'b' has no result"),
        (body([text()], [use("a")]), "end: call 'a' has no result"),
        (body([text()], [use("a")], [result("a"), result("a")]), "a second result for 'a'"),
        (body([text()], [use("a")], [result("a")], [use("a")], [result("a")]), "is not unique"),
    ],
)
def test_anthropic_refuses(body, fault):
    assert any(fault in found for found in anthropic_faults(body)), anthropic_faults(body)
