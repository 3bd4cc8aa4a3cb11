"""What needs no framework: items and messages, and the error where it is missing."""

from __future__ import annotations

import importlib.util

import pytest

from chatmem_lab.adapters import OpenAIAgentsSessionLimit
from chatmem_lab.adapters.openai_agents import _items, _reply, _traced
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import ToolCall, assistant, system, tool_output, user

LOOK = ToolCall("c1", "look", '{"at": "sky"}')
READ = ToolCall("c2", "read", "{}")
MESSAGES = [
    system("S"),
    user("q"),
    assistant("I look.", tool_calls=[LOOK, READ]),
    tool_output("c1", "blue"),
    tool_output("c2", "a book"),
    assistant("Done."),
]


def test_a_text_each_call_and_each_result_are_items():
    assert [_items(message) for message in MESSAGES[1:4]] == [
        [{"role": "user", "content": "q"}],
        [
            {"role": "assistant", "content": "I look."},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "look",
                "arguments": '{"at": "sky"}',
            },
            {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{}"},
        ],
        [{"type": "function_call_output", "call_id": "c1", "output": "blue"}],
    ]


def asked():
    return [item for message in MESSAGES[1:] for item in _items(message)]


def test_what_comes_back_whole_is_the_message_itself():
    traced = _traced(asked(), MESSAGES)
    assert [at for at, _ in traced] == [1, 2, 3, 4, 5]
    assert all(message is MESSAGES[at] for at, message in traced)


def test_what_comes_back_in_part_is_what_is_left_of_it():
    items = asked()
    without_a_call = [*items[:2], *items[3:4], *items[5:]]
    at, left = _traced(without_a_call, MESSAGES)[1]
    assert (at, left) == (2, assistant("I look.", tool_calls=[READ]))


def test_a_shortened_result_and_a_made_item_are_seen():
    items = asked()
    items[4] = {**items[4], "output": "bl…"}
    made = {"type": "compaction", "id": "cmp", "encrypted_content": "before"}
    traced = _traced([made, *items], MESSAGES)
    assert traced[0] == (None, assistant("before"))
    assert traced[3] == (3, tool_output("c1", "bl…"))


@pytest.mark.parametrize(
    ("new", "results"),
    [
        (MESSAGES[2:5], MESSAGES[3:5]),
        (MESSAGES[5:], []),
        (MESSAGES[2:4], None),
        ([*MESSAGES[2:5], tool_output("c9", "nobody's")], None),
    ],
)
def test_a_run_goes_on_where_all_calls_are_answered(new, results):
    assert _reply(new)[1] == results


@pytest.mark.skipif(
    importlib.util.find_spec("agents") is not None, reason="openai-agents is installed here"
)
def test_without_the_framework_the_error_says_how_to_get_it():
    with pytest.raises(PolicyError, match=r'pip install "chatmem-lab\[openai-agents\]"'):
        OpenAIAgentsSessionLimit(3).begin(None)
