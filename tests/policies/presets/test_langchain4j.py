"""LangChain4j's windows against what LangChain4j itself returned, live and replayed."""

from __future__ import annotations

import pytest

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import assistant, system, user
from chatmem_lab.policies.presets import langchain4j_message_window, langchain4j_token_window
from chatmem_lab.policies.registry import parse_policy
from chatmem_lab.testing import LengthCounter
from seed_cases import GivenCosts, case_messages, conversation_of, indices, recorded_runs

RUNS = recorded_runs("langchain4j")


def preset_of(run, limit=None):
    build = {
        "message_window": langchain4j_message_window,
        "token_window": langchain4j_token_window,
    }[run["kind"]]
    return build(limit or run["max"], keep_system_first=run["system_first"])


def test_the_recorded_runs_are_all_there():
    assert len(RUNS) == 300
    assert {run["kind"] for run in RUNS} == {"message_window", "token_window"}
    assert {run["system_first"] for run in RUNS} == {True, False}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["id"])
def test_recorded_run(run):
    messages = case_messages(run["messages"], run.get("costs"))
    counter = GivenCosts(run.get("overhead", 0))
    memory = ChatMemory(preset_of(run), id=run["id"], counter=counter)
    dynamic = ChatMemory(
        preset_of(run, limit=lambda id: run["max"]), id=run["id"], counter=counter
    )
    views, dynamic_views = [], []
    for message in messages:
        memory.add(message)
        dynamic.add(message)
        views.append(indices(memory.messages))
        dynamic_views.append(indices(dynamic.messages))
    assert views == dynamic_views == run["views"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["id"])
def test_recorded_run_replayed(run):
    """Each beginning of the conversation is replayed; what is left at its end is held."""
    messages = case_messages(run["messages"], run.get("costs"))
    counter = GivenCosts(run.get("overhead", 0))
    for end in range(1, len(messages) + 1, 5):
        layout = Layout(conversation_of(messages[:end]), counter)
        trace = replay_stepwise(layout, preset_of(run), model=None)
        assert indices(trace.window(-1).messages) == run["views"][end - 1]


def texts(messages):
    return [message.text for message in messages]


def test_a_limit_that_depends_on_the_id():
    limits = {"ann": 1, "bo": 3}
    preset = langchain4j_message_window(limits.__getitem__)
    for id, limit in limits.items():
        memory = ChatMemory(preset, id=id, counter=LengthCounter())
        memory.add_all([user("a"), user("b"), user("c"), user("d")])
        assert len(memory.messages) == limit


@pytest.mark.parametrize("limit", [0, -3, None, 2.5, True, "4"])
def test_a_limit_that_is_none_is_refused_at_every_addition_and_read(limit):
    wanted = "LangChain4jMessageWindow: max_messages must be a whole number greater than zero"
    limits = {"now": 2}
    memory = ChatMemory(
        langchain4j_message_window(lambda id: limits["now"]), id="x", counter=LengthCounter()
    )
    memory.add_user("a")
    limits["now"] = limit
    with pytest.raises(PolicyError, match=wanted):
        _ = memory.messages
    with pytest.raises(PolicyError, match=wanted):
        memory.add_user("b")
    limits["now"] = 2
    assert texts(memory.history) == ["a"]
    if limit is not None:
        with pytest.raises(PolicyError, match=wanted):
            langchain4j_message_window(limit)


def test_the_request_after_a_user_message_as_ai_services_send_it():
    """Cases lc4j-service-01 and -02, as far as the memory goes: limit + 1, then trimmed."""
    memory = ChatMemory(
        langchain4j_message_window(2, first_request="untrimmed"), id="x", counter=LengthCounter()
    )
    memory.add_user("q1")
    assert texts(memory.request()) == ["q1"]
    memory.add_assistant("a1")
    memory.add_user("q2")
    assert texts(memory.request()) == ["q1", "a1", "q2"]
    assert texts(memory.messages) == ["a1", "q2"]
    memory.add_assistant("a2")
    assert texts(memory.request()) == texts(memory.messages) == ["q2", "a2"]


def test_a_replay_shows_what_ai_services_sent():
    said = [user("q1"), assistant("a1"), user("q2"), assistant("a2"), user("q3"), assistant("a3")]
    layout = Layout(conversation_of(said), LengthCounter())
    trimmed, untrimmed = (
        replay_stepwise(layout, langchain4j_message_window(2, first_request=first), model=None)
        for first in ("window", "untrimmed")
    )
    assert [texts(trimmed.window(r).messages) for r in range(3)] == [
        ["q1"],
        ["a1", "q2"],
        ["a2", "q3"],
    ]
    assert [texts(untrimmed.window(r).messages) for r in range(3)] == [
        ["q1"],
        ["q1", "a1", "q2"],
        ["q2", "a2", "q3"],
    ]
    assert texts(untrimmed.window(-1).messages) == ["q3", "a3"]


def test_a_new_system_message_goes_to_the_end_or_to_the_front():
    for first, expected in ((False, ["hi", "B"]), (True, ["B", "hi"])):
        memory = ChatMemory(
            langchain4j_message_window(5, keep_system_first=first), id="x", counter=LengthCounter()
        )
        memory.add_all([system("A"), user("hi"), system("B")])
        assert texts(memory.messages) == expected


@pytest.mark.parametrize("preset", [langchain4j_message_window, langchain4j_token_window])
@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_keep_system_first_is_true_or_false(preset, wrong):
    with pytest.raises(PolicyError) as error:
        preset(3, keep_system_first=wrong)
    assert str(error.value) == (
        f"{preset.__name__}: keep_system_first must be True or False, not {wrong!r}"
    )


def test_its_recipe_is_the_call():
    assert repr(langchain4j_token_window(8_000)) == "langchain4j_token_window(8_000)"
    recipe = "langchain4j-message-window:9,keep_system_first=true,first_request=untrimmed"
    assert repr(parse_policy(recipe)) == (
        "langchain4j_message_window(9, keep_system_first=True, first_request='untrimmed')"
    )
