"""AI4J's form of Responses, from its own cases."""

from __future__ import annotations

import pytest

from chatmem_lab.messages import Image, Message, Text, assistant, tool_output, user
from chatmem_lab.projections import to_responses
from seed_cases import case_messages, seed_cases

SEEDS = {case["id"]: case for case in seed_cases()}


@pytest.mark.parametrize("case", ["ai4j-project-03", "ai4j-project-06", "ai4j-project-07"])
def test_ai4j_responses_projection(case):
    sent = to_responses(case_messages(SEEDS[case]["messages"]), style="ai4j")
    assert sent == SEEDS[case]["expect"]["responses"]
    assert sent.repairs == ()


def test_an_image_address_is_an_object():
    url = "https://img.example/1.png"
    assert to_responses(user("look", images=[url]), style="ai4j") == [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": {"url": url}},
            ],
        }
    ]
    only_image = Message("user", (Text(" "), Image(url)))
    content = [{"type": "input_image", "image_url": {"url": url}}]
    assert to_responses(only_image, style="ai4j")[0]["content"] == content


def test_what_is_there_is_sent_in_its_place():
    messages = [tool_output("c9", ""), assistant("a"), Message("system", (Text("late"),))]
    assert [
        item.get("call_id", item.get("role")) for item in to_responses(messages, style="ai4j")
    ] == [
        "c9",
        "assistant",
        "system",
    ]
