"""What a request sends, in all the forms that the client takes."""

import openai
from openai.types.chat import ChatCompletionMessage
from openai.types.responses import ResponseFunctionToolCall, ResponseReasoningItem

from chatmem_lab import ToolCall
from chatmem_lab.assistants.sent import sent_to_chat, sent_to_responses
from chatmem_lab.messages import Image, Reasoning, Text


def test_what_was_not_given_is_not_there():
    for missing in (openai.NOT_GIVEN, openai.omit, None):
        sent = sent_to_chat({"messages": [], "tools": missing, "model": missing})
        assert (sent.model, sent.messages, sent.tools) == (None, (), ())
        sent = sent_to_responses({"input": missing, "instructions": missing, "tools": missing})
        assert (sent.instructions, sent.messages, sent.tools) == ((), (), ())


def test_instructions_are_those_in_front():
    messages = [
        {"role": "system", "content": "a"},
        {"role": "developer", "content": "b"},
        {"role": "user", "content": "c"},
        {"role": "system", "content": "d"},
    ]
    for sent in (sent_to_chat({"messages": messages}), sent_to_responses({"input": messages})):
        assert [message.text for message in sent.instructions] == ["a", "b"]
        assert [message.text for message in sent.messages] == ["c", "d"]


def test_only_instructions():
    sent = sent_to_chat({"messages": [{"role": "system", "content": "a"}]})
    assert ([m.text for m in sent.instructions], sent.messages) == (["a"], ())


def test_items_that_follow_a_kept_response_are_no_instructions_in_front():
    items = [{"role": "developer", "content": "b"}]
    for more in ({"previous_response_id": "resp_1"}, {"conversation": "conv_1"}):
        sent = sent_to_responses({"input": items, "instructions": "a", **more})
        assert [message.text for message in sent.instructions] == ["a"]
        assert [message.text for message in sent.messages] == ["b"]


def test_a_conversation_that_the_server_keeps_is_named_either_way():
    for given in ("conv_1", {"id": "conv_1"}):
        assert sent_to_responses({"input": "a", "conversation": given}).session == "conv_1"


def test_the_clients_own_objects():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    whole = ChatCompletionMessage(role="assistant", tool_calls=[call])
    for message in (whole, {"role": "assistant", "tool_calls": whole.tool_calls}):
        (asked,) = sent_to_chat({"messages": [message]}).messages
        assert asked.tool_calls == (ToolCall("c1", "f", "{}"),)
        assert not asked.generated


def test_what_a_model_said_in_one_go_is_one_message():
    items = [
        {"role": "user", "content": "a"},
        ResponseReasoningItem(
            id="rs_1", type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]
        ),
        {"type": "message", "role": "assistant", "content": "let me look"},
        ResponseFunctionToolCall(
            type="function_call", call_id="c1", name="f", arguments='{"a": 1}'
        ),
        {"type": "item_reference", "id": "rs_9"},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "two"}],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]
    messages = sent_to_responses({"input": items}).messages
    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    asked = messages[1]
    assert asked.parts == (Reasoning("hm", "rs_1"), Text("let me look"))
    assert asked.tool_calls == (ToolCall("c1", "f", '{"a": 1}'), ToolCall("c2", "g", "{}"))
    assert [(m.tool_call_id, m.text) for m in messages[2:4]] == [("c1", "one"), ("c2", "two")]
    assert messages[4].text == "done"
    assert all(message.finish_reason is None for message in messages)


def test_images_and_files():
    content = [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "https://example.org/a.png", "detail": "low"},
        {"type": "input_image", "file_id": "file_1"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,"},
        {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    ]
    (message,) = sent_to_responses({"input": [{"role": "user", "content": content}]}).messages
    assert message.parts[:2] == (Text("see"), Image("https://example.org/a.png", "low"))
    assert [part.__struct_config__.tag for part in message.parts[2:]] == [
        "opaque",
        "file",
        "opaque",
    ]
    assert message.parts[3].name == "a.pdf"


def test_tools_are_schemas_and_hold_nothing_else():
    function = {"name": "f", "parameters": {"type": "object"}, "strict": True}
    custom = {"name": "sql", "description": "A query.", "format": {"type": "text"}}
    as_chat = (
        {"type": "function", "function": function},
        {"type": "custom", "custom": custom},
    )
    assert sent_to_chat({"messages": [], "tools": list(as_chat)}).tools == as_chat
    assert sent_to_chat({"messages": [], "functions": [function]}).tools == as_chat[:1]
    flat = [{"type": "function", **function}, {"type": "custom", **custom}]
    hosted = [{"type": "web_search", "user_location": "Turin"}, {"type": "mcp", "headers": "x"}]
    sent = sent_to_responses({"input": "a", "tools": [*flat, *hosted]})
    assert sent.tools == (*as_chat, {"type": "web_search"}, {"type": "mcp"})


def test_halves_of_surrogate_pairs():
    (message,) = sent_to_chat({"messages": [{"role": "user", "content": "a\ud800"}]}).messages
    assert message.text == "a\ufffd"
