"""`KeyedBox`: what the widgets share. Keys, errors that show, a picture that stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from chatmem_lab.html.style import caption, figure, style
from chatmem_lab.html.text import escape

__all__ = ["KeyedBox", "shown"]

_RULES = """\
.cml-widget{max-width:884px;padding:2px 8px}
.cml-widget:focus-visible{outline:2px solid #14478f;outline-offset:2px;border-radius:3px}
[data-jp-theme-light="false"] .cml-widget:focus-visible{outline-color:#8ab8ff}
.cml-says{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.cml-widget .cml{background:none}
.cml .err{color:var(--alarm);white-space:pre-wrap;overflow-wrap:anywhere}
"""


class Keys(anywidget.AnyWidget):
    """Hands the keys that are pressed in the widget around it to Python; says what was done."""

    _esm = Path(__file__).with_name("keys.js")
    _css = _RULES
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    says = traitlets.Unicode().tag(sync=True)


def shown(method: Any) -> Any:
    """An exception in a callback shows in the widget, which goes on working."""

    @wraps(method)
    def guarded(self: KeyedBox, *args: Any) -> None:
        try:
            self.exception = None
            method(self, *args)
        except Exception as error:
            self.exception = error

    return guarded


class KeyedBox(ipywidgets.VBox):
    """A box that takes keys, shows what went wrong, and leaves a picture where no kernel runs.

    Parameters
    ----------
    label : str
        What it is, for those who do not see it.
    keys : sequence of str
        Those that `press` knows, as browsers name them.
    legend : str
        The keys in words.
    rules : str
        CSS beside that of all figures.

    Attributes
    ----------
    exception : Exception or None
        What went wrong in the last callback.
    """

    exception = traitlets.Instance(Exception, allow_none=True)

    def __init__(self, label: str, keys: Sequence[str], legend: str, rules: str = "") -> None:
        self._own_rules = rules
        self._error = ipywidgets.HTML()
        self._keys = Keys(label=label, names=list(keys))
        self._keys.on_msg(self._pressed)
        self._legend = ipywidgets.HTML(figure(caption(legend), styled=False))
        super().__init__()
        self.add_class("cml-widget")
        self.observe(lambda _: self._show_error(), "exception")

    def press(self, key: str) -> None:
        """Do what `key` does in the browser."""
        raise NotImplementedError

    def _picture(self) -> str:
        """What is left where no kernel runs, as HTML."""
        raise NotImplementedError

    def _hold(self, *children: ipywidgets.Widget) -> None:
        """Show `children`; the rules stand before them, the keys after them."""
        rules = ipywidgets.HTML(f"<style>{style()}{self._own_rules}{_RULES}</style>")
        self.children = [rules, *children, self._legend, self._keys]

    def _button(self, words: str, tooltip: str, do: Callable[[Any], Any]) -> ipywidgets.Button:
        button = ipywidgets.Button(
            description=words, tooltip=tooltip, layout={"width": "auto", "min_width": "32px"}
        )
        button.on_click(do)
        return button

    @shown
    def _pressed(self, _: object, content: Any, __: object) -> None:
        self.press(str(content.get("key")))

    def _show_error(self) -> None:
        error = self.exception
        words = "" if error is None else escape(f"{type(error).__name__}: {error}")
        told = f'<p class="err" role="alert">{words}</p>' if words else ""
        self._error.value = figure(told, styled=False) if told else ""

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and beside it the picture that stays where no kernel runs."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        try:
            picture = figure(f"<style>{self._own_rules}</style>", self._picture())
        except Exception as error:
            picture = figure(escape(f"{type(error).__name__}: {error}"))
        data |= {"text/plain": repr(self), "text/html": picture}
        return bundle
