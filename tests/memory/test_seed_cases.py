"""What AI4J, LangChain4j, Spring AI and the book do: each case through its preset, live."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from chatmem_lab.errors import MessageError, PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.policies import Messages, presets
from seed_cases import (
    CASES,
    GivenCosts,
    LabJoin,
    bug_cases,
    case_messages,
    indices,
    plain,
    seed_cases,
)

LEFT_OUT = tomllib.loads((CASES / "left_out.toml").read_text())
SYSTEMS = ("ai4j", "ai4j-agent", "langchain4j", "spring-ai")
#: Where the other cases of this scope are tests.
ELSEWHERE = ("ai4j-project-", "ai4j-jdbc-", "lc4j-estimate-", "lc4j-redis-", "lc4j-service-")
NOT_BY_ADDING = {"lc4j-set-06", "spring-window-10", "doc-summarizing-01"}


def preset_of(system, policy, summarizer, limit):
    kind, params = policy["kind"], dict(policy["params"])
    if system == "spring-ai":
        return presets.spring_ai_message_window(params["max_messages"])
    if system == "langchain4j":
        build = getattr(presets, f"langchain4j_{kind}")
        return build(limit, keep_system_first=params.get("always_keep_system_first", False))
    if kind == "message_window":
        return presets.ai4j_message_window(params["max_messages"])
    if kind == "unbounded":
        return presets.ai4j_unbounded()
    if kind == "summary":
        return presets.ai4j_summary(
            summarizer,
            max_recent=params["max_recent"],
            trigger=params["trigger"],
            role=params.get("role", "assistant"),
            prefix=params.get("prefix", "Summary of earlier conversation:\n"),
            batch=params.get("batch", "each"),
        )
    if kind == "agent_llm_compact":
        return presets.ai4j_turn_compaction(summarizer, **params)
    names = {
        "agent_window": presets.ai4j_agent_window,
        "agent_unbounded": presets.ai4j_agent_unbounded,
        "context_projection": presets.ai4j_context_projection,
        "tool_result_compact": presets.ai4j_tool_result_stub,
    }
    return names[kind](**params)


def in_scope(case):
    left = {*LEFT_OUT["left_out"], *NOT_BY_ADDING}
    return case["id"] not in left and not case["id"].startswith(ELSEWHERE)


SCOPE = [case for case in seed_cases() if in_scope(case)]


class Played:
    """A case, played: a limit that changes is a function of the id."""

    def __init__(self, case):
        params = case["policy"]["params"]
        self.case = case
        self.limit = params.get("max_messages", params.get("max_tokens"))
        self.is_dynamic = any(op[0] == "set_limit" for op in case.get("ops") or ())
        self.summarizer = LabJoin(params.get("summarizer", "lab_join"), params.get("prefix", ""))
        self.messages = case_messages(case["messages"], params.get("message_costs"))
        if case.get("storage") == "jdbc":
            params = {**params, "batch": "once"}
        policy = {**case["policy"], "params": params}
        counter = GivenCosts(params.get("list_overhead", 0))
        self.memory = ChatMemory(self.preset(policy), id="case", counter=counter)
        self.stored, self.reads, self.snapshots = [], {}, {}
        for op in case.get("ops") or [("add", i) for i in range(len(self.messages))]:
            getattr(self, op[0])(*op[1:])
            positions = [placed.position for placed in self.memory.snapshot().window]
            history = self.memory.history
            self.stored.append([history[p].metadata["index"] for p in positions if p is not None])

    def preset(self, policy):
        limit = (lambda id: self.limit) if self.is_dynamic else self.limit
        return preset_of(self.case["system"], policy, self.summarizer, limit)

    def add(self, index):
        self.memory.add(self.messages[index])

    def add_all(self, chosen):
        self.memory.add_all([self.messages[i] for i in chosen])

    def set(self, chosen):
        self.memory.set([self.messages[i] for i in chosen])

    def clear(self):
        self.memory.clear()

    def set_policy(self, policy):
        params = policy["params"]
        self.summarizer = LabJoin(params.get("summarizer", "lab_join"), params.get("prefix", ""))
        self.memory.set_policy(self.preset(policy))

    def set_limit(self, limit):
        self.limit = limit

    def read(self, label):
        self.reads[label] = indices(self.memory.messages)

    def snapshot(self, name):
        self.snapshots[name] = self.memory.snapshot()

    def restore(self, name):
        self.memory.restore(self.snapshots[name])


def shown(memory, generated):
    """The window as a case has it: indices, and made messages as it writes them out."""
    made = 0
    entries = []
    for message in memory.messages:
        if message.metadata is None:
            entries.append(f"g{made}")
            made += 1
        else:
            entries.append(message.metadata["index"])
    assert made == len(generated)
    return entries


@pytest.mark.parametrize("case", SCOPE, ids=lambda case: case["id"])
def test_seed_case(case):
    expect = dict(case["expect"])
    if "error" in expect:
        wanted = {
            ">= 0": "at least 0",
            "system or assistant": "system or assistant",
            "summaryTriggerMessages must be >": "trigger must be >",
            "greater than 0": "at least 1",
            "maxMessages must be greater than zero": "max_messages must be .* greater than zero",
        }[expect["error"]["message_contains"]]
        with pytest.raises(PolicyError, match=wanted):
            Played(case)
        return
    played = Played(case)
    memory = played.memory
    indices_expected = expect.pop("indices", expect.pop("kept", None))
    if "summarised" in expect:
        assert memory.messages[0].role == "system"
        assert list(memory.messages[0].summary.covered) == expect.pop("summarised")
        indices_expected = ["g0", *indices_expected]
        expect["generated"] = [None]
    if indices_expected is not None:
        assert shown(memory, expect.get("generated", ())) == indices_expected
    check_more(case["id"], played, expect)
    assert not expect, f"not checked: {sorted(expect)}"


def check_more(id, played, expect):
    memory = played.memory
    if (messages := expect.pop("messages", None)) is not None:
        assert plain(memory.messages) == plain(case_messages(messages))
    if (generated := expect.pop("generated", [None])) != [None]:
        made = [message for message in memory.messages if message.metadata is None]
        assert plain(made) == plain(case_messages(generated))
    if (calls := expect.pop("summarizer_calls", None)) is not None:
        assert played.summarizer.calls == calls
    if (stored := expect.pop("stored_after_each_op", None)) is not None:
        assert played.stored == stored
    if (reads := expect.pop("reads", None)) is not None:
        assert played.reads == reads
    if (view := expect.pop("view", None)) is not None:
        assert [
            m.metadata["index"] if m.metadata else {"role": m.role, "content": m.text}
            for m in memory.messages
        ] == view
    if (stored := expect.pop("stored", None)) is not None:
        assert indices(memory.history) == stored
    if (snapshot := expect.pop("snapshot", None)) is not None:
        assert indices(memory.snapshot().messages) == snapshot["items"]
        assert snapshot["summary"] in memory.snapshot().policy
    if (unchanged := expect.pop("unchanged", None)) is not None:
        now = memory.messages
        assert [i for i, m in enumerate(now) if m == played.messages[i]] == unchanged
        for index in expect.pop("stubbed"):
            stub, before = now[index], played.messages[index]
            assert stub.tool_call_id == before.tool_call_id
            assert before.tool_call_id in stub.text
            assert before.text[:240] in stub.text
            assert stub.text != before.text
    if id == "lc4j-clear-01":
        # How often a store is called is a matter of the store's own adapter.
        assert expect.pop("store_ops") == {"get": 2, "update": 2, "delete": 1}


def test_lc4j_set_06_set_needs_messages_and_takes_an_empty_list():
    memory = ChatMemory(presets.langchain4j_message_window(3), id="case", counter=GivenCosts())
    memory.add_user("hi")
    with pytest.raises(TypeError):
        memory.set()
    with pytest.raises(MessageError, match="a list of messages is wanted"):
        memory.set(None)
    assert len(memory.messages) == 1
    memory.set([])
    assert memory.messages == ()


def test_spring_window_10_a_blank_id_is_refused():
    with pytest.raises(MessageError, match="an id is required"):
        ChatMemory(presets.spring_ai_message_window(5), id="")


def test_doc_summarizing_01():
    case = next(c for c in seed_cases() if c["id"] == "doc-summarizing-01")
    params, expect = case["policy"]["params"], case["expect"]
    messages = case_messages(case["messages"], params["message_costs"])

    class Costs(GivenCosts):
        def count_message(self, message):
            if message.metadata is None:
                return super().count_message(message)._replace(tokens=params["summary_cost"])
            return super().count_message(message)

    preset = presets.summarizing_token_window(
        LabJoin(), max_tokens=params["max_tokens"], keep=Messages(2)
    )
    memory = ChatMemory(preset, id="case", counter=Costs())
    summarized = []
    for message in messages:
        memory.add(message)
        summarized.append(memory.messages[0].summary is not None)
    assert summarized == expect["summarized_after"]
    assert memory.messages[0].role == "system"
    assert memory.messages[-1].metadata["index"] == expect["properties"]["last_kept"]
    assert memory.tokens <= expect["properties"]["total_at_most"]


def test_the_book_at_most_8_of_eleven_leave_nine():
    case = next(c for c in seed_cases() if c["id"] == "ai4j-window-02")
    memory = ChatMemory(presets.book_message_window(8), id="case", counter=GivenCosts())
    memory.add_all(case_messages(case["messages"]))
    assert indices(memory.messages) == [0, 3, 4, 5, 6, 7, 8, 9, 10]


def collected():
    """The names of all tests, as pytest finds them: a mention in a text is no test."""
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", Path(__file__).parents[1]],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition("::")[2] for line in found.stdout.lower().splitlines()]


def test_every_case_is_a_test_or_left_out_with_its_reason():
    cases = {case["id"] for case in seed_cases()}
    left, departs = LEFT_OUT["left_out"], LEFT_OUT["departs"]
    assert {*left, *departs} <= cases
    assert len(left) + len(departs) <= 10
    assert all(reason.strip() for reason in [*left.values(), *departs.values()])
    areas = {
        *("trim-tools", "trim-boundaries", "budget-loops", "summaries", "projections"),
        *("stores-keys", "stores-text", "stores-order"),
    }
    bugs = {case["id"] for case in bug_cases().values() if case["area"] in areas}
    tests = "\n".join(collected()).replace("-", "_")
    untested = {
        id for id in cases | bugs if not re.search(rf"{id.replace('-', '_')}(?!\d)", tests, re.I)
    }
    assert untested == set(left)
    assert all(f"test_{id.replace('-', '_')}_" in tests for id in departs)
