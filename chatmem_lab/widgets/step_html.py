"""`step_html`: one request of a replay as a static picture; what a player shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from chatmem_lab.html.blocks import read_blocks
from chatmem_lab.html.numbers import counted, exact, known, noun, plural, share_text, short
from chatmem_lab.html.strip import strip_svg, strip_uid
from chatmem_lab.html.style import GROUNDS, WIDTH, figures_line, heading
from chatmem_lab.html.svg import number, picture, rect, swatch
from chatmem_lab.html.text import cut, escape
from chatmem_lab.html.window import strip_legend
from chatmem_lab.metrics.changes import changes_at

__all__ = ["STEP_RULES", "changes_html", "step_html", "timeline_svg"]

#: Beside the rules of `html.style`.
STEP_RULES = """\
.cml .steps{list-style:none;margin:8px 0 0;padding:0}
.cml .steps>li{display:flex;gap:8px;margin:0 0 8px;line-height:1.5}
.cml .steps b{font-weight:600}
.cml .steps .mk{flex:none;width:16px;text-align:center}
.cml .chip{display:inline-flex;gap:6px;align-items:center;border:1px solid var(--line);\
border-radius:4px;padding:1px 7px;margin:4px 4px 0 0;font-size:12px;white-space:nowrap}
.cml .sub{font-weight:600;border-bottom:1px solid var(--line);padding:0 0 4px;margin:16px 0 8px}
"""
#: What each change is marked with, in the order in which they are told.
_SIGNS = {
    "entered": "+",
    "returned": "▶",
    "made": "◆",
    "replaced": "↻",
    "cleared": "○",
    "clamped": "ʌ",
    "folded": "◆",
    "evicted": "−",
}
_LIGHT = GROUNDS["light"]
#: The most messages that are named for each change.
MOST_CHIPS = 8
#: The most steps of the timeline.
MOST_STEPS = 400


def step_html(run: Any, request: int, changes: pd.DataFrame | None = None) -> str:
    """The window at one request: figures, strip, and what changed since the one before.

    Parameters
    ----------
    run : Replay
    request : int
    changes : DataFrame, optional
        `changes_at(run, request)`, where it is known already.

    Returns
    -------
    str
        Escaped HTML without a script, for an element with the rules of `html.style` and
        `STEP_RULES`.

    Examples
    --------
    >>> import chatmem_lab as cml
    >>> conversation = cml.Conversation("chat", (cml.user("<hi>"), cml.assistant("Hello!")))
    >>> html = step_html(cml.replay(conversation, cml.KeepAll(), model="gpt-4o"), 0)
    >>> "1 entered" in html, "<hi>" in html
    (True, False)
    """
    if changes is None:
        changes = changes_at(run, request)
    row = run.requests.iloc[request]
    window = run.window(request)
    slots = read_blocks(window.blocks())
    budget = known(row["budget"])
    schemas, overhead = int(row["tool_schema_tokens"]), int(row["overhead_tokens"])
    name = f"request {request:,} of {len(run.requests) - 1:,}"
    uid = strip_uid(slots, request, repr(run.policy))
    strip = strip_svg(
        slots,
        budget=None if budget is None else int(budget),
        tool_schema_tokens=schemas,
        overhead_tokens=overhead,
        title=f"Window at {name}",
        uid=uid,
    )
    extra = {"tool schemas": schemas, "overhead": overhead}
    return "".join(
        [
            heading(
                f"Replay of {cut(run.conversation.id, 80)}", cut(repr(run.policy), 200), note=name
            ),
            figures_line(*_figures(row, budget)),
            strip,
            strip_legend(slots, uid, extra),
            changes_html(changes, row, request, uid),
        ]
    )


def _figures(row: pd.Series, budget: float | None) -> list[tuple[str, str]]:
    tokens, prefix = int(row["input_tokens"]), int(row["prefix_tokens"])
    amount = counted(exact(tokens), str(row["count_kind"]))
    of = "" if budget is None else f"of {exact(budget)} "
    figures = [
        (amount, f"{of}tokens"),
        (share_text(prefix / tokens if tokens else None), "in the prefix"),
        (exact(row["messages"]), noun(row["messages"], "message")),
        (exact(row["absent_messages"]), "absent"),
    ]
    if row["over_budget"]:
        figures.append(("over budget", ""))
    return figures


def changes_html(changes: pd.DataFrame, row: pd.Series, request: int, uid: str) -> str:
    """What changed since the request before, as a list; why, where a reason is known."""
    items = []
    for change, mark in _SIGNS.items():
        for reason, group in changes[changes["change"] == change].groupby("reason", sort=False):
            items.append(_item(mark, _told(change, group), str(reason), _chips(group, uid)))
    for note in changes[~changes["change"].isin(list(_SIGNS))].itertuples():
        items.append(_item("!", escape(note.change), str(note.reason), ""))
    prefix, tokens = int(row["prefix_tokens"]), int(row["input_tokens"])
    came = int(changes["tokens_after"].sum())
    again = tokens - prefix - came - int(row["overhead_tokens"])
    if request and again > 0:
        words = f"prefix broken after {exact(prefix)} tokens"
        items.append(_item("▼", words, f"{exact(tokens - prefix)} paid in full", ""))
    if not items:
        items.append(_item("", "nothing", "", ""))
    title = f"what changed at request {request:,}"
    return f'<div class="sub">{title}</div><ul class="steps">{"".join(items)}</ul>'


def _told(change: str, group: pd.DataFrame) -> str:
    before, after = int(group["tokens_before"].sum()), int(group["tokens_after"].sum())
    told = f"{len(group):,} {change}"
    if change in ("cleared", "clamped", "replaced"):
        return f"{told}, {exact(before)} → {exact(after)} tokens"
    return f"{told}, {plural(before + after, 'token')}"


def _item(mark: str, told: str, reason: str, chips: str) -> str:
    why = f' <span class="q"><bdi>{escape(cut(reason, 240))}</bdi></span>' if reason else ""
    sign = f'<span class="mk" aria-hidden="true">{mark}</span>'
    return f"<li>{sign}<div><b>{told}</b>{why}{chips}</div></li>"


def _chips(group: pd.DataFrame, uid: str) -> str:
    chips = []
    shown: list[Any] = list(group.head(MOST_CHIPS).itertuples(index=False))
    for span in shown:
        name = "" if pd.isna(span.position) else f"#{span.position} "
        tokens = span.tokens_before or span.tokens_after
        amount = f'<span class="q">{short(int(tokens))}</span>' if tokens else ""
        sign = swatch(str(span.kind), uid) if span.kind else ""
        chips.append(f'<span class="chip">{sign}{name}{escape(span.kind)} {amount}</span>')
    if len(group) > MOST_CHIPS:
        chips.append(f'<span class="chip">and {len(group) - MOST_CHIPS:,} more</span>')
    return f"<div>{''.join(chips)}</div>"


def timeline_svg(requests: pd.DataFrame, request: int, removals: list[int]) -> str:
    """All requests at a glance: tokens as bars, a dash below where something left.

    The requests after `request` are pale; above 400 requests a bar is the largest of several.
    """
    n = len(requests)
    tokens = requests["input_tokens"].to_numpy(float)
    size = max(-(-n // MOST_STEPS), 1)
    heights = np.maximum.reduceat(tokens, np.arange(0, n, size)) if n else tokens
    full = max(float(heights.max()), 1.0) if n else 1.0
    step = WIDTH / max(len(heights), 1)
    now = request // size
    pieces: dict[str, list[str]] = {"ink2": [], "ink": [], "line": []}
    for index, value in enumerate(heights.tolist()):
        high = max(round(value / full * 32, 1), 0.5)
        wide = min(step - min(2, step * 0.2), 64)
        x = index * step + (step - wide) / 2
        colour = "ink" if index == now else "ink2" if index < now else "line"
        pieces[colour].append(
            f"M{number(x)} {number(36 - high)}h{number(wide)}v{number(high)}h-{number(wide)}z"
        )
    drawn = [
        f'<path d="{"".join(paths)}" class="f-{colour}" fill="{_LIGHT[colour]}"/>'
        for colour, paths in pieces.items()
        if paths
    ]
    left = sorted({r // size for r in removals})
    drawn += [rect(bin_ * step, 39, max(step - 1, 2), 3, "ink") for bin_ in left]
    said = (
        f"{plural(n, 'request')}, at most {full:,.0f} tokens; something left before "
        f"{plural(len(removals), 'request')}; now at request {request:,}"
    )
    return picture("timeline", 44, "Tokens per request", said, "".join(drawn))
