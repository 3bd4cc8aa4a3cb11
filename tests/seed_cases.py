"""The case files, as the tests use them: messages with their index and their given cost."""

from __future__ import annotations

import json
from pathlib import Path

from chatmem_lab.messages import Conversation, Image, Message, SummaryOf, Text, ToolCall
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
    parts = [Text(case["content"])] if case.get("content") else []
    parts += [Image(url) for url in case.get("image_urls") or () if url.strip()]
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
