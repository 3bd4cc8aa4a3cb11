"""`blocks_table`: the blocks of a strip as rows, with their tokens and how they begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatmem_lab.html.blocks import Block
from chatmem_lab.html.numbers import exact
from chatmem_lab.html.svg import block as svg_block
from chatmem_lab.html.svg import number, swatch
from chatmem_lab.html.text import begins, escape

__all__ = ["blocks_table", "folded", "plain_table"]

#: Pixels of the longest bar.
BAR = 92


def blocks_table(blocks: Sequence[Block], shown: Iterable[int | str], uid: str, unit: str) -> str:
    """Rows for some of the blocks.

    Parameters
    ----------
    blocks : sequence of Block
    shown : iterable of int or str
        Indices in the order of the rows; a str is a row of its own that says what is left out.
    uid : str
        The id of the picture whose patterns the swatches share.
    unit : str
        What is counted.

    Examples
    --------
    >>> blocks_table([Block("user", 3, text="<hi>")], [0], "", "tokens").count("&lt;hi&gt;")
    1
    """
    rows = list(shown)
    most = max((blocks[row].tokens for row in rows if isinstance(row, int)), default=0) or 1
    lines = []
    for row in rows:
        if isinstance(row, str):
            lines.append(f'<tr><td colspan="5" class="cut">{escape(row)}</td></tr>')
            continue
        block = blocks[row]
        state = f" · {block.state}" if block.state in ("cleared", "clamped") else ""
        place = "" if block.position is None else f"{block.position:,}"
        said = f' <span class="q">{escape(state)}</span>' if state else ""
        lines.append(
            f'<tr><td class="n q">{place}</td>'
            f'<td class="k">{swatch(block.kind, uid)} {escape(block.kind)}{said}</td>'
            f'<td class="n">{exact(block.tokens)}</td><td>{_bar(block, most, uid)}</td>'
            f'<td class="clip mono"><bdi>{escape(begins(block.text))}</bdi></td></tr>'
        )
    return (
        '<div class="wide"><table><thead><tr><th class="n">#</th><th>role</th>'
        f'<th class="n">{escape(unit)}</th><th></th><th>begins</th></tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def plain_table(
    names: Sequence[str], rows: Iterable[Sequence[object]], *, texts: Iterable[int] = (0,)
) -> str:
    """A table of values that are written already; numbers to the right, texts to the left.

    Parameters
    ----------
    names : sequence of str
        What stands above the columns.
    rows : iterable of sequence
    texts : iterable of int
        The columns that hold text.

    Examples
    --------
    >>> plain_table(["policy", "tokens"], [["KeepAll()", "1,760"]]).count('class="n"')
    2
    """
    left = set(texts)
    sides = ["" if column in left else ' class="n"' for column in range(len(names))]
    head = "".join(f"<th{side}>{escape(name)}</th>" for side, name in zip(sides, names))
    lines = []
    for row in rows:
        cells = (f"<td{side}><bdi>{escape(cell)}</bdi></td>" for side, cell in zip(sides, row))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def folded(words: str, body: str, *, is_open: bool = True) -> str:
    """`body` under words that open and close it; needs no script.

    >>> folded("messages", "<p></p>", is_open=False)
    '<details><summary>messages</summary><p></p></details>'
    """
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{escape(words)}</summary>{body}</details>"


def _bar(block: Block, most: int, uid: str) -> str:
    """A bar for the eye; its number stands beside it."""
    width = block.tokens * (BAR - 1) / most
    drawn = svg_block(0.5, 0.5, max(width, 0.5), 8, block.kind, uid, edged=width > 3)
    return (
        f'<svg class="bar" width="{BAR}" height="9" viewBox="0 0 {number(BAR)} 9"'
        f' aria-hidden="true">{drawn}/></svg>'
    )
