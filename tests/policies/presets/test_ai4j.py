"""AI4J's windows and summaries against what AI4J itself returned, live and replayed."""

from __future__ import annotations

import pytest

from chatmem_lab.engine import Layout, replay_stepwise
from chatmem_lab.errors import PolicyError
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.policies.presets import ai4j_message_window, ai4j_summary, ai4j_unbounded
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter
from seed_cases import GivenCosts, LabJoin, case_messages, conversation_of, recorded_runs

RUNS = recorded_runs("ai4j")


def preset_of(run, summarizer):
    if run["kind"] == "message_window":
        return ai4j_message_window(run["max"])
    return ai4j_summary(
        summarizer,
        max_recent=run["recent"],
        trigger=run["trigger"],
        role=run["summary_role"],
        prefix="S:\n",
    )


def view(messages):
    return [
        m.metadata["index"] if m.metadata else {"summary": m.text, "role": m.role}
        for m in messages
    ]


def test_the_recorded_runs_are_all_there():
    assert sum(run["kind"] == "summary" for run in RUNS) == 128
    assert sum(run["kind"] == "message_window" for run in RUNS) == 72


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["id"])
def test_recorded_run(run):
    summarizer = LabJoin()
    memory = ChatMemory(preset_of(run, summarizer), id=run["id"], counter=GivenCosts())
    views = []
    for message in case_messages(run["messages"]):
        memory.add(message)
        views.append(view(memory.messages))
    assert views == run["views"]
    assert len(summarizer.calls) == run.get("summarizer_calls", 0)


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["id"])
def test_recorded_run_replayed(run):
    messages = case_messages(run["messages"])
    for end in range(1, len(messages) + 1, 5):
        layout = Layout(conversation_of(messages[:end]), GivenCosts())
        trace = replay_stepwise(layout, preset_of(run, LabJoin()), model=None)
        assert view(trace.window(-1).messages) == run["views"][end - 1]


def test_a_summarizer_that_raises_changes_nothing_and_is_asked_at_the_next_message():
    asked = []

    def fail(request):
        asked.append(len(request.messages))
        raise TimeoutError

    preset = ai4j_summary(summarizer_from(fail), max_recent=1, trigger=2)
    memory = ChatMemory(preset, id="x", counter=LengthCounter())
    memory.add_all([user("a"), user("b"), user("c"), user("d")])
    assert [m.text for m in memory.messages] == ["a", "b", "c", "d"]
    assert asked == [2, 3]
    assert [e.kind for e in memory.events] == ["summarize_failed"] * 2


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"trigger": 5, "max_recent": 5}, "trigger must be > max_recent, 5, not 5"),
        ({"trigger": 5, "max_recent": -1}, "max_recent must be .*at least 0, not -1"),
        ({"role": "user"}, "role must be system or assistant, not 'user'"),
        ({"batch": "twice"}, "batch must be one of each, once, not 'twice'"),
    ],
)
def test_parameters_outside_their_bounds(parameters, wanted):
    with pytest.raises(PolicyError, match=wanted):
        ai4j_summary(LabJoin(), **parameters)
    with pytest.raises(PolicyError, match="summarizer must have a method summarize"):
        ai4j_summary(len)


def test_unbounded_ignores_blank_items_and_keeps_all_else():
    memory = ChatMemory(ai4j_unbounded(), id="x", counter=LengthCounter())
    memory.add_user("  ", images=["", "  "])
    memory.add_tool_output("nobody's", "")
    memory.add_system("A")
    memory.add_system("A")
    assert [(m.role, m.text) for m in memory.messages] == [
        ("tool", ""),
        ("system", "A"),
        ("system", "A"),
    ]
    assert len(memory.history) == 3
