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
    layout: Layout, policies: Sequence[Policy | Preset], *, model: str | None = None
) -> list[Trace]:
    """Replay `layout`'s conversation under each policy.

    Window policies are computed in closed form, all of them at once; the others message by
    message. Both ways give the same columns.

    Parameters
    ----------
    layout : Layout
        Made once per conversation, for all policies.
    policies : sequence of Policy or Preset
    model : str, optional
        For the record.

    Returns
    -------
    list of Trace
        One per policy, in order.
    """
    model = model or layout.model
    is_closed = [has_closed_form(layout, policy) for policy in policies]
    closed = [policy for policy, known in zip(policies, is_closed) if known]
    at_once = iter(replay_closed_form(layout, closed, model=model) if closed else ())
    return [
        next(at_once) if known else replay_stepwise(layout, policy, model=model)
        for policy, known in zip(policies, is_closed)
    ]


def trace_policy(layout: Layout, policy: Policy | Preset, *, model: str | None = None) -> Trace:
    """Replay `layout`'s conversation under one policy; see `trace_policies`."""
    return trace_policies(layout, [policy], model=model)[0]
