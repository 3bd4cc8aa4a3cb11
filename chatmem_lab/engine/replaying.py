"""`trace_policies`: the replay of one conversation, each policy by the fastest exact way."""

from __future__ import annotations

from collections.abc import Sequence

from chatmem_lab.engine.closed_form import has_closed_form, replay_closed_form
from chatmem_lab.engine.layout import Layout
from chatmem_lab.engine.stepwise import replay_stepwise
from chatmem_lab.engine.trace import Trace
from chatmem_lab.policies import Policy, Preset

__all__ = ["trace_policies", "trace_policy"]


def trace_policies(
    layouts: Sequence[Layout], policies: Sequence[Policy | Preset], *, model: str | None = None
) -> list[list[Trace]]:
    """Replay conversations under each policy.

    Window policies are computed in closed form, all of them on all conversations at once;
    the others message by message. Both ways give the same columns.

    Parameters
    ----------
    layouts : sequence of Layout
        One per conversation, made once for all policies.
    policies : sequence of Policy or Preset
    model : str, optional
        For the record.

    Returns
    -------
    list of list of Trace
        For each conversation one per policy, both in order.
    """
    known = [[has_closed_form(layout, policy) for policy in policies] for layout in layouts]
    found: dict[tuple[int, int], Trace] = {}
    # Conversations that differ in which policies are closed are few: group by that.
    for pattern in {tuple(row) for row in known}:
        rows = [i for i, row in enumerate(known) if tuple(row) == pattern]
        columns = [j for j, is_closed in enumerate(pattern) if is_closed]
        if columns:
            many = replay_closed_form(
                [layouts[i] for i in rows], [policies[j] for j in columns], model=model
            )
            for i, traces in zip(rows, many):
                found.update({(i, j): trace for j, trace in zip(columns, traces)})
    return [
        [
            found.get((i, j)) or replay_stepwise(layout, policy, model=model)
            for j, policy in enumerate(policies)
        ]
        for i, layout in enumerate(layouts)
    ]


def trace_policy(layout: Layout, policy: Policy | Preset, *, model: str | None = None) -> Trace:
    """Replay one conversation under one policy; see `trace_policies`."""
    return trace_policies([layout], [policy], model=model)[0][0]
