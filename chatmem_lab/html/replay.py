"""`replay_html`: what was sent at each request, what was evicted, what a cache could serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

from chatmem_lab.html.numbers import (
    count_words,
    counted,
    exact,
    known,
    noun,
    plural,
    share_text,
    short,
)
from chatmem_lab.html.panels import (
    axis_panel,
    evicted_panel,
    hover_panel,
    prefix_panel,
    signs_panel,
    tokens_panel,
)
from chatmem_lab.html.series import LAYERS, Series, binned, read_series
from chatmem_lab.html.signs import sign
from chatmem_lab.html.style import caption, figure, figures_line, heading, legend
from chatmem_lab.html.svg import defs, picture, rect, swatch
from chatmem_lab.html.table import folded, plain_table
from chatmem_lab.html.text import cut

__all__ = ["OPEN_LOOP", "replay_html"]

#: Up to so many requests have a bar each; more are steps, each of several requests above.
MOST_BARS, MOST_STEPS = 120, 800
#: The events that have a sign, as in `run.events`, and their state and word.
SIGNS = {"fold": ("made", "folded"), "clear": ("cleared", "cleared"), "clamp": ("clamped",) * 2}
OPEN_LOOP = "Open loop: the recorded replies were produced with the recorded context."


def replay_html(
    id: str,
    columns: Mapping[str, Iterable[object]],
    *,
    policy: str = "",
    model: str | None = None,
    count_kind: str = "exact",
    events: Mapping[str, Iterable[object]] | None = None,
    styled: bool = True,
) -> str:
    """Draw a replay: figures, tokens by role, evictions, the prefix, the heaviest requests.

    Parameters
    ----------
    id : str
        The conversation's.
    columns : mapping of str to values
        A value per request, named as in `run.requests`: `system_tokens`, `user_tokens`,
        `assistant_tokens`, `tool_call_tokens`, `tool_result_tokens`, `made_tokens`,
        `tool_schema_tokens`, `overhead_tokens`, `input_tokens`, `evicted_tokens`,
        `evicted_messages`, `prefix_tokens`, `budget`, `over_budget`.
    policy : str
        The recipe.
    model : str, optional
    count_kind : str
        How sure the counts are: the weakest of all requests.
    events : mapping of str to values, optional
        For "fold", "clear" and "clamp" the requests that first show it.
    styled : bool
        False where the page holds the style already.

    Returns
    -------
    str
        Escaped HTML without a script. Bars up to 120 requests, steps above; above 800 each
        step stands for several requests, and the caption says how many.

    Examples
    --------
    >>> html = replay_html("a-1", {"user_tokens": [9, 12]}, policy="KeepAll()")
    >>> "Replay of a-1" in html, "Open loop" in html
    (True, True)
    """
    series = read_series(columns)
    steps = binned(series, MOST_STEPS)
    marked = _marked(events or {}, series.requests)
    uid = f"r{crc32(repr((id, policy, steps, marked)).encode('utf-8', 'replace')):08x}"
    bars = series.requests <= MOST_BARS
    title = f"Replay of {cut(id, 120)}"
    if not series.requests:
        empty = "No requests: no generated assistant message in it."
        return figure(heading(title, cut(policy, 200)), caption(empty), styled=styled)

    gone = _gone(series, marked)
    parts, y = [defs(uid, {"made"} if any(steps.layers["made"]) else set())], 0.0
    body, y = tokens_panel(steps, y, uid, bars=bars)
    parts.append(body)
    body, y = evicted_panel(steps, y, gone)
    parts.append(body)
    if marked:
        body, y = signs_panel(steps, y, marked)
        parts.append(body)
    body, y = prefix_panel(steps, y, bars=bars)
    parts += [body, hover_panel(steps, y, MOST_BARS, gone)]
    body, y = axis_panel(steps, y)
    parts.append(body)
    said = f"{title} under {cut(policy, 200)}" if policy else title
    return figure(
        heading(title, cut(policy, 200), note=cut(model or "", 80)),
        figures_line(*_figures(series, count_kind, gone)),
        picture(uid, y, said, _described(series, marked), "".join(parts)),
        _legend(series, marked, uid),
        _table(series, gone),
        caption(OPEN_LOOP, count_words(count_kind), _cuts(steps)),
        styled=styled,
    )


def _marked(events: Mapping[str, Iterable[object]], requests: int) -> dict[str, list[float]]:
    """The requests of each event that a request shows; others happened after the last one."""
    read = {kind: [known(request) for request in events.get(kind, ())] for kind in SIGNS}
    shown = {
        kind: sorted(at for at in found if at is not None and 0 <= at < requests)
        for kind, found in read.items()
    }
    return {kind: found for kind, found in shown.items() if found}


def _gone(series: Series, marked: Mapping[str, list[float]]) -> str:
    """What it is called when messages leave."""
    return "evicted or folded" if "fold" in marked or any(series.layers["made"]) else "evicted"


def _figures(series: Series, count_kind: str, gone: str) -> list[tuple[str, str]]:
    total, left = sum(series.input), sum(series.evicted_messages)
    shown = [
        (exact(series.requests), noun(series.requests, "request")),
        (counted(short(total), count_kind), "input tokens"),
        (counted(short(max(series.tokens)), count_kind), "at the peak"),
        (short(sum(series.evicted)), f"{gone}, {plural(left, 'message')}"),
        (share_text(sum(series.prefix) / total if total else None), "in the prefix"),
    ]
    over = sum(1 for value in series.over if value)
    if over:
        shown.append((exact(over), "over budget"))
    return shown


def _described(series: Series, marked: Mapping[str, list[float]]) -> str:
    peak = max(range(series.requests), key=lambda i: series.tokens[i])
    total = sum(series.input)
    said = [
        f"{plural(series.requests, 'request')}, {total:,.0f} input tokens",
        f"peak {series.tokens[peak]:,.0f} tokens at request {peak:,}",
        f"{sum(series.evicted):,.0f} tokens {_gone(series, marked)}",
        f"{share_text(sum(series.prefix) / total if total else None)} of the input in the prefix",
    ]
    budgets = {value for value in series.budget if value is not None}
    if len(budgets) == 1:
        said.append(f"budget {budgets.pop():,.0f}")
    said += [f"{SIGNS[kind][1]} {len(at):,} times" for kind, at in marked.items()]
    return "; ".join(said) + "."


def _legend(series: Series, marked: Mapping[str, list[float]], uid: str) -> str:
    entries = [("", "sent in all", short(sum(series.tokens)))]
    for kind in LAYERS:
        total = sum(series.layers[kind])
        if total:
            entries.append((swatch(kind, uid), kind, short(total)))
    small = '<svg class="bar" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">'
    left = sum(series.evicted)
    if left:
        entries.append(
            (f"{small}{rect(1, 0, 10, 12, 'ink')}</svg>", _gone(series, marked), short(left))
        )
    for kind, requests in marked.items():
        state, words = SIGNS[kind]
        entries.append((f"{small}{sign(state, 6, 6)}</svg>", words, f"{len(requests):,}"))
    return legend(*entries)


def _table(series: Series, gone: str) -> str:
    """The numbers of some requests, for those who see no picture."""
    count = series.requests
    if count <= 12:
        rows: Sequence[int] = range(count)
        words = "requests"
    elif any(series.evicted):
        heavy = sorted(range(count), key=lambda i: (-series.evicted[i], i))[:5]
        rows = [i for i in heavy if series.evicted[i]]
        words = f"the {plural(len(rows), 'request')} of {count:,} before which most was {gone}"
    else:
        rows = sorted(range(count), key=lambda i: (-series.tokens[i], i))[:5]
        words = f"the 5 largest of {count:,} requests"
    shares = series.shares()
    cells = [
        (
            f"{i:,}",
            f"{series.tokens[i]:,.0f}",
            f"{series.evicted[i]:,.0f}",
            f"{series.evicted_messages[i]:,.0f}",
            share_text(shares[i]),
        )
        for i in rows
    ]
    names = ("request", "input tokens", f"tokens {gone}", f"messages {gone}", "prefix")
    table = plain_table(names, cells, texts=())
    return folded(words, table, is_open=False)


def _cuts(steps: Series) -> str:
    """What a step stands for, where it is several requests."""
    if steps.size == 1:
        return ""
    return (
        f"Each step stands for {steps.size:,} requests: the largest of them, the sum of what "
        "was evicted, the mean share of the prefix by tokens."
    )
