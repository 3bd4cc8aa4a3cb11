from __future__ import annotations

import ipywidgets
import pandas as pd
import pytest
import traitlets

from chatmem_lab.messages import Conversation, assistant, system, user
from chatmem_lab.metrics.changes import changes_at
from chatmem_lab.policies import KeepAll, MessageWindow
from chatmem_lab.study import replay
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.widgets import ReplayPlayer
from chatmem_lab.widgets.step_html import step_html


def make_run(turns=8, id="c-1"):
    messages = [system("Be brief.")]
    for turn in range(turns):
        messages += [user(f"question {turn}"), assistant(f"answer {turn}")]
    return replay(Conversation(id, tuple(messages)), MessageWindow(6), counter=LengthCounter())


@pytest.fixture
def player():
    return ReplayPlayer(make_run())


def parts(player, kind):
    found, queue = [], [player]
    while queue:
        widget = queue.pop()
        if isinstance(widget, kind):
            found.append(widget)
        queue.extend(getattr(widget, "children", ()))
    return found


def text_of(player):
    return " ".join(html.value for html in parts(player, ipywidgets.HTML)[::-1])


def test_it_begins_at_the_first_request(player):
    assert player.request == 0
    assert "request 0 of 7" in text_of(player)
    assert ReplayPlayer(player.run, request=5).request == 5


def test_a_move_changes_everything_that_is_shown(player):
    (slider,) = parts(player, ipywidgets.IntSlider)
    (play,) = parts(player, ipywidgets.Play)
    player.request = 6
    assert (slider.value, play.value) == (6, 6)
    assert "request 6 of 7" in text_of(player)
    assert step_html(player.run, 6) in text_of(player)
    slider.value = 3
    assert player.request == 3
    assert "what changed at request 3" in text_of(player)
    play.value = 4
    assert player.request == 4


def test_changes_are_a_table(player):
    player.request = 5
    pd.testing.assert_frame_equal(player.changes, changes_at(player.run, 5))
    assert set(player.changes["change"]) == {"entered", "evicted"}


def test_keys(player):
    # System and six others: seven messages at request 3, the first eviction before 4.
    for key, request in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("]", 3),
        ("]", 4),
        ("[", 3),
        ("[", 3),
        ("End", 7),
        ("ArrowRight", 7),
        ("]", 7),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("[", 0),
        ("x", 0),
    ]:
        player.press(key)
        assert player.request == request, key
    assert player.exception is None


def test_space_plays_and_pauses(player):
    (play,) = parts(player, ipywidgets.Play)
    assert not play.playing
    player.press(" ")
    assert play.playing
    player.press(" ")
    assert not play.playing


def test_keys_of_the_browser_arrive(player):
    keys = player.children[-1]
    keys._handle_custom_msg({"key": "End"}, [])
    assert player.request == 7
    keys._handle_custom_msg({"nonsense": [1, 2]}, [])
    keys._handle_custom_msg({"key": {"a": 1}}, [])
    assert player.request == 7


def test_buttons_do_what_their_keys_do(player):
    buttons = {button.description: button for button in parts(player, ipywidgets.Button)}
    buttons["▸"].click()
    assert player.request == 1
    buttons["eviction ▸"].click()
    assert player.request == 3
    buttons["◂ eviction"].click()
    buttons["◂"].click()
    assert player.request == 2
    assert all(button.tooltip for button in buttons.values())


def test_what_changed_is_said_for_those_who_do_not_see_it(player):
    player.request = 4
    tokens = player.run.requests["input_tokens"][4]
    assert player.children[-1].says == f"Request 4: {tokens} tokens; 2 entered, 2 evicted"


@pytest.mark.parametrize("request_", [-1, 8, 1_000])
def test_a_request_that_is_not_there(player, request_):
    with pytest.raises(
        traitlets.TraitError, match=f"no request {request_}: this replay has 0 to 7"
    ):
        player.request = request_
    assert player.request == 0


def test_an_exception_shows_and_the_player_goes_on(player, monkeypatch):
    broken = player.run.window

    def window(request):
        if request == 2:
            raise ValueError("BOOM <b>")
        return broken(request)

    monkeypatch.setattr(player.run, "window", window)
    player.press("ArrowRight")
    assert player.exception is None
    (right,) = [b for b in parts(player, ipywidgets.Button) if b.description == "▸"]
    right.click()
    assert isinstance(player.exception, ValueError)
    assert "ValueError: BOOM &lt;b&gt;" in text_of(player)
    right.click()
    assert player.request == 3
    assert player.exception is None
    assert "BOOM" not in text_of(player)
    assert "request 3 of 7" in text_of(player)


def test_the_picture_stays_where_no_kernel_runs(player):
    player.request = 5
    bundle = player._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(player)
    assert "at request 5" in data["text/plain"]
    assert "what changed at request 5" in data["text/html"]
    assert "<style>" in data["text/html"]
    assert "<script" not in data["text/html"]


def test_a_picture_that_fails_says_so(player, monkeypatch):
    monkeypatch.setattr(player.run, "window", lambda request: 1 / 0)
    bundle = player._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "ZeroDivisionError" in data["text/html"]


def test_a_conversation_without_requests():
    run = replay(Conversation("c", (user("hi"),)), KeepAll(), counter=LengthCounter())
    player = ReplayPlayer(run)
    assert player.exception is None
    assert "No requests" in text_of(player)
    for key in ("ArrowRight", "End", "]"):
        player.press(key)
    assert player.request == 0
    assert player.changes.empty
    assert "No requests" in player._repr_mimebundle_()["text/html"]


def test_names_are_escaped():
    player = ReplayPlayer(make_run(id="<img src=x onerror=alert(1)>"))
    assert "<img" not in text_of(player)
    assert "&lt;img" in text_of(player)


def test_nothing_is_printed(player, capsys):
    player.press("End")
    ReplayPlayer(player.run)._repr_mimebundle_()
    assert capsys.readouterr() == ("", "")


def test_long_runs_send_little(monkeypatch):
    player = ReplayPlayer(make_run(turns=1_500))
    player.press("End")
    assert len(text_of(player).encode()) < 150_000
