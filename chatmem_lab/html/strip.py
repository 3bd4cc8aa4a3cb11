"""`strip_svg`: one window as a strip of blocks as wide as their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zlib import crc32

from chatmem_lab.html.blocks import (
    OVERHEAD,
    SCHEMAS,
    Block,
    gaps,
    read_blocks,
    totals,
    turn_starts,
)
from chatmem_lab.html.frame import (
    HEIGHT,
    TOP,
    budget_line,
    pinned_bars,
    place_marks,
    room_left,
    state_signs,
    token_axis,
)
from chatmem_lab.html.numbers import plural, short
from chatmem_lab.html.style import WIDTH, role_of
from chatmem_lab.html.svg import block as svg_block
from chatmem_lab.html.svg import defs, number, paint, picture, text
from chatmem_lab.html.text import begins, escape, text_width

__all__ = ["strip_svg", "strip_uid"]

#: Blocks narrower than this share a bin.
NARROW = 3.0
MOST_MARKS = 300
#: What hover texts may take of the whole, in bytes, and the whole.
MOST_BYTES = 56_000
#: A window below this share of the budget gets a scale of its own.
SMALL_SHARE = 0.25


def strip_svg(
    blocks: Iterable[Mapping[str, Any] | Block],
    *,
    budget: int | None = None,
    tool_schema_tokens: int = 0,
    overhead_tokens: int = 0,
    title: str = "Window",
    unit: str = "tokens",
    uid: str = "",
) -> str:
    """Draw one window as a strip: a block for each slot, as wide as its tokens.

    Parameters
    ----------
    blocks : iterable of mapping or Block
        The slots in order, as `Window.blocks()` gives them: `kind` and `tokens`, and
        `state`, `pinned`, `position`, `text`, `turn`, `covers` where they are known.
    budget : int, optional
        Draws the budget's line and the room that is left.
    tool_schema_tokens, overhead_tokens : int
        What a request holds beside its messages: drawn first and last, without a role.
    title : str
        What the picture shows, for those who do not see it.
    unit : str
        What a width stands for.
    uid : str
        Goes into the ids of this picture; made from what is drawn if empty.

    Returns
    -------
    str
        An `<svg>` in a `<div>`, escaped, at most 60 kB, with at most 300 blocks. The rules
        of `style` are not in it.

    Notes
    -----
    Neighbours narrower than 3 px share a bin that is split by role from top to bottom: the
    area stays true to the tokens. What was cleared, clamped or made keeps its sign below.

    Examples
    --------
    >>> strip_svg([{"kind": "user", "tokens": 12, "text": "<hi>"}], budget=40).count("&lt;hi&gt;")
    1
    """
    slots = read_blocks(blocks)
    gone, starts = gaps(slots), turn_starts(slots, gaps(slots))
    uid = uid or strip_uid(slots, title, budget)
    if tool_schema_tokens > 0:
        # The schemas are sent first, so every index moves up by one.
        slots.insert(0, Block(SCHEMAS, tool_schema_tokens))
        gone = {index + 1: count for index, count in gone.items()}
        starts = {index + 1: turn for index, turn in starts.items()}
    if overhead_tokens > 0:
        slots.append(Block(OVERHEAD, overhead_tokens))
    used = sum(slot.tokens for slot in slots)
    limit = _scale_end(used, budget)
    edges = [0.0]
    for slot in slots:
        edges.append(edges[-1] + slot.tokens * WIDTH / limit)

    marks = _marks(slots, edges, gone)
    line_at = budget * WIDTH / limit if budget else WIDTH
    drawn = [_mark(slots, edges, mark, uid, unit, line_at) for mark in marks]
    before = defs(uid, {slot.kind for slot in slots}) + room_left(used, budget, limit)
    above = pinned_bars(slots, edges) + place_marks(edges, gone, starts)
    below, bottom = state_signs(slots, edges, TOP + HEIGHT)
    axis, bottom = token_axis(limit, bottom, unit)
    after = above + below + axis + budget_line(used, budget, limit)
    if not slots:
        after += text(6, TOP + 24, "no messages")
    body = before + _with_texts(drawn, MOST_BYTES - len(before) - len(after)) + after
    # No room above for what is not there.
    top = 0 if budget else 16 if gone or starts else 34
    said = _described(slots, gone, used, budget, unit)
    return picture(uid, bottom, title, said, body, top=top)


def strip_uid(blocks: Iterable[Mapping[str, Any] | Block], *more: object) -> str:
    """An id for a picture, the same whenever the same is drawn.

    >>> strip_uid([Block("user", 12)]) == strip_uid([Block("user", 12)])
    True
    """
    drawn = [(b.kind, b.tokens, b.state, b.position) for b in read_blocks(blocks)]
    return f"c{crc32(repr((drawn, more)).encode('utf-8', 'replace')):08x}"


def _scale_end(used: int, budget: int | None) -> float:
    if not budget or used >= budget:
        return max(used, 1)
    return used * 2 if 0 < used < budget * SMALL_SHARE else budget


# --- blocks and bins


def _marks(slots: Sequence[Block], edges: list[float], gone: Mapping[int, int]) -> list[range]:
    """The slots of each block or bin; wider bins where there would be too many."""
    for least in (NARROW, 4, 6, 8, 12, 16, 24, 48):
        marks = _binned(edges, gone if least == NARROW else {}, least)
        if sum(len({slots[i].kind for i in mark}) for mark in marks) <= MOST_MARKS:
            break
    return marks


def _binned(edges: list[float], breaks: Mapping[int, int], least: float) -> list[range]:
    marks: list[range] = []
    start = 0
    for index in range(len(edges) - 1):
        if start < index and (index in breaks or edges[index + 1] - edges[index] >= least):
            marks.append(range(start, index))
            start = index
        if edges[index + 1] - edges[start] >= least:
            marks.append(range(start, index + 1))
            start = index + 1
    if start < len(edges) - 1:
        marks.append(range(start, len(edges) - 1))
    return marks


def _mark(
    slots: Sequence[Block], edges: list[float], mark: range, uid: str, unit: str, line_at: float
) -> tuple[str, str, str]:
    """What stands before a hover text, the text of the message, and what stands after."""
    x, width = edges[mark[0]], edges[mark[-1] + 1] - edges[mark[0]]
    if len(mark) > 1:
        return _bin([slots[i] for i in mark], x, width, uid, unit), "", "</g>"
    slot = slots[mark[0]]
    left, wide = x + min(0.5, width / 6), max(width - min(1.0, width / 3), 0.1)
    edged = width >= 4
    title = f"<title>{escape(_hover(slot, unit))}"
    label = _label(slot, x, width, line_at)
    if slot.state == "cleared" and width >= NARROW:
        head = (
            f'<rect x="{number(left + 0.25)}" y="{TOP + 0.5}" width="{number(wide - 0.5)}"'
            f' height="{HEIGHT - 1}" class="f-bg e-{role_of(slot.kind).name}" fill="#ffffff"'
            f' stroke="{role_of(slot.kind).light.edge}" stroke-dasharray="2 2">'
        )
        return head + title, slot.text, f"</title></rect>{label}"
    if slot.state == "clamped" and width >= 6:
        return (
            f'<polygon points="{_torn(left, wide)}"{paint(slot.kind, uid)}>{title}',
            slot.text,
            f"</title></polygon>{label}",
        )
    head = svg_block(left, TOP, wide, HEIGHT, slot.kind, uid, edged=edged)
    thin = ' stroke-width="0.75"' if edged else ""
    return f"{head}{thin}>{title}", slot.text, f"</title></rect>{label}"


def _bin(slots: Sequence[Block], x: float, width: float, uid: str, unit: str) -> str:
    """A bin, split by kind from top to bottom, open at its end."""
    sums = totals(slots)
    whole = sum(sums.values())
    places = [slot.position for slot in slots if slot.position is not None]
    where = f"#{min(places)}–#{max(places)} · " if places else ""
    by_kind = ", ".join(f"{kind} {tokens:,}" for kind, tokens in sums.items())
    title = f"{where}{plural(len(slots), 'slot')} · {whole:,} {unit}: {by_kind}"
    y, parts = float(TOP), []
    left, wide = x + min(0.25, width / 8), max(width - min(0.5, width / 4), 0.1)
    for kind, tokens in sums.items():
        tall = HEIGHT * tokens / whole if whole else 0.0
        if tall:
            parts.append(svg_block(left, y, wide, tall, kind, uid, edged=False) + "/>")
        y += tall
    return f"<g><title>{escape(title)}</title>{''.join(parts)}"


def _torn(x: float, width: float) -> str:
    """A block whose right edge is torn."""
    right, tooth = x + width, min(4.0, width / 3)
    step = HEIGHT / 10
    points: list[tuple[float, float]] = [(x, TOP)]
    points += [(right - (tooth if i % 2 else 0), TOP + i * step) for i in range(11)]
    points.append((x, TOP + HEIGHT))
    return " ".join(f"{number(px)},{number(py)}" for px, py in points)


def _label(slot: Block, x: float, width: float, line_at: float) -> str:
    """Kind and tokens inside the block, beside the budget's line if it runs through."""
    tokens = short(slot.tokens)
    if x < line_at < x + text_width(slot.kind) + 12:
        x, width = line_at, x + width - line_at
    if width < max(30, text_width(tokens) + 6):
        return ""
    role = role_of(slot.kind)
    if slot.state == "cleared":
        return text(x + 6, TOP + 24, tokens)
    if role.pattern != "solid":
        named = f"{slot.kind} {tokens}"
        words = named if text_width(named) + 16 <= width else tokens
        chip = (
            f'<rect x="{number(x + 4)}" y="{TOP + 12}" width="{number(text_width(words) + 4)}"'
            f' height="17" rx="2" class="f-{role.name}" fill="{role.light.fill}"/>'
        )
        return chip + text(x + 6, TOP + 24, words, on=role)
    if text_width(slot.kind) + 10 <= width:
        return text(x + 6, TOP + 17, slot.kind, on=role) + text(x + 6, TOP + 30, tokens, on=role)
    return text(x + 5, TOP + 24, tokens, on=role)


def _hover(slot: Block, unit: str) -> str:
    facts = [slot.name] if slot.position is not None else []
    facts += [slot.kind, f"{slot.tokens:,} {unit}"]
    if slot.state not in ("kept", "made"):
        facts.append(slot.state)
    if slot.covers:
        facts.append(f"stands for {plural(slot.covers, 'message')}")
    if slot.pinned:
        facts.append("pinned")
    return " · ".join(facts)


def _with_texts(drawn: Sequence[tuple[str, str, str]], room: int) -> str:
    """The blocks with as much of each message as there is room for in the whole."""
    spare = room - sum(len(head) + len(tail) for head, _, tail in drawn)
    said = sum(1 for _, words, _ in drawn if words)
    each = min(spare // said, 800) if said else 0
    parts = []
    for head, words, tail in drawn:
        shown = "\n" + begins(words, min(each, 160)) if words and each > 12 else ""
        # Escaping and scripts of three bytes a sign make a text longer than its characters.
        for most in (80, 40, 20):
            if len(escape(shown).encode("utf-8")) <= each:
                break
            shown = "\n" + begins(words, min(each, most))
        else:
            if len(escape(shown).encode("utf-8")) > each:
                shown = ""
        parts.append(f"{head}{escape(shown)}{tail}")
    return "".join(parts)


def _described(
    slots: Sequence[Block], gone: Mapping[int, int], used: int, budget: int | None, unit: str
) -> str:
    """The picture in words, with its numbers."""
    messages = [slot for slot in slots if slot.kind not in (SCHEMAS, OVERHEAD)]
    whole = f"{used:,} of {budget:,} {unit}" if budget else f"{used:,} {unit}"
    parts = [f"{plural(len(messages), 'slot')}, {whole}"]
    sums = totals(slots)
    if sums:
        parts.append(", ".join(f"{kind} {tokens:,}" for kind, tokens in sums.items()))
    pinned = sum(slot.tokens for slot in slots if slot.pinned)
    if pinned:
        parts.append(f"{pinned:,} {unit} pinned")
    for state in ("cleared", "clamped"):
        count = sum(slot.state == state for slot in slots)
        if count:
            parts.append(f"{plural(count, 'message')} {state}")
    if gone:
        parts.append(f"{plural(sum(gone.values()), 'message')} gone")
    return "; ".join(parts) + "."
