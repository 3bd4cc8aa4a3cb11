"""Presets against what AI4J and LangChain4j really do, live and replayed, at every step."""

from __future__ import annotations

import pytest

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.policies import KeepAll, Preset, chain
from chatmem_lab.policies.presets import (
    ai4j_message_window,
    langchain4j_message_window,
    langchain4j_token_window,
)
from seed_cases import (
    GivenCosts,
    case_messages,
    conversation_of,
    indices,
    recorded_runs,
    seed_cases,
)


def preset_of(system, kind, params):
    first = bool(params.get("always_keep_system_first", params.get("system_first", False)))
    limit = params.get("max_messages", params.get("max_tokens", params.get("max")))
    if system == "ai4j":
        return ai4j_message_window(limit)
    if kind == "token_window":
        return langchain4j_token_window(limit, keep_system_first=first)
    return langchain4j_message_window(limit, keep_system_first=first)


def in_scope(case):
    ops = {op[0] for op in case.get("ops") or ()}
    return (
        case["system"] in ("ai4j", "langchain4j")
        and case["policy"]["kind"] in ("message_window", "token_window")
        and ops <= {"add", "add_all"}
        and "store" not in case["policy"]["params"]
        and "wiring" not in case["policy"]["params"]
        and case["id"] != "lc4j-set-06"  # an error of `set`, which is no addition
    )


CASES = [case for case in seed_cases() if in_scope(case)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_seed_case(case):
    policy, expect = case["policy"], case["expect"]
    params = policy["params"]
    if "error" in expect:
        with pytest.raises(PolicyError, match=r"max_messages must be"):
            preset_of(case["system"], policy["kind"], params)
        return
    messages = case_messages(case["messages"], params.get("message_costs"))
    preset = preset_of(case["system"], policy["kind"], params)
    counter = GivenCosts(params.get("list_overhead", 0))
    memory = ChatMemory(preset, id="case", counter=counter)
    after_each = []
    for operation, argument in case.get("ops") or [("add", i) for i in range(len(messages))]:
        if operation == "add":
            memory.add(messages[argument])
        else:
            memory.add_all(messages[i] for i in argument)
        after_each.append(indices(memory.messages))
    assert indices(memory.messages) == expect["indices"]
    if "stored_after_each_op" in expect:
        assert after_each == expect["stored_after_each_op"]
    if "messages" in expect:
        assert [m.text for m in memory.messages] == [
            m.get("content") or "" for m in expect["messages"]
        ]
    replayed = replay_stepwise(Layout(conversation_of(messages), counter), preset, model=None)
    assert indices(replayed.window(-1).messages) == expect["indices"]


def test_the_cases_of_this_scope_are_all_there():
    assert len(CASES) == 7 + 17 + 11


def runs():
    for run in recorded_runs("langchain4j"):
        yield "langchain4j", run
    for run in recorded_runs("ai4j"):
        if run["kind"] == "message_window":
            yield "ai4j", run


RUNS = list(runs())


def test_the_recorded_runs_are_all_there():
    assert len(RUNS) == 300 + 72


@pytest.mark.parametrize(("system", "run"), RUNS, ids=[run["id"] for _, run in RUNS])
def test_recorded_run(system, run):
    messages = case_messages(run["messages"], run.get("costs"))
    preset = preset_of(system, run["kind"], run)
    counter = GivenCosts(run.get("overhead", 0))
    memory = ChatMemory(preset, id=run["id"], counter=counter)
    views = []
    for message in messages:
        memory.add(message)
        views.append(indices(memory.messages))
    assert views == run["views"]


@pytest.mark.parametrize(("system", "run"), RUNS, ids=[run["id"] for _, run in RUNS])
def test_recorded_run_replayed(system, run):
    """Every message is made a request point by a reply that is cut off again."""
    messages = case_messages(run["messages"], run.get("costs"))
    preset = preset_of(system, run["kind"], run)
    counter = GivenCosts(run.get("overhead", 0))
    for end in range(1, len(messages) + 1, 5):
        trace = replay_stepwise(
            Layout(conversation_of(messages[:end]), counter), preset, model=None
        )
        assert indices(trace.window(-1).messages) == run["views"][end - 1]


@pytest.mark.parametrize("preset", [langchain4j_message_window, langchain4j_token_window])
@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_keep_system_first_is_true_or_false(preset, wrong):
    with pytest.raises(PolicyError) as error:
        preset(3, keep_system_first=wrong)
    assert str(error.value) == (
        f"{preset.__name__}: keep_system_first must be True or False, not {wrong!r}"
    )


def test_a_presets_name_is_a_str():
    with pytest.raises(PolicyError, match="Preset: name must be a str, not 5"):
        Preset(KeepAll(), name=5)


@pytest.mark.parametrize(
    "build",
    [
        lambda: KeepAll() | ai4j_message_window(8),
        lambda: ai4j_message_window(8) | KeepAll(),
        lambda: ai4j_message_window(8) | ai4j_message_window(8),
        lambda: chain(KeepAll(), ai4j_message_window(8)),
    ],
)
def test_a_preset_stands_alone(build):
    with pytest.raises(PolicyError, match="a preset stands alone") as error:
        build()
    assert "ai4j_message_window(8)" in str(error.value)
    assert "policy_from" not in str(error.value)
