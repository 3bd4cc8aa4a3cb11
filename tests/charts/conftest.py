"""A run made by hand: frames with the columns of a replay, computed the slow way."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

matplotlib.use("agg")

COLUMN_OF = {
    "system": "system_tokens",
    "developer": "system_tokens",
    "user": "user_tokens",
    "assistant": "assistant_tokens",
    "tool call": "assistant_tokens",
    "tool result": "tool_result_tokens",
    "made": "made_tokens",
}


def fake_run(
    messages: int,
    *,
    budget: int | None = 4_000,
    low: int | None = None,
    fold: bool = False,
    clear: bool = False,
    seed: int = 3,
    name: str = "airline-3",
    schemas: int = 0,
):
    """An agent's run under a token window that evicts (or folds) its oldest messages."""
    rng = np.random.default_rng(seed)
    kinds, sizes = ["system", "user"], [1252, 27]
    while len(kinds) < messages:
        if rng.random() < 0.7:
            kinds += ["tool call", "tool result"]
            sizes += [int(rng.integers(20, 120)), int(rng.lognormal(5.3, 0.8))]
        else:
            kinds += ["assistant", "user"]
            sizes += [int(rng.integers(20, 400)), int(rng.integers(10, 60))]
    kinds, sizes = kinds[:messages], sizes[:messages]
    window: list[dict] = []  # rows of the map that are open
    spans, requests, events = [], [], []
    state = {"slot": 0, "request": 0, "left": [0, 0], "gone": 0, "before": []}

    def enter(position, kind, tokens, order, status="kept"):
        row = {
            "conversation": name, "slot": state["slot"], "position": position, "kind": kind,
            "state": status, "first_request": state["request"], "last_request": -1,
            "tokens": tokens, "order": order, "end": "",
        }  # fmt: skip
        state["slot"] += 1
        window.append(row)
        window.sort(key=lambda r: r["order"])
        return row

    def leave(row, why):
        window.remove(row)
        row["last_request"], row["end"] = state["request"] - 1, why
        if row["last_request"] >= row["first_request"]:
            spans.append(row)

    def total():
        return schemas + 3 + sum(r["tokens"] for r in window)

    def event(kind, at, rows, before, reason):
        events.append(
            {
                "conversation": name, "request": state["request"], "position": at, "kind": kind,
                "stage": 0, "units": tuple((r["position"],) for r in rows),
                "messages": len(rows), "tokens_before": before, "tokens_after": total(),
                "reason": reason,
            }
        )  # fmt: skip

    for position, (kind, tokens) in enumerate(zip(kinds, sizes, strict=True)):
        if kind in ("assistant", "tool call"):
            now = [(r["slot"], r["tokens"]) for r in window]
            prefix = schemas if requests else 0
            for a, b in zip(now, state["before"], strict=False):
                if a != b:
                    break
                prefix += a[1]
            sums = dict.fromkeys(
                ("system_tokens", "user_tokens", "assistant_tokens", "tool_result_tokens",
                 "made_tokens"), 0,
            )  # fmt: skip
            for r in window:
                sums[COLUMN_OF[r["kind"]]] += r["tokens"]
            calls = sum(r["tokens"] for r in window if r["kind"] == "tool call")
            requests.append(
                {
                    "conversation": name, "request": state["request"], "position": position,
                    "input_tokens": total(), **sums, "tool_call_tokens": calls,
                    "tool_schema_tokens": schemas, "overhead_tokens": 3, "count_kind": "exact",
                    "messages": len(window), "evicted_messages": state["left"][0],
                    "evicted_tokens": state["left"][1], "absent_messages": state["gone"],
                    "prefix_tokens": prefix, "output_tokens": tokens,
                    "budget": budget, "over_budget": budget is not None and total() > budget,
                }
            )  # fmt: skip
            state["before"], state["left"] = now, [0, 0]
            state["request"] += 1
        enter(position, kind, tokens, float(position))
        if clear:
            results = [r for r in window if r["kind"] == "tool result" and r["state"] == "kept"]
            for row in results[:-3]:
                before = total()
                if row["tokens"] > 9:
                    leave(row, "clear")
                    fresh = enter(row["position"], row["kind"], 9, row["order"], "cleared")
                    fresh["slot"] = row["slot"]
                    event("clear", position, [row], before, "older than the 3 newest results")
        if budget is not None and total() > budget:
            before, gone = total(), []
            while total() > (low or budget):
                free = [
                    r for r in window
                    if r["kind"] != "system" and r["position"] is not None
                    and r["position"] < position - 1
                ]  # fmt: skip
                if not free:
                    break
                row = free[0]
                leave(row, "fold" if fold else "evict")
                gone.append(row)
                state["left"][0] += 1
                state["left"][1] += row["tokens"]
                state["gone"] += 1
            if gone:
                if fold:
                    for row in [r for r in window if r["kind"] == "made"]:
                        leave(row, "fold")
                    enter(None, "made", 90, gone[0]["order"], "made")
                event(
                    "fold" if fold else "evict", position, gone, before,
                    f"over budget: {before:,} > {budget:,}",
                )  # fmt: skip
    for row in window:
        row["last_request"] = state["request"] - 1
        if row["last_request"] >= row["first_request"]:
            spans.append(row)
    request_frame = pd.DataFrame(requests)
    request_frame["budget"] = pd.array(request_frame["budget"], dtype="Int64")
    map_frame = pd.DataFrame(spans).sort_values(["slot", "first_request"], ignore_index=True)
    map_frame["position"] = map_frame["position"].astype("Int64")
    event_columns = (
        "conversation", "request", "position", "kind", "stage", "units", "messages",
        "tokens_before", "tokens_after", "reason",
    )  # fmt: skip
    policy = f"TokenWindow({budget:_})" if budget else "KeepAll()"
    return SimpleNamespace(
        requests=request_frame, map=map_frame,
        events=pd.DataFrame(events, columns=event_columns), policy=policy, budget=budget,
        model="gpt-4o",
    )  # fmt: skip


@pytest.fixture
def make_run():
    return fake_run


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")
