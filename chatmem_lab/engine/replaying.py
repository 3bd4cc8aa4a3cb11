"""`trace`: the replay of one conversation under one policy, by the fastest exact way."""

from __future__ import annotations

from chatmem_lab.engine.closed_form import has_closed_form, replay_closed_form
from chatmem_lab.engine.layout import Layout
from chatmem_lab.engine.stepwise import replay_stepwise
from chatmem_lab.engine.trace import Trace
from chatmem_lab.policies import Policy, Preset

__all__ = ["trace_policy"]


def trace_policy(layout: Layout, policy: Policy | Preset, *, model: str | None = None) -> Trace:
    """Replay `layout`'s conversation under `policy`.

    Window policies are computed in closed form, all others message by message; both give
    the same columns.

    Parameters
    ----------
    layout : Layout
        Made once per conversation, for all policies.
    policy : Policy or Preset
    model : str, optional
        For the record.

    Returns
    -------
    Trace
    """
    replay = replay_closed_form if has_closed_form(layout, policy) else replay_stepwise
    return replay(layout, policy, model=model or layout.model)
