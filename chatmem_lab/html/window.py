"""`window_html`: one window with its figures, its strip, its legend and its messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chatmem_lab.html.blocks import OVERHEAD, SCHEMAS, Block, read_blocks, totals
from chatmem_lab.html.numbers import counted, exact, noun, plural, share_text, short
from chatmem_lab.html.signs import sign
from chatmem_lab.html.strip import strip_svg, strip_uid
from chatmem_lab.html.style import caption, figure, figures_line, heading, legend
from chatmem_lab.html.svg import rect, swatch
from chatmem_lab.html.table import blocks_table, folded
from chatmem_lab.html.text import cut

__all__ = ["strip_legend", "window_html"]

#: Up to so many slots the table shows all.
ALL_SLOTS, LARGEST = 12, 5
BINS = (
    "Messages narrower than 3 px share a bin, split by role from top to bottom; "
    "the area stays true to the tokens."
)


def window_html(
    blocks: Iterable[Mapping[str, Any] | Block],
    *,
    budget: int | None = None,
    count_kind: str = "exact",
    tool_schema_tokens: int = 0,
    overhead_tokens: int = 0,
    request: int | None = None,
    policy: str = "",
    absent_messages: int = 0,
    prefix_tokens: int | None = None,
    title: str = "",
    styled: bool = True,
) -> str:
    """Draw one window: title and recipe, figures, strip, legend with totals, messages.

    Parameters
    ----------
    blocks : iterable of mapping or Block
        The slots, as `Window.blocks()` gives them.
    budget : int, optional
    count_kind : str
        How sure the tokens are; what is not exact says so.
    tool_schema_tokens, overhead_tokens : int
        What the request holds beside its messages.
    request : int, optional
    policy : str
        The recipe.
    absent_messages : int
        Messages of the history that are not in the window.
    prefix_tokens : int, optional
        What it shares with the request before.
    title : str
        In place of "Window at request …".
    styled : bool
        False where the page holds the style already.

    Returns
    -------
    str
        Escaped HTML without a script. All slots are in the table up to 12, above that the
        5 largest, and it says so.

    Examples
    --------
    >>> html = window_html([{"kind": "user", "tokens": 12, "text": "hi"}], budget=40, request=3)
    >>> "Window at request 3" in html, "30 %" in html
    (True, True)
    """
    slots = read_blocks(blocks)
    tokens = sum(slot.tokens for slot in slots) + tool_schema_tokens + overhead_tokens
    title = title or ("Window" if request is None else f"Window at request {request:,}")
    uid = strip_uid(slots, title, policy, budget)
    strip = strip_svg(
        slots,
        budget=budget,
        tool_schema_tokens=tool_schema_tokens,
        overhead_tokens=overhead_tokens,
        title=f"{title} {cut(policy, 200)}".strip(),
        uid=uid,
    )
    extra = {SCHEMAS: tool_schema_tokens, OVERHEAD: overhead_tokens}
    # Texts are escaped, so this element can only come from a bin.
    has_bins = "<g>" in strip
    return figure(
        heading(title, cut(policy, 200)),
        figures_line(*_figures(slots, tokens, budget, count_kind, absent_messages, prefix_tokens)),
        strip,
        strip_legend(slots, uid, extra),
        _messages(slots, uid),
        caption(BINS if has_bins else ""),
        styled=styled,
    )


def strip_legend(slots: Sequence[Block], uid: str, extra: Mapping[str, int] | None = None) -> str:
    """The legend of a strip: each kind with its total, each sign with its number.

    >>> strip_legend([Block("user", 1_250, pinned=True)], "u").count("<span>")
    2
    """
    sums = totals(slots) | {kind: tokens for kind, tokens in (extra or {}).items() if tokens}
    entries = [(swatch(kind, uid), kind, short(tokens)) for kind, tokens in sums.items()]
    if any(slot.pinned for slot in slots):
        entries.append((_small(16, rect(0, 5, 16, 2.5, "ink")), "pinned", ""))
    for state, words in (("made", "made"), ("cleared", "cleared"), ("clamped", "clamped")):
        count = sum(slot.state == state for slot in slots)
        if count:
            entries.append((_small(12, sign(state, 6, 6)), words, f"{count:,}"))
    return legend(*entries) if entries else ""


def _small(width: int, body: str) -> str:
    return (
        f'<svg class="bar" width="{width}" height="12" viewBox="0 0 {width} 12"'
        f' aria-hidden="true">{body}</svg>'
    )


def _figures(
    slots: Sequence[Block],
    tokens: int,
    budget: int | None,
    count_kind: str,
    absent: int,
    prefix: int | None,
) -> list[tuple[str, str]]:
    sure = "tokens, exact" if count_kind == "exact" else "tokens"
    shown = [(counted(exact(tokens), count_kind), sure)]
    if budget:
        shown.append((share_text(tokens / budget), "of the budget"))
    made = [slot for slot in slots if slot.state == "made"]
    word = "slot" if made else "message"
    shown.append((exact(len(slots)), noun(len(slots), word)))
    folded_away = sum(slot.covers or 0 for slot in made)
    words = "absent"
    if folded_away:
        summaries = plural(sum(1 for s in made if s.covers), "summary", "summaries")
        all_of_them = folded_away == absent
        words += f", {'' if all_of_them else f'{folded_away:,} '}folded into {summaries}"
    shown.append((exact(absent), words))
    if prefix is not None:
        shown.append((exact(prefix), "in the prefix"))
    return shown


def _messages(slots: Sequence[Block], uid: str) -> str:
    if not slots:
        return ""
    if len(slots) <= ALL_SLOTS:
        words = "messages" if all(slot.state != "made" for slot in slots) else "slots"
        return folded(words, blocks_table(slots, range(len(slots)), uid, "tokens"))
    largest = sorted(range(len(slots)), key=lambda i: (-slots[i].tokens, i))[:LARGEST]
    whole = sum(slot.tokens for slot in slots)
    part = sum(slots[i].tokens for i in largest)
    words = (
        f"the {LARGEST} largest of {len(slots):,} slots, "
        f"{share_text(part / whole if whole else None)} of their tokens"
    )
    return folded(words, blocks_table(slots, largest, uid, "tokens"))
