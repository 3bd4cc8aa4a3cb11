"""Every strict policy against a naive reference, at every request of random conversations."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_reference as naive
from chatmem_lab.engine import Layout, has_closed_form, replay_closed_form, replay_stepwise
from chatmem_lab.policies import (
    ClearToolResults,
    KeepAll,
    Messages,
    MessageWindow,
    Summarize,
    TokenWindow,
    TurnWindow,
)
from chatmem_lab.summarizers import Summary
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.strategies import conversations

PREFIX = "S: "


def join_starts(previous, messages):
    """A summary by rote: the first letters of everything, and nothing for a long list."""
    if len(messages) > 9:
        return ""
    starts = "".join(m.text[:1] or "-" for m in messages)
    return f"{previous or ''}{starts}"


@dataclass(frozen=True)
class JoinStarts:
    def summarize(self, request):
        return Summary(text=join_starts(request.previous, request.messages))


options = st.fixed_dictionaries({"start_on_user": st.booleans(), "pin_user": st.booleans()})


@st.composite
def message_windows(draw):
    high = draw(st.integers(1, 12))
    low = draw(st.none() | st.integers(1, high))
    extra, count = draw(options), draw(st.booleans())
    return (
        MessageWindow(high, low=low, count_pinned=count, **extra),
        [
            naive.window_policy(
                naive.messages_held(count), high, low, start_on_user=extra["start_on_user"]
            )
        ],
    )


@st.composite
def token_windows(draw):
    high = draw(st.integers(1, 400))
    low = draw(st.none() | st.integers(1, high))
    extra = draw(options)
    return (
        TokenWindow(high, low=low, **extra),
        [naive.window_policy(naive.tokens_held, high, low, start_on_user=extra["start_on_user"])],
    )


@st.composite
def turn_windows(draw):
    high = draw(st.integers(1, 5))
    low = draw(st.none() | st.integers(1, high))
    return TurnWindow(high, low=low), [naive.turn_policy(high, low)]


@st.composite
def clearings(draw):
    keep, exclude = draw(st.integers(0, 4)), draw(st.sampled_from([(), ("look",)]))
    return (
        ClearToolResults(keep, exclude=exclude, placeholder="[x]"),
        [naive.clearing_policy(keep, "[x]", exclude)],
    )


@st.composite
def foldings(draw):
    trigger, keep = draw(st.integers(1, 14)), draw(st.integers(0, 8))
    return (
        Summarize(JoinStarts(), trigger=Messages(trigger), keep=Messages(keep), prefix=PREFIX),
        [naive.folding_policy(join_starts, trigger, keep, PREFIX)],
    )


@st.composite
def chains(draw):
    first, one = draw(clearings() | foldings())
    second, two = draw(message_windows() | token_windows() | turn_windows())
    return first | second, one + two


POLICIES = {
    "KeepAll": st.just((KeepAll(), [])),
    "MessageWindow": message_windows(),
    "TokenWindow": token_windows(),
    "TurnWindow": turn_windows(),
    "ClearToolResults": clearings(),
    "Summarize": foldings(),
    "Chain": chains(),
}


@pytest.mark.parametrize("name", POLICIES)
@given(data=st.data(), conversation=conversations())
def test_window_equals_the_naive_one_at_every_request(name, data, conversation):
    policy, naive_policies = data.draw(POLICIES[name])
    counter = LengthCounter()
    layout = Layout(conversation, counter, model="gpt-5")
    traces = [replay_stepwise(layout, policy, model=None)]
    if has_closed_form(layout, policy):
        traces += replay_closed_form([layout], [KeepAll(), policy], model=None)[0][1:]
    for trace in traces:
        reference = naive.Reference(
            counter, conversation.tools, naive_policies, pin_user=policy.pins_user
        )
        check_against(reference, trace, layout)


def check_against(reference, trace, layout):
    conversation = layout.conversation
    last = None
    request = 0
    for position, message in enumerate(conversation.messages):
        if position in conversation.requests:
            check_request(reference, trace, request, position, last)
            last = list(reference.window)
            request += 1
        reference.add(message)
    assert trace.requests == request
    check_window(reference, trace.window(-1))


def check_window(reference, window):
    assert [naive.sent(m) for m in window.messages] == [
        naive.sent(e["message"]) for e in reference.window
    ]
    assert [slot.position for slot in window.slots] == [e["at"] for e in reference.window]
    assert window.tokens == reference.total()


def check_request(reference, trace, request, position, last):
    window = trace.window(request)
    check_window(reference, window)
    # the parts of the input add up, and each is what a recount gives
    entries = reference.window
    assert trace.input_tokens[request] == reference.total()
    for name, roles in (
        ("system", ("system", "developer")),
        ("user", ("user",)),
        ("assistant", ("assistant",)),
        ("tool_result", ("tool",)),
    ):
        of_role = [e for e in entries if e["at"] is not None and e["message"].role in roles]
        assert trace.category[name][request] == reference.tokens(of_role)
    made = [e for e in entries if e["at"] is None]
    assert trace.category["made"][request] == reference.tokens(made)
    calls = [e for e in entries if e["at"] is not None and e["message"].tool_calls]
    assert trace.tool_call_tokens[request] == reference.tokens(calls)
    # numbers of messages and units
    assert trace.messages[request] == len(entries)
    if entries:
        units = {reference.unit(e) for e in entries}
        assert trace.units[request] == len(units)
        held = {e["at"] for e in entries}
        for number in {u for u in units if not isinstance(u, tuple)}:
            # whole units: all of a unit's positions so far, or none
            assert {i for i, u in enumerate(reference.numbers) if u == number} <= held
        pinned = [e for e in entries if reference.pinned(e)]
        assert trace.pinned_tokens[request] == reference.tokens(pinned)
    absent = set(range(position)) - {e["at"] for e in entries}
    assert trace.absent_messages[request] == len(absent)
    # over the limit means marked
    if trace.budget is not None:
        assert trace.over_budget[request] or reference.total() <= trace.budget
    # the prefix is the longest common one, in whole messages
    expected = 0
    if last is not None:
        expected = reference.fixed - reference.counter.request_tokens
        for old, new in zip(last, entries):
            if naive.sent(old["message"]) != naive.sent(new["message"]):
                break
            expected += reference.tokens([new])
    assert trace.prefix_tokens[request] == expected
