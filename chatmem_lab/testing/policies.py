"""`check_policy`: what a policy promises, tried on generated conversations."""

from __future__ import annotations

import pickle
from collections.abc import Iterable

from hypothesis import HealthCheck, given, settings

from chatmem_lab.engine import Layout, Trace, replay_stepwise, trace_policy
from chatmem_lab.messages import INSTRUCTION_ROLES, Conversation
from chatmem_lab.policies import Policy, Preset, Rules, split_preset
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.strategies import conversations as generated

__all__ = ["check_policy", "check_replay"]


def check_policy(
    policy: Policy | Preset,
    *,
    examples: int = 100,
    conversations: Iterable[Conversation] | None = None,
) -> None:
    """Hold a policy to its contract.

    It must be hashable, survive pickling and give the same answer twice. A strict policy
    must leave whole units in order, keep what is pinned, and be under its budget or marked;
    the parts of every request must add up. A loose policy must not fail.

    Parameters
    ----------
    policy : Policy or Preset
    examples : int
        How many conversations are generated.
    conversations : iterable of Conversation, optional
        Tried instead of generated ones.

    Raises
    ------
    AssertionError
        Saying what was promised and on which conversation it was broken.

    Examples
    --------
    >>> from chatmem_lab.policies import MessageWindow
    >>> check_policy(MessageWindow(4), examples=10)
    """
    chosen, _ = split_preset(policy)
    assert isinstance(hash(chosen), int), f"{policy!r} must be hashable"
    assert repr(pickle.loads(pickle.dumps(policy))) == repr(policy), f"{policy!r} must pickle"
    if conversations is not None:
        for conversation in conversations:
            check_replay(conversation, policy)
        return

    @settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(conversation=generated())
    def on_generated(conversation: Conversation) -> None:
        check_replay(conversation, policy)

    on_generated()


def check_replay(conversation: Conversation, policy: Policy | Preset) -> Trace:
    """Replay one conversation and hold every request to the policy's contract."""
    chosen, rules = split_preset(policy)
    layout = Layout(conversation, LengthCounter(), model="gpt-5")
    trace = trace_policy(layout, policy, model=None)
    again = replay_stepwise(layout, policy, model=None)
    for request in range(trace.requests):
        window = trace.window(request)
        where = f"{policy!r}, request {request} of {conversation!r}"
        assert window.tokens == trace.input_tokens[request], f"the parts do not add up: {where}"
        assert window.messages == again.window(request).messages, f"not the same twice: {where}"
        if chosen.contract == "strict":
            _check_strict(trace, request, rules, where)
    return trace


def _check_strict(trace: Trace, request: int, rules: Rules, where: str) -> None:
    window = trace.window(request)
    before = int(trace.layout.request_positions[request])
    held = [slot.position for slot in window.slots if slot.position is not None]
    systems = [p for p in held if trace.layout.messages[p].role == "system"]
    rest = [p for p in held if p not in systems]
    assert rest == sorted(rest), f"out of order: {where}"
    messages = trace.layout.messages
    blank = {p for p in range(before) if rules.blank == "ignore" and messages[p].is_blank}
    for unit in trace.conversation.units:
        members = {p for p in unit if p < before} - blank
        inside = members & set(held)
        assert inside in (set(), members), f"unit {list(unit)} is torn: {where}"
    if before:
        newest = next(u for u in trace.conversation.units if before - 1 in u)
        ignored = messages[newest[0]].role == "system" or before - 1 in blank
        assert ignored or before - 1 in held, f"the newest unit is gone: {where}"
    pinned = [p for p in range(before) if trace.layout.messages[p].role == "developer"]
    assert set(pinned) <= set(held), f"a developer message is gone: {where}"
    has_system = any(m.role == "system" for m in trace.layout.messages[:before])
    shown = [m for m in window.messages if m.role in INSTRUCTION_ROLES and m.role == "system"]
    assert bool(shown) >= has_system, f"the system message is gone: {where}"
    if trace.budget is not None:
        assert window.tokens <= trace.budget or trace.over_budget[request], (
            f"{window.tokens} tokens over a budget of {trace.budget}, not marked: {where}"
        )
