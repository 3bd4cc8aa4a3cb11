"""SVG elements as strings: each carries its colour as an attribute and as a class."""

from __future__ import annotations

from chatmem_lab.html.style import GROUNDS, WIDTH, Role, Shade, role_of
from chatmem_lab.html.text import escape

__all__ = ["block", "defs", "line", "number", "picture", "rect", "swatch", "text"]

_LIGHT = GROUNDS["light"]


def number(value: float) -> str:
    """A coordinate: one place, no more characters than it needs.

    >>> number(12.0), number(0.25), number(-0.01)
    ('12', '0.2', '0')
    """
    shown = f"{value:.1f}"
    if shown.endswith(".0"):
        shown = shown[:-2]
    return "0" if shown == "-0" else shown


def rect(
    x: float, y: float, width: float, height: float, fill: str, *, title: str = "", more: str = ""
) -> str:
    """A rectangle in a colour of the ground: ink, ink2, line, faint, bg.

    >>> rect(0, 4, 53.1, 10, "line")
    '<rect x="0" y="4" width="53.1" height="10" class="f-line" fill="#d5dae2"/>'
    """
    head = (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}"'
        f' height="{number(height)}" class="f-{fill}" fill="{_LIGHT[fill]}"{more}'
    )
    return f"{head}><title>{escape(title)}</title></rect>" if title else f"{head}/>"


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    stroke: str = "line",
    *,
    width: float = 1,
    dash: str = "",
) -> str:
    """A line in a colour of the ground."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
        f' class="s-{stroke}" stroke="{_LIGHT[stroke]}" stroke-width="{width:g}"{dashes}/>'
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    ink: bool = False,
    halo: bool = False,
    on: Role | None = None,
) -> str:
    """Words at 11 px: quiet, in full ink, or `on` a block of a role."""
    classes = [name for name, wanted in (("t1", ink), ("halo", halo)) if wanted]
    fill = _LIGHT["ink"] if ink else _LIGHT["ink2"]
    if on is not None:
        classes, fill = [f"o-{on.name}"], on.light.on
    named = f' class="{" ".join(classes)}"' if classes else ""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}"{named} fill="{fill}" font-size="11"'
        f' font-family="sans-serif"{where}>{escape(words)}</text>'
    )


def paint(kind: str, uid: str, *, edged: bool = True) -> str:
    """The attributes that fill and outline a block of `kind`.

    Hatched and dotted kinds are filled from `defs` of the same figure.
    """
    role = role_of(kind)
    shade: Shade = role.light
    edge = f' stroke="{shade.edge}"' if edged else ""
    if role.pattern != "solid" and uid:
        classes = f' class="e-{role.name}"' if edged else ""
        return f'{classes} fill="url(#{uid}-{role.name}) {shade.fill}"{edge}'
    classes = f"f-{role.name} e-{role.name}" if edged else f"f-{role.name}"
    return f' class="{classes}" fill="{shade.fill}"{edge}'


def block(
    x: float, y: float, width: float, height: float, kind: str, uid: str, *, edged: bool = True
) -> str:
    """A rectangle of a kind of message, still open for a `<title>`: add `/>` or `>…</rect>`."""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}"'
        f' height="{number(height)}"{paint(kind, uid, edged=edged)}'
    )


def defs(uid: str, kinds: set[str]) -> str:
    """The hatch of made messages and the dots of developer messages, if they are in `kinds`."""
    parts = []
    for kind in ("made", "developer"):
        if kind not in kinds:
            continue
        role = role_of(kind)
        ground = f'class="f-{role.name}" fill="{role.light.fill}"/>'
        if role.pattern == "hatch":
            parts.append(
                f'<pattern id="{uid}-{role.name}" width="5" height="5"'
                ' patternTransform="rotate(45)" patternUnits="userSpaceOnUse">'
                f'<rect width="5" height="5" {ground}'
                f'<rect width="1.3" height="5" class="f-bg" fill="{_LIGHT["bg"]}"/></pattern>'
            )
        else:
            parts.append(
                f'<pattern id="{uid}-{role.name}" width="4" height="4"'
                ' patternUnits="userSpaceOnUse">'
                f'<rect width="4" height="4" {ground}'
                f'<circle cx="2" cy="2" r="0.8" class="f-bg" fill="{_LIGHT["bg"]}"/></pattern>'
            )
    return f"<defs>{''.join(parts)}</defs>" if parts else ""


def swatch(kind: str, uid: str) -> str:
    """The sign of a kind in legends and tables, beside a picture whose `defs` it shares."""
    drawn = block(0.5, 0.5, 11, 11, kind, uid)
    return (
        '<svg class="sw" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">'
        f'{drawn} rx="1.5"/></svg>'
    )


def picture(
    uid: str, height: float, title: str, describe: str, body: str, *, top: float = 0
) -> str:
    """A whole picture as wide as a figure, with its alternative in words.

    It shows what lies between `top` and `height`.
    """
    tall = number(height - top)
    return (
        f'<div class="pic"><svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}"'
        f' height="{tall}" viewBox="0 {number(top)} {WIDTH} {tall}" role="img"'
        f' aria-labelledby="{uid}-t {uid}-d">'
        f'<title id="{uid}-t">{escape(title)}</title>'
        f'<desc id="{uid}-d">{escape(describe)}</desc>{body}</svg></div>'
    )
