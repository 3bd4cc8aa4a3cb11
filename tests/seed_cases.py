"""The case files, as the tests use them: messages with their index and their given cost."""

from __future__ import annotations

import json
from pathlib import Path

from chatmem_lab.messages import Conversation, Image, Message, SummaryOf, Text, ToolCall
from chatmem_lab.summarizers import Summary
from chatmem_lab.tokens import Count

CASES = Path(__file__).parent / "cases"


def seed_cases():
    return json.loads((CASES / "seed-cases.json").read_text())


def recorded_runs(name):
    lines = (CASES / f"{name}-runs.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def bug_cases():
    lines = (CASES / "bug-cases.jsonl").read_text().splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def case_message(case, index, cost=1):
    """A case's message, with its index and its cost as metadata."""
    content = case.get("content") or []
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    parts = [
        Text(part["text"]) if part["type"] == "text" else Image(part["image_url"]["url"])
        for part in content
    ]
    calls = tuple(
        ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"])
        for c in case.get("tool_calls") or ()
    )
    return Message(
        case["role"],
        tuple(parts),
        tool_calls=calls,
        tool_call_id=case.get("tool_call_id"),
        name=case.get("name"),
        summary=SummaryOf() if case.get("x_summary") else None,
        metadata={"index": index, "cost": cost},
    )


def case_messages(cases, costs=None):
    costs = costs or [1] * len(cases)
    return [case_message(case, i, cost) for i, (case, cost) in enumerate(zip(cases, costs))]


def indices(messages):
    return [message.metadata["index"] for message in messages]


def plain(messages):
    """What a case's own messages say, of ours."""
    return [
        {
            "role": m.role,
            "texts": [part.text for part in m.parts if isinstance(part, Text) if part.text],
            "images": [part.url for part in m.parts if isinstance(part, Image)],
            "calls": [(c.id, c.name, c.arguments) for c in m.tool_calls],
            "answers": m.tool_call_id,
            "summary": m.summary is not None,
        }
        for m in messages
    ]


class LabJoin:
    """The cases' own summarizer, in its four kinds; it remembers what it was asked."""

    def __init__(self, kind="lab_join", prefix=""):
        self.kind = kind
        self.prefix = prefix
        self.calls = []

    def summarize(self, request):
        self.calls.append(
            {
                "existing_summary": request.previous,
                "items": [m.metadata["index"] for m in request.messages],
            }
        )
        said = [request.previous] if request.previous is not None else []
        for message in request.messages:
            calls = "call:" + ",".join(call.name for call in message.tool_calls)
            said.append(f"{message.role}>{message.text if message.text.strip() else calls}")
        text = " ~ ".join(said)
        texts = {"lab_join": text, "prefixed": self.prefix + text, "blank": "  ", "none": None}
        return Summary(text=texts[self.kind])

    def __repr__(self):
        return f"LabJoin({self.kind!r})"

    def __deepcopy__(self, memo):
        return self


def conversation_of(messages):
    return Conversation("case", tuple(messages))


class GivenCosts:
    """A counter that takes each message's cost from the case."""

    name = "given costs"
    model = None

    def __init__(self, request_tokens=0):
        self.request_tokens = request_tokens

    def count_text(self, text):
        return Count(len(text))

    def count_message(self, message):
        return Count(message.metadata["cost"] if message.metadata else len(message.text))

    def count_messages(self, messages):
        return [self.count_message(message) for message in messages]

    def count_tools(self, tools):
        return Count(0)
