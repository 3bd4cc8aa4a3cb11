"""The design tokens: colours by role and theme, and the `<style>` block of every figure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from chatmem_lab.html.text import cut, escape

__all__ = ["GROUNDS", "NEUTRAL", "ROLES", "WIDTH", "Role", "Shade", "figure", "role_of", "style"]

#: The width of a figure in pixels; it is never stretched.
WIDTH = 868


@dataclass(frozen=True)
class Shade:
    """The colours of a role in one theme.

    `edge` outlines a block on the background, `on` is text upon `fill`.
    """

    fill: str
    edge: str
    on: str


@dataclass(frozen=True)
class Role:
    """How one kind of message is drawn: `name` is its CSS class, `pattern` tells it in grey."""

    name: str
    light: Shade
    dark: Shade
    pattern: str = "solid"


#: The one colour scale of the project, by kind of message.
ROLES: dict[str, Role] = {
    "system": Role(
        "system",
        Shade("#2a303c", "#2a303c", "#ffffff"),
        Shade("#c4ccd9", "#c4ccd9", "#111418"),
    ),
    "developer": Role(
        "developer",
        Shade("#98a0ae", "#6d7686", "#1b2230"),
        Shade("#5f687b", "#98a2b5", "#ffffff"),
        "dots",
    ),
    "user": Role(
        "user",
        Shade("#1a4f9c", "#1a4f9c", "#ffffff"),
        Shade("#5e9bf7", "#5e9bf7", "#111418"),
    ),
    "assistant": Role(
        "assistant",
        Shade("#efb043", "#b27a12", "#1b2230"),
        Shade("#dcb24c", "#dcb24c", "#111418"),
    ),
    "tool call": Role(
        "call",
        Shade("#00705f", "#00705f", "#ffffff"),
        Shade("#36917f", "#3f9f8c", "#111418"),
    ),
    "tool result": Role(
        "result",
        Shade("#b1e5d6", "#4b9a8b", "#1b2230"),
        Shade("#164f4b", "#46958c", "#e8ebf0"),
    ),
    "made": Role(
        "made",
        Shade("#b5419f", "#b5419f", "#ffffff"),
        Shade("#e070b8", "#e070b8", "#111418"),
        "hatch",
    ),
}

#: What is no message: tool schemas, overhead, a kind that nobody knows.
NEUTRAL = Role(
    "plain",
    Shade("#eceff3", "#6d7686", "#1b2230"),
    Shade("#22272f", "#98a2b5", "#e8ebf0"),
)

#: Everything that is not a role, by theme.
GROUNDS: dict[str, dict[str, str]] = {
    "light": {
        "bg": "#ffffff",
        "ink": "#1b2230",
        "ink2": "#556071",
        "line": "#d5dae2",
        "faint": "#eceff3",
        "panel": "#f5f6f8",
        "alarm": "#b93a0c",
        "focus": "#14478f",
    },
    "dark": {
        "bg": "#111418",
        "ink": "#e8ebf0",
        "ink2": "#a4adbb",
        "line": "#3a424e",
        "faint": "#22272f",
        "panel": "#1a1e24",
        "alarm": "#ff9a6a",
        "focus": "#8ab8ff",
    },
}

_SANS = '-apple-system,"Segoe UI",Inter,Roboto,"Noto Sans",sans-serif'
_MONO = 'ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace'

# The class is written three times in the rules for tables: JupyterLab's own rules for tables
# in an output would win otherwise.
_RULES = """\
.cml{font:13px/1.45 SANS;color:var(--ink);background:var(--bg);max-width:868px;\
font-variant-numeric:tabular-nums;margin:0;padding:4px 0;text-align:left}
.cml+.cml{margin-top:24px}
[data-jp-theme-light] .cml{background:none}
.cml *{box-sizing:border-box}
.cml .h{display:flex;gap:0 8px;align-items:baseline;flex-wrap:wrap;margin:0 0 2px}
.cml .h b{font-size:14px;font-weight:600}
.cml .h>*{overflow-wrap:anywhere;min-width:0}
.cml.cml.cml code,.cml.cml.cml .mono{font-family:MONO;font-size:12px;color:inherit;\
background:none;padding:0;white-space:pre-wrap;overflow-wrap:anywhere}
.cml .q{color:var(--ink2)}
.cml .figs{display:flex;flex-wrap:wrap;gap:4px 24px;margin:4px 0 8px}
.cml .figs span{white-space:nowrap;color:var(--ink2)}
.cml .figs b{color:var(--ink);font-weight:600;font-size:15px}
.cml .leg{display:flex;flex-wrap:wrap;gap:4px 16px;margin:8px 0 0;color:var(--ink2);font-size:12px}
.cml .leg span{display:inline-flex;align-items:center;gap:6px;white-space:nowrap}
.cml .leg b{color:var(--ink);font-weight:600}
.cml .z{display:none}
.cml .pic{overflow-x:auto;overflow-y:hidden}
.cml .pic>svg{display:block;width:100%;min-width:720px;max-width:868px;height:auto}
.cml svg text{font-family:SANS;font-size:11px;fill:var(--ink2)}
.cml svg text.t1{fill:var(--ink)}
.cml svg text.halo{paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
.cml svg.sw{width:12px;height:12px;min-width:0;flex:none;display:inline-block;vertical-align:-2px}
.cml td svg.sw{margin-right:4px}
.cml svg.bar{display:block;flex:none;max-width:none}
.cml .wide{overflow-x:auto}
.cml.cml.cml table{border-collapse:collapse;table-layout:auto;width:100%;font-size:12px;\
margin:8px 0 0;border:0;color:inherit}
.cml.cml.cml tr{background:none;border:0}
.cml.cml.cml th{font-weight:400;color:var(--ink2);text-align:left;padding:4px 8px 4px 0;\
border:0;border-bottom:1px solid var(--line);white-space:nowrap;font-size:12px;\
vertical-align:bottom;background:none;max-width:none}
.cml.cml.cml td{padding:4px 8px 4px 0;border:0;border-bottom:1px solid var(--faint);\
vertical-align:middle;text-align:left;max-width:none;line-height:1.35}
.cml.cml.cml td.n,.cml.cml.cml th.n{text-align:right;white-space:nowrap}
.cml.cml.cml td.k{white-space:nowrap}
.cml.cml.cml td.p{min-width:190px}
.cml.cml.cml td.clip{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:0;\
width:99%;min-width:180px}
.cml.cml.cml td.cut{color:var(--ink2)}
.cml details{margin:8px 0 0}
.cml summary{cursor:pointer;color:var(--ink2);font-size:12px}
.cml summary:focus-visible{outline:2px solid var(--focus);outline-offset:2px;border-radius:3px}
.cml .cap{color:var(--ink2);font-size:12px;margin:8px 0 0;max-width:110ch;\
overflow-wrap:anywhere}
.cml .f-ink{fill:var(--ink)}.cml .s-ink{stroke:var(--ink)}
.cml .f-ink2{fill:var(--ink2)}.cml .s-ink2{stroke:var(--ink2)}
.cml .f-line{fill:var(--line)}.cml .s-line{stroke:var(--line)}
.cml .f-faint{fill:var(--faint)}.cml .f-bg{fill:var(--bg)}.cml .s-bg{stroke:var(--bg)}
"""


def role_of(kind: str) -> Role:
    """How `kind` is drawn; a kind that nobody knows is drawn as what is no message.

    >>> role_of("tool call").light.fill, role_of("telepathy").name
    ('#00705f', 'plain')
    """
    return ROLES.get(kind, NEUTRAL)


@cache
def style() -> str:
    """The rules of all figures, for one `<style>` element; everything is below `.cml`.

    The theme is that of JupyterLab, where it says which it has, else the reader's own.
    Colours are attributes of the drawn elements too, so that a host that strips this block
    shows the light theme.

    Examples
    --------
    >>> style().startswith(".cml{--bg:#ffffff;")
    True
    """
    light, dark = _variables("light"), _variables("dark")
    by_role = "".join(
        f".cml .f-{name}{{fill:var(--{name})}}.cml .e-{name}{{stroke:var(--{name}-e)}}"
        f".cml svg .o-{name}{{fill:var(--{name}-on)}}"
        for name in [*(role.name for role in ROLES.values()), NEUTRAL.name]
    )
    rules = _RULES.replace("SANS", _SANS).replace("MONO", _MONO)
    return (
        f".cml{{{light}}}\n"
        f"@media (prefers-color-scheme:dark){{.cml{{{dark}}}}}\n"
        f'[data-jp-theme-light="true"] .cml{{{light}}}\n'
        f'[data-jp-theme-light="false"] .cml{{{dark}}}\n'
        f"{rules}{by_role}"
    )


def _variables(theme: str) -> str:
    pairs = [f"--{name}:{colour}" for name, colour in GROUNDS[theme].items()]
    for role in [*ROLES.values(), NEUTRAL]:
        shade = role.light if theme == "light" else role.dark
        pairs += [
            f"--{role.name}:{shade.fill}",
            f"--{role.name}-e:{shade.edge}",
            f"--{role.name}-on:{shade.on}",
        ]
    return ";".join([*pairs, f"color-scheme:{theme}"])


def figure(*parts: str, styled: bool = True) -> str:
    """Put finished HTML into the element that the rules are for.

    Parameters
    ----------
    *parts : str
        Escaped HTML.
    styled : bool
        False where the page holds `style` already.

    Notes
    -----
    Text with two `$` in it must not become a formula: the classes keep MathJax away.

    Examples
    --------
    >>> figure("<p>hi</p>", styled=False)
    '<div class="cml mathjax_ignore tex2jax_ignore"><p>hi</p></div>'
    """
    block = f"<style>{style()}</style>" if styled else ""
    return f'<div class="cml mathjax_ignore tex2jax_ignore">{block}{"".join(parts)}</div>'


def heading(title: str, recipe: str = "", *, note: str = "") -> str:
    """The line of title, the recipe as code, and words beside it.

    >>> heading("Window <1>", "KeepAll()")
    '<div class="h"><b><bdi>Window &lt;1&gt;</bdi></b> <code class="q">KeepAll()</code></div>'
    """
    parts = [f"<b><bdi>{escape(title)}</bdi></b>"]
    if recipe:
        parts.append(f'<code class="q">{escape(recipe)}</code>')
    if note:
        parts.append(f'<span class="q"><bdi>{escape(note)}</bdi></span>')
    return f'<div class="h">{" ".join(parts)}</div>'


def recipe(code: str, most: int = 200) -> str:
    """A policy's recipe as code that may break after a bracket, a comma or a bar.

    >>> recipe("A(1) | B(2)")
    '<code>A(<wbr>1) |<wbr> B(<wbr>2)</code>'
    """
    shown = escape(cut(code, most))
    for sign in "(,|":
        shown = shown.replace(sign, f"{sign}<wbr>")
    return f"<code>{shown}</code>"


def figures_line(*figures: tuple[str, str]) -> str:
    """At most six figures in a line, each a value and its words.

    The separators show only where the style is stripped.

    Examples
    --------
    >>> figures_line(("8", "messages"), ("0", "absent"))
    '<div class="figs"><span><b>8</b> messages</span><i class="z"> · </i><span><b>0</b> absent</span></div>'
    """  # noqa: E501
    spans = [f"<span><b>{escape(value)}</b> {escape(words)}</span>" for value, words in figures]
    return f'<div class="figs">{_joined(spans)}</div>'


def legend(*entries: tuple[str, str, str]) -> str:
    """A legend: for each entry the HTML of its sign, its words, and its total."""
    spans = []
    for sign, words, total in entries:
        value = f" <b>{escape(total)}</b>" if total else ""
        spans.append(f"<span>{sign} {escape(words)}{value}</span>")
    return f'<div class="leg">{_joined(spans)}</div>'


def caption(*sentences: str) -> str:
    """The lines under a figure, as plain words."""
    words = " ".join(sentence for sentence in sentences if sentence)
    return f'<p class="cap">{escape(words)}</p>' if words else ""


def _joined(spans: list[str]) -> str:
    return '<i class="z"> · </i>'.join(spans)
