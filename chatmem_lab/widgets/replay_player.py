"""`ReplayPlayer`: a replay, request by request."""

from __future__ import annotations

from functools import partial
from typing import Any

import ipywidgets
import pandas as pd
import traitlets

from chatmem_lab.html.numbers import plural
from chatmem_lab.html.style import caption, figure
from chatmem_lab.html.text import cut
from chatmem_lab.metrics.changes import COLUMNS, changes_at, removal_requests
from chatmem_lab.widgets.keyed_box import KeyedBox, shown
from chatmem_lab.widgets.step_html import STEP_RULES, step_html, timeline_svg

__all__ = ["ReplayPlayer"]

_KEYS = "Keys: ← → request · Home, End · Space play · [ ] eviction before, next"
_BACK, _ON = "[ the eviction before", "] the next eviction"
_NAMES = ("ArrowLeft", "ArrowRight", "Home", "End", " ", "[", "]")


class ReplayPlayer(KeyedBox):
    """Step through a replay: the window at each request, what left it and why.

    Parameters
    ----------
    run : Replay
    request : int
        Where to begin.

    Attributes
    ----------
    request : int
        The request that is shown; set it to move.
    changes : DataFrame
        What changed since the request before; see `metrics.changes.changes_at`.
    exception : Exception or None
        What went wrong in the last callback; the player shows it.

    Notes
    -----
    Keys: arrows, Home and End move, Space plays, ``[`` and ``]`` go to the request before or
    after at which something had left the window. Where no kernel runs, the picture of the
    current request remains.

    Examples
    --------
    >>> import chatmem_lab as cml
    >>> conversation = cml.Conversation(
    ...     "chat", (cml.user("1"), cml.assistant("2"), cml.user("3"), cml.assistant("4"))
    ... )
    >>> player = ReplayPlayer(cml.replay(conversation, cml.MessageWindow(2), model="gpt-4o"))
    >>> player.press("]")
    >>> player.request, player.changes["change"].tolist()
    (1, ['entered', 'entered', 'evicted'])
    """

    request = traitlets.Int()

    def __init__(self, run: Any, *, request: int = 0) -> None:
        self.run = run
        self._last = max(len(run.requests) - 1, 0)
        self._removals = removal_requests(run)
        self._timeline = ipywidgets.HTML()
        self._step = ipywidgets.HTML()
        label = f"Replay of {cut(run.conversation.id, 80)}"
        super().__init__(label, _NAMES, _KEYS, STEP_RULES)
        bounds = {"min": 0, "max": self._last}
        self._play = ipywidgets.Play(interval=700, show_repeat=False, **bounds)
        self._slider = ipywidgets.IntSlider(
            description="request", continuous_update=True, layout={"flex": "1 1 auto"}, **bounds
        )
        controls = ipywidgets.HBox(
            [
                self._play,
                self._button_of("◂", "ArrowLeft", "← the request before"),
                self._button_of("▸", "ArrowRight", "→ the next request"),
                self._button_of(
                    "◂ eviction", "[", f"{_BACK}: evicted, folded, cleared or clamped"
                ),
                self._button_of("eviction ▸", "]", f"{_ON}: evicted, folded, cleared or clamped"),
                self._slider,
            ]
        )
        self._hold(self._timeline, controls, self._error, self._step)
        self.request = request
        self._draw()
        self.observe(lambda _: self._draw(), "request")
        for control in (self._slider, self._play):
            traitlets.link((self, "request"), (control, "value"))
        self._show_error()

    @property
    def changes(self) -> pd.DataFrame:
        """What changed since the request before."""
        if not len(self.run.requests):
            return pd.DataFrame(columns=list(COLUMNS))
        return changes_at(self.run, self.request)

    def press(self, key: str) -> None:
        """Do what `key` does in the browser: an arrow, Home, End, a space, ``[`` or ``]``."""
        at, last = self.request, self._last
        if key == " ":
            self._play.playing = not self._play.playing
            return
        target = {
            "ArrowLeft": max(at - 1, 0),
            "ArrowRight": min(at + 1, last),
            "Home": 0,
            "End": last,
            "[": max((r for r in self._removals if r < at), default=at),
            "]": min((r for r in self._removals if r > at), default=at),
        }
        self.request = target.get(key, at)

    @traitlets.validate("request")
    def _within(self, proposal: Any) -> int:
        request = int(proposal["value"])
        if not 0 <= request <= self._last:
            raise traitlets.TraitError(
                f"there is no request {request}: this replay has 0 to {self._last}"
            )
        return request

    def _button_of(self, words: str, key: str, tooltip: str) -> ipywidgets.Button:
        return self._button(words, tooltip, partial(self._clicked, key))

    def _clicked(self, key: str, _: object) -> None:
        self._pressed(None, {"key": key}, None)

    @shown
    def _draw(self) -> None:
        changes = self.changes
        self._timeline.value = self._overview()
        self._step.value = figure(self._step_html(changes), styled=False)
        if len(self.run.requests):
            counts = changes["change"].value_counts(sort=False)
            told = ", ".join(f"{n} {change}" for change, n in counts.items()) or "nothing changed"
            tokens = plural(int(self.run.requests["input_tokens"].iloc[self.request]), "token")
            self._keys.says = f"Request {self.request}: {tokens}; {told}"

    def _overview(self) -> str:
        return figure(timeline_svg(self.run.requests, self.request, self._removals), styled=False)

    def _picture(self) -> str:
        return self._step_html(self.changes)

    def _step_html(self, changes: pd.DataFrame) -> str:
        if not len(self.run.requests):
            return caption("No requests: no generated assistant message in it.")
        return step_html(self.run, self.request, changes)

    def __repr__(self) -> str:
        return f"<ReplayPlayer of {self.run!r} at request {self.request}>"
