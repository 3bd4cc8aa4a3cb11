"""`ReplayPlayer`: a replay, request by request."""

from __future__ import annotations

from functools import partial, wraps
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import pandas as pd
import traitlets

from chatmem_lab.html.numbers import plural
from chatmem_lab.html.style import caption, figure, style
from chatmem_lab.html.text import cut, escape
from chatmem_lab.metrics.changes import COLUMNS, changes_at, removal_requests
from chatmem_lab.widgets.step_html import STEP_RULES, step_html, timeline_svg

__all__ = ["ReplayPlayer"]

_RULES = """\
.cml-player{max-width:884px;padding:2px 8px}
.cml-player:focus-visible{outline:2px solid #14478f;outline-offset:2px;border-radius:3px}
[data-jp-theme-light="false"] .cml-player:focus-visible{outline-color:#8ab8ff}
.cml-says{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cml-player .cml{background:none}
.cml .err{color:var(--alarm);white-space:pre-wrap;overflow-wrap:anywhere}
"""
_KEYS = "Keys: ← → request · Home, End · Space play · [ ] eviction before, next"
_BACK, _ON = "[ the eviction before", "] the next eviction"


class _Keys(anywidget.AnyWidget):
    """Hands the keys that are pressed in the player to Python; says what was done."""

    _esm = Path(__file__).with_suffix(".js")
    _css = _RULES
    label = traitlets.Unicode().tag(sync=True)
    says = traitlets.Unicode().tag(sync=True)


def _shown(method: Any) -> Any:
    """An exception in a callback shows in the widget, which goes on working."""

    @wraps(method)
    def guarded(self: ReplayPlayer, *args: Any) -> None:
        try:
            self.exception = None
            method(self, *args)
        except Exception as error:
            self.exception = error

    return guarded


class ReplayPlayer(ipywidgets.VBox):
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
    exception = traitlets.Instance(Exception, allow_none=True)

    def __init__(self, run: Any, *, request: int = 0) -> None:
        self.run = run
        self._last = max(len(run.requests) - 1, 0)
        self._removals = removal_requests(run)
        self._timeline = ipywidgets.HTML()
        self._step = ipywidgets.HTML()
        self._error = ipywidgets.HTML()
        self._keys = _Keys(label=f"Replay of {cut(run.conversation.id, 80)}")
        self._keys.on_msg(self._pressed)
        bounds = {"min": 0, "max": self._last}
        self._play = ipywidgets.Play(interval=700, show_repeat=False, **bounds)
        self._slider = ipywidgets.IntSlider(
            description="request", continuous_update=True, layout={"flex": "1 1 auto"}, **bounds
        )
        controls = ipywidgets.HBox(
            [
                self._play,
                self._button("◂", "ArrowLeft", "← the request before"),
                self._button("▸", "ArrowRight", "→ the next request"),
                self._button("◂ eviction", "[", f"{_BACK}: evicted, folded, cleared or clamped"),
                self._button("eviction ▸", "]", f"{_ON}: evicted, folded, cleared or clamped"),
                self._slider,
            ]
        )
        rules = ipywidgets.HTML(f"<style>{style()}{STEP_RULES}{_RULES}</style>")
        keys = ipywidgets.HTML(figure(caption(_KEYS), styled=False))
        super().__init__(
            [rules, self._timeline, controls, self._error, self._step, keys, self._keys]
        )
        self.add_class("cml-player")
        self.request = request
        self._draw()
        self.observe(lambda _: self._draw(), "request")
        self.observe(lambda _: self._show_error(), "exception")
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

    def _button(self, words: str, key: str, tooltip: str) -> ipywidgets.Button:
        button = ipywidgets.Button(
            description=words, tooltip=tooltip, layout={"width": "auto", "min_width": "32px"}
        )
        button.on_click(partial(self._clicked, key))
        return button

    @_shown
    def _pressed(self, _: object, content: Any, __: object) -> None:
        self.press(str(content.get("key")))

    def _clicked(self, key: str, _: object) -> None:
        self._pressed(None, {"key": key}, None)

    @_shown
    def _draw(self) -> None:
        changes = self.changes
        self._timeline.value = self._overview()
        self._step.value = figure(self._picture(changes), styled=False)
        if len(self.run.requests):
            counts = changes["change"].value_counts(sort=False)
            told = ", ".join(f"{n} {change}" for change, n in counts.items()) or "nothing changed"
            tokens = plural(int(self.run.requests["input_tokens"].iloc[self.request]), "token")
            self._keys.says = f"Request {self.request}: {tokens}; {told}"

    def _overview(self) -> str:
        return figure(timeline_svg(self.run.requests, self.request, self._removals), styled=False)

    def _picture(self, changes: pd.DataFrame) -> str:
        if not len(self.run.requests):
            return caption("No requests: no generated assistant message in it.")
        return step_html(self.run, self.request, changes)

    def _show_error(self) -> None:
        error = self.exception
        words = "" if error is None else escape(f"{type(error).__name__}: {error}")
        told = f'<p class="err" role="alert">{words}</p>' if words else ""
        self._error.value = figure(told, styled=False) if told else ""

    def __repr__(self) -> str:
        return f"<ReplayPlayer of {self.run!r} at request {self.request}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and beside it the picture that stays where no kernel runs."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        try:
            picture = figure(f"<style>{STEP_RULES}</style>", self._picture(self.changes))
        except Exception as error:
            picture = figure(escape(f"{type(error).__name__}: {error}"))
        data |= {"text/plain": repr(self), "text/html": picture}
        return bundle
