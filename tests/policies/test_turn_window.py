"""`TurnWindow` by hand."""

from __future__ import annotations

from chatmem_lab.messages import assistant, tool_output, user
from chatmem_lab.policies import TurnWindow
from replaying import calls, chat, kept, trace_of


def test_the_last_turns_stay_whole():
    messages = [
        *chat("sua"),
        user("second"),
        calls("c1"),
        tool_output("c1", "r"),
        assistant("done"),
        user("third"),
    ]
    assert kept(messages, TurnWindow(1)) == [0, 7]
    assert kept(messages, TurnWindow(2)) == [0, 3, 4, 5, 6, 7]
    assert kept(messages, TurnWindow(3)) == list(range(8))


def test_what_stands_before_the_first_turn_leaves_with_it():
    assert kept(chat("aua"), TurnWindow(1)) == [0, 1, 2]
    assert kept(chat("auaua"), TurnWindow(1)) == [3, 4]
    assert kept(chat("aua"), TurnWindow(1, start_on_user=True)) == [1, 2]


def test_low_water_mark():
    trace = trace_of(chat("ua" * 5), TurnWindow(3, low=1))
    assert [(e.position, e.messages) for e in trace.events] == [(6, 6)]
    assert kept(chat("ua" * 5), TurnWindow(3, low=1)) == [6, 7, 8, 9]
