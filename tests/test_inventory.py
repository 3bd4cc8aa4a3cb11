"""The inventory: every reader, policy, preset, chart, widget and command, on real data.

Each entry is run on a recorded conversation of tau-bench or SWE-agent, and what it gives is
held against a result that this file works out from the raw file, or that the naive reference
does: never by the code under test.
"""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import chatmem_lab as cml
import naive_reference as naive
from chatmem_lab import charts, widgets
from chatmem_lab.cli import app
from chatmem_lab.policies.registry import policies_by_name, presets_by_name
from chatmem_lab.summarizers import Truncate, summarizer_from
from chatmem_lab.testing import LengthCounter


@pytest.fixture(scope="module")
def raw(transcripts):
    """The fourth run of tau-bench as plain JSON: 62 messages, 20 of them with calls."""
    runs = json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_text())
    return runs[3]["traj"]


@pytest.fixture(scope="module")
def conversation(raw, tmp_path_factory):
    path = tmp_path_factory.mktemp("inventory") / "run.json"
    path.write_text(json.dumps(raw))
    return cml.read(path)[0]


def plain(messages):
    """What is sent, from our messages, in the words of the raw file."""
    return [
        {
            "role": m.role,
            "content": m.text or None,
            "calls": [(c.id, c.name, c.arguments) for c in m.tool_calls],
            "answers": m.tool_call_id,
        }
        for m in messages
    ]


def plain_raw(messages):
    return [
        {
            "role": m["role"],
            "content": m.get("content") or None,
            "calls": [
                (c["id"], c["function"]["name"], c["function"]["arguments"])
                for c in m.get("tool_calls") or ()
            ],
            "answers": m.get("tool_call_id"),
        }
        for m in messages
    ]


# --- readers


def read_openai_messages(raw, conversation, tmp_path, transcripts):
    assert plain(conversation.messages) == plain_raw(raw)


def read_openai_lines_by_message(raw, conversation, tmp_path, transcripts):
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(json.dumps(m) for m in raw) + "\n")
    assert plain(cml.read(path)[0].messages) == plain_raw(raw)


def read_openai_lines_by_conversation(raw, conversation, tmp_path, transcripts):
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps({"messages": raw[:n]}) + "\n" for n in (10, 20)))
    read = cml.read(path)
    assert [plain(c.messages) for c in read] == [plain_raw(raw[:10]), plain_raw(raw[:20])]


def read_tau_bench(raw, conversation, tmp_path, transcripts):
    path = transcripts / "tau-bench" / "gpt-4o-airline.json"
    runs = json.loads(path.read_text())
    read = cml.read(path)
    assert [plain(c.messages) for c in read] == [plain_raw(run["traj"]) for run in runs]
    assert [c.metadata["reward"] for c in read] == [run["reward"] for run in runs]


def read_swe_agent(raw, conversation, tmp_path, transcripts):
    files = sorted((transcripts / "swe-agent").glob("*.traj"))
    assert len(files) == 8
    for path in files:
        history = json.loads(path.read_text())["history"]
        read = cml.read(path)
        assert sum(map(len, read)) == len(history)
        assert sorted(m.role for c in read for m in c.messages) == sorted(
            m["role"] for m in history
        )


def read_own(raw, conversation, tmp_path, transcripts):
    path = cml.write([conversation], tmp_path / "own.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [lines[0]["format"], len(lines)] == [1, 1 + len(raw)]
    assert [line["role"] for line in lines[1:]] == [m["role"] for m in raw]
    assert cml.read(path)[0] == conversation


# --- policies: the windows of the naive reference at every request


def same_windows(conversation, policy, naive_policies):
    counter = LengthCounter()
    reference = naive.Reference(counter, (), naive_policies, pin_user=policy.pins_user)
    run = cml.replay(conversation, policy, counter=counter)
    request = 0
    for position, message in enumerate(conversation.messages):
        if position in conversation.requests:
            shown = [naive.sent(m) for m in run.window(request).messages]
            assert shown == [naive.sent(e["message"]) for e in reference.window]
            assert run.requests["input_tokens"][request] == reference.total()
            request += 1
        reference.add(message)
    assert request == len(run.requests) > 20
    return run


def keep_all(raw, conversation, tmp_path, transcripts):
    run = same_windows(conversation, cml.KeepAll(), [])
    assert len(run.final) == len(raw)


def message_window(raw, conversation, tmp_path, transcripts):
    policy = cml.MessageWindow()
    run = same_windows(
        conversation, policy, [naive.window_policy(naive.messages_held(), policy.max_messages)]
    )
    assert run.requests["evicted_messages"].sum() > 0


def token_window(raw, conversation, tmp_path, transcripts):
    naive_policy = naive.window_policy(naive.tokens_held, 12_000, 9_000)
    run = same_windows(conversation, cml.TokenWindow(12_000, low=9_000), [naive_policy])
    assert run.requests["evicted_messages"].sum() > 0


def turn_window(raw, conversation, tmp_path, transcripts):
    run = same_windows(conversation, cml.TurnWindow(4), [naive.turn_policy(4)])
    assert run.requests["evicted_messages"].sum() > 0


def clear_tool_results(raw, conversation, tmp_path, transcripts):
    naive_policy = naive.clearing_policy(3, "[cleared]")
    run = same_windows(conversation, cml.ClearToolResults(), [naive_policy])
    assert (run.map["state"] == "cleared").any()


def roles_of(messages):
    return "roles: " + ",".join(message.role[0] for message in messages)


def naive_roles(previous, messages):
    return "roles: " + ",".join(m.role[0] for m in messages)


def summarize_by_function(raw, conversation, tmp_path, transcripts):
    def newest_roles(request):
        return naive_roles(None, request.messages)

    policy = cml.Summarize(
        summarizer_from(newest_roles), trigger=cml.Messages(20), keep=cml.Messages(12)
    )
    run = same_windows(conversation, policy, [naive.folding_policy(naive_roles, 20, 12, "")])
    assert len(run.summaries) > 1


def summarize_by_truncating(raw, conversation, tmp_path, transcripts):
    policy = cml.Summarize(Truncate(500), trigger=cml.Tokens(9_000), keep=cml.Tokens(4_000))
    run = cml.replay(conversation, policy, counter=LengthCounter())
    made = [slot for slot in run.final.slots if slot.kind == "made"]
    assert len(made) == 1
    assert 0 < len(made[0].message.text) <= 500
    covered = made[0].message.summary.covered
    # whole units, from the first message behind the system prompt on
    assert covered == tuple(range(1, 1 + len(covered)))
    held = [slot.position for slot in run.final.slots if slot.position is not None]
    assert held == [0, *range(1 + len(covered), len(raw))]


def chain(raw, conversation, tmp_path, transcripts):
    policy = cml.ClearToolResults(3) | cml.TokenWindow(12_000)
    naive_policies = [
        naive.clearing_policy(3, "[cleared]"),
        naive.window_policy(naive.tokens_held, 12_000),
    ]
    same_windows(conversation, policy, naive_policies)


def policy_from(raw, conversation, tmp_path, transcripts):
    run = cml.replay(conversation, cml.policy_from(lambda m: m[-6:]), counter=LengthCounter())
    numbers, _ = naive.units_of(conversation.messages)
    for request, position in enumerate(conversation.requests):
        held = {s.position for s in run.window(request).slots}
        # the last six that were there, with their units made whole; never a result alone
        assert set(range(max(0, position - 6), position)) & held
        for number in {numbers[p] for p in held}:
            whole = {p for p in range(position) if numbers[p] == number}
            assert whole <= held
        assert 0 in held or position == 0  # the system message is pinned
    assert (run.events["kind"] == "repair").any()


# --- presets: what those systems do, in a few lines


def ai4j_message_window(raw, conversation, tmp_path, transcripts):
    run = cml.replay(conversation, cml.presets.ai4j_message_window(8), counter=LengthCounter())
    assert [s.position for s in run.final.slots] == [0, *range(len(raw) - 8, len(raw))]


def langchain4j_by_hand(raw, fits):
    window = []
    for position in range(len(raw)):
        window.append(position)
        while not fits(window):
            place = 1 if raw[window[0]]["role"] == "system" else 0
            evicted = window.pop(place)
            while (
                raw[evicted].get("tool_calls")
                and place < len(window)
                and raw[window[place]]["role"] == "tool"
            ):
                window.pop(place)
    return window


def langchain4j_message_window(raw, conversation, tmp_path, transcripts):
    run = cml.replay(conversation, cml.presets.langchain4j_message_window(9))
    expected = langchain4j_by_hand(raw, lambda window: len(window) <= 9)
    assert [s.position for s in run.final.slots] == expected


def langchain4j_token_window(raw, conversation, tmp_path, transcripts):
    def cost(position):
        message = raw[position]
        calls = message.get("tool_calls") or ()
        functions = [call["function"] for call in calls]
        return (
            1
            + len(message.get("content") or "")
            + sum(len(f["name"]) + len(f["arguments"]) for f in functions)
        )

    preset = cml.presets.langchain4j_token_window(10_000)
    run = cml.replay(conversation, preset, counter=LengthCounter())
    expected = langchain4j_by_hand(raw, lambda w: 3 + sum(map(cost, w)) <= 10_000)
    assert [s.position for s in run.final.slots] == expected


def chat_memory(raw, conversation, tmp_path, transcripts):
    memory = cml.ChatMemory(cml.MessageWindow(8), id="run", counter=LengthCounter())
    memory.add_all(conversation.messages)
    assert len(memory.history) == len(raw)
    numbers, _ = naive.units_of(conversation.messages)
    newest = [p for p in range(len(raw)) if p >= len(raw) - 8]
    # whole units that fit into eight, behind the system message
    while numbers[newest[0]] == numbers[newest[0] - 1]:
        newest.pop(0)
    assert plain(memory.messages) == plain_raw([raw[0], *(raw[p] for p in newest)])


# --- charts, widget, commands


@pytest.fixture(scope="module")
def run(conversation):
    return cml.replay(conversation, cml.TokenWindow(4_000), model="gpt-4o")


def plot_tokens(raw, conversation, tmp_path, transcripts):
    run = cml.replay(conversation, cml.TokenWindow(12_000), counter=LengthCounter())
    ax = cml.charts.plot_tokens(run)
    tops = {}
    for bar in ax.patches:
        middle = round(bar.get_x() + bar.get_width() / 2)
        tops[middle] = max(tops.get(middle, 0), bar.get_y() + bar.get_height())
    requests = [i for i, m in enumerate(raw) if m["role"] == "assistant"]
    # the first request holds the two messages before it, a token a character, and 3
    first = sum(1 + len(m["content"]) for m in raw[: requests[0]]) + 3
    assert tops[0] == pytest.approx(first)
    assert len(tops) == len(requests)


def plot_window_map(raw, conversation, tmp_path, transcripts):
    run = cml.replay(conversation, cml.KeepAll(), counter=LengthCounter())
    ax = cml.charts.plot_window_map(run)
    low, high = sorted(ax.get_ylim())
    shown = max(i for i, m in enumerate(raw) if m["role"] == "assistant")
    assert low <= 0 <= shown - 1 <= high
    assert sum(len(c.get_paths()) for c in ax.collections) >= shown


def plot_summary_quality(raw, conversation, tmp_path, transcripts):
    policy = cml.Summarize(Truncate(900), trigger=cml.Tokens(2_000), keep=cml.Tokens(900))
    study = cml.compare(conversation, {"cut": policy}, model="gpt-4o", progress=False)
    kept, items = study.scores[["items_kept", "items"]].iloc[0]
    ax = cml.charts.plot_summary_quality(study)
    points = [y for line in ax.lines for y in line.get_ydata()] + [
        y for c in ax.collections for _, y in c.get_offsets()
    ]
    assert any(y == pytest.approx(kept / items) for y in points)
    assert "cut" in [text.get_text() for text in ax.texts]


def replay_player(raw, conversation, tmp_path, transcripts):
    run = cml.replay(conversation, cml.MessageWindow(8), counter=LengthCounter())
    player = cml.ReplayPlayer(run)
    requests = [i for i, m in enumerate(raw) if m["role"] == "assistant"]
    player.request = 1
    entered = player.changes[player.changes["change"] == "entered"]
    assert entered["position"].tolist() == list(range(requests[0], requests[1]))


def session_browser(raw, conversation, tmp_path, transcripts):
    with cml.ChatMemories(store="memory:") as memories:
        memories["ann"].add_all(conversation.messages)
        browser = cml.SessionBrowser(memories, session="ann")
    assert f"<b>{len(raw)}</b> messages" in browser._repr_mimebundle_()["text/html"]


def command(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def command_compare(raw, conversation, tmp_path, transcripts):
    path = transcripts / "swe-agent" / "katy.traj"
    history = json.loads(path.read_text())["history"]
    command("compare", path, "--policy", "keep-all", "--model", "gpt-5", "--out", tmp_path)
    requests = sum(m["role"] == "assistant" for m in history)
    assert pd.read_parquet(tmp_path / "scores.parquet")["requests"].tolist() == [requests]
    assert (tmp_path / "report.html").stat().st_size > 10_000


def command_replay(raw, conversation, tmp_path, transcripts):
    path = transcripts / "swe-agent" / "katy.traj"
    output = command("replay", path, "--policy", "message-window:6", "--model", "gpt-5")
    history = json.loads(path.read_text())["history"]
    rows = [line.split() for line in output.splitlines() if "exact" in line]
    assert [int(row[1]) for row in rows] == [
        i for i, m in enumerate(history) if m["role"] == "assistant"
    ]


def command_policies(raw, conversation, tmp_path, transcripts):
    output = command("policies")
    for name in (*policies_by_name(), *presets_by_name()):
        assert f"  {name}\n" in output


def command_read(raw, conversation, tmp_path, transcripts):
    output = command("read", transcripts / "tau-bench" / "gpt-4o-airline.json")
    runs = json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_text())
    assert f"{len(runs):,}" in output
    assert f"{sum(len(run['traj']) for run in runs):,}" in output


READERS = {
    "OpenAI Chat, JSON": read_openai_messages,
    "OpenAI Chat, JSONL by message": read_openai_lines_by_message,
    "OpenAI Chat, JSONL by conversation": read_openai_lines_by_conversation,
    "tau-bench": read_tau_bench,
    "SWE-agent": read_swe_agent,
    "own, format 1": read_own,
}
POLICIES = {
    "keep-all": keep_all,
    "message-window": message_window,
    "token-window": token_window,
    "turn-window": turn_window,
    "clear-tool-results": clear_tool_results,
    "summarize": summarize_by_function,
}
OTHER_POLICIES = {
    "summarize by truncating": summarize_by_truncating,
    "chain": chain,
    "policy_from": policy_from,
    "ChatMemory": chat_memory,
}
PRESETS = {
    "ai4j-message-window": ai4j_message_window,
    "langchain4j-message-window": langchain4j_message_window,
    "langchain4j-token-window": langchain4j_token_window,
}
CHARTS = {
    "plot_tokens": plot_tokens,
    "plot_window_map": plot_window_map,
    "plot_summary_quality": plot_summary_quality,
}
WIDGETS = {"ReplayPlayer": replay_player, "SessionBrowser": session_browser}
COMMANDS = {
    "compare": command_compare,
    "replay": command_replay,
    "policies": command_policies,
    "read": command_read,
}
INVENTORY = {
    **READERS,
    **POLICIES,
    **OTHER_POLICIES,
    **PRESETS,
    **CHARTS,
    **WIDGETS,
    **{f"chatmem-lab {name}": check for name, check in COMMANDS.items()},
}


@pytest.mark.parametrize("name", INVENTORY)
def test_entry(name, raw, conversation, tmp_path, transcripts):
    INVENTORY[name](raw, conversation, tmp_path, transcripts)


def test_the_inventory_is_whole():
    assert set(cml.formats()) == {
        "own",
        "openai_chat",
        "recorded",
        "tau_bench",
        "swe_agent",  # tried in test_inventory_sessions.py
    }
    assert set(POLICIES) < set(policies_by_name())  # the others: test_inventory_policies.py
    assert set(PRESETS) < set(presets_by_name())
    assert {name for name in charts.__all__ if name.startswith("plot_")} == set(CHARTS)
    assert {name for name in widgets.__all__ if name[0].isupper()} == set(WIDGETS)
    assert {command.callback.__name__ for command in app.registered_commands} == {
        *COMMANDS,
        "lint",
    }
