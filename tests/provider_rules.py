"""What the three APIs refuse, written down from their rules: an independent judge of projections.

`chat_faults`, `responses_faults` and `anthropic_faults` give one sentence per fault, and an
empty list for what would be accepted. Shapes first; pairing and order only where they hold.

A shape is a type, a pattern (a text that it matches whole), a set (one of these values), a
tuple (one of these shapes), a list of one shape (at least one of it), `EMPTY`, a dict (an object
with these keys, `?` marks an optional one) or `Tagged` (objects told apart by their `type`).
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from types import NoneType


class Tagged(dict):
    pass


EMPTY = []
SAID = re.compile(r"(?s).*\S.*")
FILLED = re.compile(r"(?s).+")
SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}")
FUNCTION = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ADDRESS = re.compile(r"https?://\S+|data:[a-z]+/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+=*")
BASE64 = re.compile(r"[A-Za-z0-9+/]+=*")

CHAT_TEXT = Tagged(text={"text": FILLED})
CHAT_SEEN = Tagged(
    CHAT_TEXT,
    image_url={"image_url": {"url": ADDRESS, "detail?": {"auto", "low", "high", "original"}}},
    input_audio={"input_audio": {"data": BASE64, "format": {"wav", "mp3"}}},
    file={"file": ({"file_id": FILLED, "filename?": str}, {"file_data": str, "filename?": str})},
)
CHAT_CALL = {
    "type": {"function"},
    "id": FILLED,
    "function": {"name": FUNCTION, "arguments": str},
}
CHAT_INSTRUCTION = {
    "role": {"system", "developer"},
    "content": (SAID, [CHAT_TEXT]),
    "name?": SPEAKER,
}
CHAT = {
    "system": CHAT_INSTRUCTION,
    "developer": CHAT_INSTRUCTION,
    "user": {"role": {"user"}, "content": (SAID, [CHAT_SEEN]), "name?": SPEAKER},
    "assistant": {
        "role": {"assistant"},
        "content?": (str, NoneType, [Tagged(CHAT_TEXT, refusal={"refusal": FILLED})]),
        "refusal?": (SAID, NoneType),
        "tool_calls?": [CHAT_CALL],
        "name?": SPEAKER,
    },
    "tool": {"role": {"tool"}, "content": (str, [CHAT_TEXT]), "tool_call_id": FILLED},
}

RESPONSES_IMAGE = {"image_url": ADDRESS, "detail": {"auto", "low", "high", "original"}}
RESPONSES_FILE = (
    {"file_id": FILLED},
    {"file_url": ADDRESS, "filename?": str},
    {"file_data": FILLED, "filename?": str},
)
RESPONSES_SEEN = Tagged(
    input_text={"text": FILLED}, input_image=RESPONSES_IMAGE, input_file=RESPONSES_FILE
)
RESPONSES_MESSAGE = (
    {
        "role": {"system", "developer"},
        "content": [Tagged(input_text={"text": FILLED})],
    },
    {"role": {"user"}, "content": [RESPONSES_SEEN]},
    {
        "role": {"assistant"},
        "content": [
            Tagged(output_text={"text": FILLED, "annotations": list}, refusal={"refusal": FILLED})
        ],
        "status": {"completed", "incomplete"},
        "id?": re.compile("msg_.+"),
        "phase?": {"commentary", "final_answer"},
    },
)
RESPONSES_ITEM = Tagged(
    message=RESPONSES_MESSAGE,
    function_call={
        "call_id": re.compile("(?s).{1,64}"),
        "name": FUNCTION,
        "arguments": str,
        "id?": re.compile("fc_.+"),
    },
    function_call_output={"call_id": FILLED, "output": (str, [RESPONSES_SEEN])},
    reasoning={
        "summary": ([Tagged(summary_text={"text": FILLED})], EMPTY),
        "encrypted_content?": FILLED,
        "id?": re.compile("rs_.+"),
    },
)

PICTURE = {"image/jpeg", "image/png", "image/gif", "image/webp"}
WEB_SOURCE = {"url": re.compile(r"https?://\S+")}
ANTHROPIC_SHOWN = Tagged(
    text={"text": SAID},
    image={
        "source": Tagged(url=WEB_SOURCE, base64={"media_type": PICTURE, "data": BASE64}),
    },
    document={
        "source": Tagged(
            url=WEB_SOURCE,
            base64={"media_type": {"application/pdf"}, "data": BASE64},
            text={"media_type": {"text/plain"}, "data": FILLED},
            file={"file_id": FILLED},
        ),
        "title?": FILLED,
    },
)
ANTHROPIC_ID = re.compile("[a-zA-Z0-9_-]+")
ANTHROPIC_MESSAGE = (
    {
        "role": {"user"},
        "content": [
            Tagged(
                ANTHROPIC_SHOWN,
                tool_result={
                    "tool_use_id": ANTHROPIC_ID,
                    "content?": (str, [ANTHROPIC_SHOWN]),
                    "is_error?": bool,
                },
            )
        ],
    },
    {
        "role": {"assistant"},
        "content": [
            Tagged(
                text={"text": SAID},
                thinking={"thinking": str, "signature": FILLED},
                tool_use={
                    "id": ANTHROPIC_ID,
                    "name": re.compile("[a-zA-Z0-9_-]{1,128}"),
                    "input": dict,
                },
            )
        ],
    },
)
ANTHROPIC = {"system?": SAID, "messages": [ANTHROPIC_MESSAGE]}


def shape_faults(value, shape, where):
    if isinstance(shape, Tagged):
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in shape:
            return [f"{where}: type {kind!r} where {', '.join(shape)} may stand"]
        return shape_faults({k: v for k, v in value.items() if k != "type"}, shape[kind], where)
    if isinstance(shape, dict):
        return object_faults(value, shape, where)
    if isinstance(shape, tuple):
        tries = [shape_faults(value, one, where) for one in shape]
        return [] if [] in tries else [fault for faults in tries for fault in faults]
    if shape == EMPTY:
        return [] if value == EMPTY else [f"{where}: {value!r} is no empty list"]
    if isinstance(shape, list):
        if not isinstance(value, list) or not value:
            return [f"{where}: {value!r} is no list with something in it"]
        places = [f"{where}[{index}]" for index in range(len(value))]
        return [f for one, at in zip(value, places) for f in shape_faults(one, shape[0], at)]
    if isinstance(shape, set):
        fits = isinstance(value, str) and value in shape
    elif isinstance(shape, re.Pattern):
        fits = isinstance(value, str) and shape.fullmatch(value) is not None
    else:
        fits = isinstance(value, shape)
    return [] if fits else [f"{where}: {value!r} is not {shape}"]


def object_faults(value, shape, where):
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no object"]
    shapes = {name.removesuffix("?"): one for name, one in shape.items()}
    faults = [f"{where}: unknown key {name!r}" for name in value if name not in shapes]
    needed = [name for name in shape if not name.endswith("?")]
    faults += [f"{where}: {name} is missing" for name in needed if name not in value]
    for name in value:
        if name in shapes:
            faults += shape_faults(value[name], shapes[name], f"{where}.{name}")
    return faults


def wire_faults(value):
    """What JSON over HTTP cannot carry."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        return [f"not sendable: {error}"]
    return []


class Calls:
    """The open calls of one group, by their place."""

    def __init__(self):
        self.open = []
        self.answered = []

    def answer(self, call_id, where):
        if call_id in self.open:
            self.open.remove(call_id)
            self.answered.append(call_id)
            return []
        again = "a second result for" if call_id in self.answered else "no open call"
        return [f"{where}: {again} {call_id!r}"]

    def close(self, where):
        faults = [f"{where}: call {call_id!r} has no result before it" for call_id in self.open]
        self.open, self.answered = [], []
        return faults

    def call(self, call_id, where):
        repeated = call_id in self.open or call_id in self.answered
        self.open.append(call_id)
        return [f"{where}: call id {call_id!r} twice in one group"] if repeated else []


def chat_faults(messages):
    faults = wire_faults(messages)
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in CHAT:
            faults.append(f"{where}: role {role!r}")
        else:
            faults += shape_faults(message, CHAT[role], where)
    return faults or [*chat_order_faults(messages), *chat_pairing_faults(messages)]


def chat_order_faults(messages):
    faults = []
    spoken = False
    for index, message in enumerate(messages):
        instruction = message["role"] in ("system", "developer")
        if instruction and spoken:
            faults.append(f"messages[{index}]: {message['role']} after other messages")
        spoken = spoken or not instruction
        if message["role"] == "assistant" and not says_something(message):
            faults.append(f"messages[{index}]: says nothing")
    return faults


def says_something(message):
    content = message.get("content")
    return bool(
        message.get("tool_calls")
        or message.get("refusal")
        or (content.strip() if isinstance(content, str) else content)
    )


def chat_pairing_faults(messages):
    faults = []
    calls = Calls()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if message["role"] == "tool":
            faults += calls.answer(message["tool_call_id"], where)
        else:
            faults += calls.close(where)
            for call in message.get("tool_calls", ()):
                faults += calls.call(call["id"], where)
    return faults + calls.close("end")


def responses_faults(items):
    faults = wire_faults(items)
    for index, item in enumerate(items):
        faults += shape_faults(item, RESPONSES_ITEM, f"items[{index}]")
    return faults or [
        *responses_order_faults(items),
        *responses_pairing_faults(items),
        *repeated_ids(items),
    ]


def responses_order_faults(items):
    faults = []
    spoken = False
    for index, (item, after) in enumerate(zip(items, [*items[1:], {}])):
        instruction = item.get("role") in ("system", "developer")
        if instruction and spoken:
            faults.append(f"items[{index}]: {item['role']} after other items")
        spoken = spoken or not instruction
        if item["type"] == "reasoning" and not may_follow_reasoning(after):
            faults.append(f"items[{index}]: reasoning without the item after it")
    return faults


def may_follow_reasoning(item):
    return item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning")


def responses_pairing_faults(items):
    """Stricter than the API in one point: a result stands before the next message."""
    faults = []
    calls = Calls()
    answering = False
    for index, item in enumerate(items):
        where = f"items[{index}]"
        if item["type"] == "function_call_output":
            faults += calls.answer(item["call_id"], where)
        elif item["type"] == "message" or answering:
            faults += calls.close(where)
        if item["type"] == "function_call":
            faults += calls.call(item["call_id"], where)
        answering = item["type"] == "function_call_output"
    return faults + calls.close("end")


def repeated_ids(items):
    ids = [item["id"] for item in items if "id" in item]
    return [f"id {one!r} twice" for one in sorted(set(ids)) if ids.count(one) > 1]


def anthropic_faults(body):
    faults = wire_faults(body) + shape_faults(body, ANTHROPIC, "body")
    if faults:
        return faults
    return [
        *anthropic_order_faults(body["messages"]),
        *anthropic_pairing_faults(body["messages"]),
    ]


def anthropic_order_faults(messages):
    faults = []
    if messages[0]["role"] != "user":
        faults.append("messages[0]: not the user's")
    for index, (before, message) in enumerate(pairwise(messages), start=1):
        if before["role"] == message["role"]:
            faults.append(f"messages[{index}]: {message['role']} twice in a row")
    for index, message in enumerate(messages):
        kinds = [block["type"] for block in message["content"]]
        if kinds[-1] == "thinking":
            faults.append(f"messages[{index}]: ends with thinking")
        faults += [f"messages[{index}]: {fault}" for fault in error_faults(message["content"])]
        results = kinds.count("tool_result")
        if "tool_result" in kinds[results:]:
            faults.append(f"messages[{index}]: a tool_result behind other blocks")
    return faults


def error_faults(blocks):
    """A result that reports an error says what, in text only."""
    faults = []
    for block in blocks:
        if block.get("is_error"):
            content = block.get("content")
            if not content or (isinstance(content, str) and not content.strip()):
                faults.append("an error that says nothing")
            elif isinstance(content, list) and {part["type"] for part in content} != {"text"}:
                faults.append("an error with more than text")
    return faults


def anthropic_pairing_faults(messages):
    faults = []
    used = []
    calls = Calls()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        for block in message["content"]:
            if block["type"] == "tool_result":
                faults += calls.answer(block["tool_use_id"], where)
        faults += calls.close(where)
        for block in message["content"]:
            if block["type"] == "tool_use":
                if block["id"] in used:
                    faults.append(f"{where}: tool_use id {block['id']!r} is not unique")
                used.append(block["id"])
                calls.open.append(block["id"])
    return faults + calls.close("end")
