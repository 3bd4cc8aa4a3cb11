"""`conversation_html`: a recorded conversation, who said what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from chatmem_lab.html.blocks import Block
from chatmem_lab.html.numbers import exact, noun, plural
from chatmem_lab.html.strip import strip_svg, strip_uid
from chatmem_lab.html.style import caption, figure, figures_line, heading
from chatmem_lab.html.table import blocks_table, folded
from chatmem_lab.html.text import cut
from chatmem_lab.html.window import BINS, strip_legend

__all__ = ["conversation_html"]

#: Up to so many messages the table shows all, above that the first and the last ones.
ALL_MESSAGES, FIRST, LAST = 12, 7, 4


class Call(Protocol):
    """A tool call: its name and its arguments as they were recorded."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> str: ...


def conversation_html(
    id: str,
    messages: Sequence[tuple[str, str, Sequence[Call]]],
    *,
    requests: int,
    turns: int,
    model: str | None = None,
    source: str | None = None,
    tools: int = 0,
    styled: bool = True,
) -> str:
    """Draw a conversation: figures, a strip as wide as its characters, its messages.

    Parameters
    ----------
    id : str
    messages : sequence of (kind, text, tool calls)
        A call is anything with `.name` and `.arguments`.
    requests, turns : int
    model, source : str, optional
    tools : int
        How many tool schemas it has.
    styled : bool
        False where the page holds the style already.

    Returns
    -------
    str
        Escaped HTML without a script. Up to 12 messages are all in the table, above that
        the first 7 and the last 4, and it says so.

    Examples
    --------
    >>> html = conversation_html("<a>", [("user", "hi", ())], requests=0, turns=1)
    >>> "&lt;a&gt;" in html, "<a>" in html
    (True, False)
    """
    blocks = _blocks(messages)
    characters = sum(block.tokens for block in blocks)
    uid = strip_uid(blocks, id)
    shown = [
        (exact(len(blocks)), noun(len(blocks), "message")),
        (exact(turns), noun(turns, "turn")),
        (exact(requests), noun(requests, "request")),
        (exact(characters), noun(characters, "character")),
    ]
    calls = sum(len(calls) for _, _, calls in messages)
    if calls or tools:
        shown.append((exact(calls), f"{noun(calls, 'tool call')}, {plural(tools, 'tool schema')}"))
    title = f"Conversation {cut(id, 120)}"
    strip = strip_svg(blocks, title=title, unit="characters", uid=uid) if blocks else ""
    cuts = BINS.replace("tokens", "characters") if "<g>" in strip else ""
    return figure(
        heading(title, note=" · ".join(cut(x, 120) for x in (model, source) if x)),
        figures_line(*shown),
        strip,
        strip_legend(blocks, uid),
        _table(blocks, uid),
        caption(cuts),
        styled=styled,
    )


def _blocks(messages: Sequence[tuple[str, str, Sequence[Call]]]) -> list[Block]:
    blocks = []
    turn = 0
    for position, (kind, text, calls) in enumerate(messages):
        starts = kind == "user"
        turn += starts
        size = len(text) + sum(len(call.name) + len(call.arguments) + 2 for call in calls)
        # Enough of them to show how the message begins.
        said = "; ".join(f"{call.name}({call.arguments[:400]})" for call in islice(calls, 8))
        shown = f"{text[:800]}\n{said}" if text and said else text[:800] or said
        blocks.append(
            Block(kind, size, position=position, text=shown, turn=turn if starts else None)
        )
    return blocks


def _table(blocks: Sequence[Block], uid: str) -> str:
    if not blocks:
        return ""
    count = len(blocks)
    if count <= ALL_MESSAGES:
        return folded("messages", blocks_table(blocks, range(count), uid, "characters"))
    cut_out = f"… {plural(count - FIRST - LAST, 'message')} between them, see .messages"
    rows = [*range(FIRST), cut_out, *range(count - LAST, count)]
    words = f"the first {FIRST} and the last {LAST} of {count:,} messages"
    return folded(words, blocks_table(blocks, rows, uid, "characters"))
