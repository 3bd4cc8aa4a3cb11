"""`write_report`: a study as one HTML file that works offline and needs no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from chatmem_lab.html.inline import inline_svg, themed
from chatmem_lab.html.numbers import NA, exact, known, plural, share_text
from chatmem_lab.html.page import page
from chatmem_lab.html.replay import replay_html
from chatmem_lab.html.study import study_html
from chatmem_lab.html.style import caption
from chatmem_lab.html.table import folded, plain_table
from chatmem_lab.html.text import cut, escape
from chatmem_lab.html.window import window_html
from chatmem_lab.study import Replay, Study
from chatmem_lab.tokens.counting import weakest

__all__ = ["write_report"]

#: Rows of the longest tables.
MOST_SCORES, MOST_SUMMARIES = 200, 50
#: Other policies that are drawn on the conversation that is shown closely.
MOST_OTHERS = 6
#: A chart above this is left out: the browser would labour over it.
MOST_BYTES = 2_000_000

_METHOD = (
    "Every recorded conversation is replayed under every policy: at each request, the point "
    "before a generated assistant message, the window that the policy leaves is counted.",
    "Open loop: the recorded replies were produced with the recorded context. The tokens are "
    "those of these requests; under another window a model might have replied otherwise, and "
    "the conversation might have gone another way.",
    "In the prefix: the tokens that a request shares with the request before, in whole "
    "messages from the start, tool schemas first. It is the most that a prompt cache could "
    "serve; providers round down, expire and set a least length.",
    "Input tokens are messages, their overhead, tool schemas and what primes the reply; "
    "output tokens are not in them.",
    "Over budget: the share of requests that exceed the policy's limit. Pinned messages are "
    "never evicted, and can exceed it alone.",
    "Retention: the share of salient items (numbers, identifiers, paths, dates, quoted spans) "
    "of what was folded that the summary still has. It shows that an item is there, not that "
    "a model would use it.",
    "Intervals: 2.5th to 97.5th percentile of a bootstrap over conversations, the same "
    "resamples for all policies. With few conversations they are too narrow.",
)
_KINDS = {
    "exact": "Counts are exact for the model's tokenizer.",
    "estimate": "Counts are estimates: what tool calls and tool schemas cost beside their text "
    "is not documented, or no exact tokenizer is at hand.",
    "lower_bound": "Counts are lower bounds: a part of the messages could not be counted whole.",
    "upper_bound": "Counts are upper bounds: images are counted at the most they can take.",
    "unknown": "A part of the counts is unknown: read no total as a total.",
}


def write_report(study: Study, directory: str | Path, *, title: str = "") -> Path:
    """Write `report.html` into a directory, which is made if it is not there.

    Parameters
    ----------
    study : Study
    directory : str or Path
    title : str
        In place of "Policies compared".

    Returns
    -------
    Path
        The file: one page with all that it shows inside, no script, light and dark.

    Notes
    -----
    It holds the summary, one conversation closely (the one from which most messages were
    evicted), what summaries kept, tables, method and caveats, and the manifest. Long tables
    are cut and say so; the whole ones are `study.scores` and its like.

    Examples
    --------
    >>> import tempfile
    >>> import chatmem_lab as cml
    >>> conversation = cml.Conversation("chat", (cml.user("hi"), cml.assistant("Hello!")))
    >>> study = cml.compare(conversation, cml.KeepAll(), model="gpt-4o", progress=False)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     write_report(study, directory).name
    'report.html'
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.html"
    path.write_text(report_html(study, title=title), encoding="utf-8")
    return path


def report_html(study: Study, *, title: str = "") -> str:
    """The page itself.

    Parameters
    ----------
    study : Study
    title : str
        In place of "Policies compared".
    """
    title = cut(title or "Policies compared", 200)
    manifest = study.manifest
    kind = study.count_kind
    written = (
        f"chatmem_lab {manifest.get('chatmem_lab', '')}, written on {datetime.now(UTC):%Y-%m-%d}"
    )
    return page(
        title,
        f"<h1><bdi>{escape(title)}</bdi></h1>",
        f'<p class="q">{escape(written)}</p>',
        study_html(
            _records(study.summary.reset_index()),
            title="Summary",
            model=study.model,
            count_kind=kind,
            styled=False,
        ),
        *_summaries(study),
        *_closely(study),
        *_tables(study),
        *_method(kind, manifest),
    )


# --- charts


def chart_html(draw: Callable[..., Any], source: object, name: str) -> str:
    """A chart as inline SVG, for light and for dark pages.

    Parameters
    ----------
    draw : callable
        ``draw(source, dark=False) -> Axes``, as in `chatmem_lab.charts`.
    source : object
        What it draws.
    name : str
        Goes into the ids, which are unique in a page.
    """
    light, dark = (_svg(draw, source, f"{name}-{theme}") for theme in ("light", "dark"))
    if len(light) > MOST_BYTES:
        return caption(
            f"A chart of {len(light) / 1e6:.1f} MB is left out here; draw it in a notebook."
        )
    return themed(light, dark)


def _svg(draw: Callable[..., Any], source: object, name: str) -> str:
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    from chatmem_lab.charts import styled

    dark = name.endswith("-dark")
    axes = draw(source, dark=dark)
    drawn = StringIO()
    try:
        with styled(dark), mpl.rc_context({"svg.hashsalt": name}):
            axes.figure.savefig(drawn, format="svg", bbox_inches="tight", metadata={"Date": None})
    finally:
        plt.close(axes.figure)
    words = f"{axes.get_title(loc='left')}".strip()
    return inline_svg(drawn.getvalue(), name, words)


# --- parts of the page


def _summaries(study: Study) -> Iterable[str]:
    from chatmem_lab.charts import plot_summary_quality

    if len(study.summaries):
        yield "<h2>Summaries</h2>"
        yield chart_html(plot_summary_quality, study, "quality")


def _closely(study: Study) -> Iterable[str]:
    """The conversation from which most was evicted, under that policy and the others."""
    from chatmem_lab.charts import plot_tokens, plot_window_map

    scores = study.scores[study.scores["requests"] > 0]
    if scores.empty:
        return
    worst = scores.sort_values(
        ["evicted_messages", "input_tokens"], ascending=False, kind="stable"
    ).iloc[0]
    label, id = str(worst["policy"]), str(worst["conversation"])
    run = study.run(id, label)
    gone = int(worst["evicted_messages"])
    why = (
        f"of all, most messages were evicted or folded here, {gone:,}"
        if gone
        else "the longest conversation; no policy evicted or folded a message"
    )
    yield "<h2>One conversation closely</h2>"
    yield caption(f"{cut(id, 120)} under {cut(label, 200)}: {why}.")
    yield _replay(run)
    yield window_of(run)
    yield chart_html(plot_window_map, run, "map")
    others = [other for other in study.policies if other != label]
    if others:
        most = max(
            others,
            key=lambda other: int(
                scores.loc[
                    (scores["policy"] == other) & (scores["conversation"] == id), "input_tokens"
                ].sum()
            ),
        )
        yield f"<h2>The same conversation under <code>{escape(cut(most, 200))}</code></h2>"
        yield chart_html(plot_tokens, study.run(id, most), "tokens")
        rest = [other for other in others if other != most]
        pictures = "".join(_replay(study.run(id, other)) for other in rest[:MOST_OTHERS])
        if pictures:
            yield folded(
                f"and under {plural(len(rest[:MOST_OTHERS]), 'other policy', 'other policies')}",
                pictures + caption(_left_out(len(rest), MOST_OTHERS, "policy", "policies")),
                is_open=False,
            )


def _replay(run: Replay) -> str:
    requests, events = run.requests, run.events
    drawn = ("_tokens", "_messages", "budget")
    return replay_html(
        run.conversation.id,
        {str(name): requests[name].tolist() for name in requests if str(name).endswith(drawn)},
        policy=repr(run.policy),
        model=run.model,
        count_kind=weakest(map(str, requests["count_kind"].unique())),
        events={str(kind): group["request"].tolist() for kind, group in events.groupby("kind")},
        styled=False,
    )


def window_of(run: Replay) -> str:
    """The window just after the heaviest eviction; the largest one if nothing was evicted."""
    requests = run.requests
    by = "evicted_tokens" if requests["evicted_tokens"].sum() else "input_tokens"
    request = int(requests["request"].to_numpy()[int(requests[by].to_numpy().argmax())])
    window = run.window(request)
    return window_html(
        window.blocks(),
        budget=window.budget,
        count_kind=window.count_kind,
        tool_schema_tokens=window.tool_schema_tokens,
        overhead_tokens=window.overhead_tokens,
        request=window.request,
        policy=str(window.policy),
        absent_messages=window.absent_messages,
        prefix_tokens=window.prefix_tokens,
        styled=False,
    )


def _tables(study: Study) -> Iterable[str]:
    yield "<h2>Tables</h2>"
    scores = study.scores.sort_values("evicted_messages", ascending=False, kind="stable")
    columns: dict[str, Callable[[float | None], str]] = {
        "requests": exact,
        "input_tokens": exact,
        "output_tokens": exact,
        "peak_tokens": exact,
        "prefix_share": share_text,
        "evicted_messages": exact,
        "over_budget": exact,
        "summaries": exact,
        "retention": share_text,
        "faults": exact,
    }
    yield _folded_table(
        "a row per conversation and policy, most evicted messages first",
        scores, ("conversation", "policy"), columns, MOST_SCORES,
    )  # fmt: skip
    faults = study.validity.reset_index()
    kinds = [str(name) for name in faults if name not in ("policy", "requests")]
    found = [name for name in kinds if faults[name].sum()]
    if found:
        yield _folded_table(
            "faults in what would have been sent",
            faults, ("policy",), dict.fromkeys([*found, "requests"], exact), MOST_SCORES,
        )  # fmt: skip
    else:
        yield caption("No fault in what would have been sent.")
    if len(study.summaries):
        names = ("request", "covered_messages", "source_tokens", "summary_tokens", "items")
        shown: dict[str, Callable[[float | None], str]] = dict.fromkeys(names, exact)
        yield _folded_table(
            "a row per summary",
            study.summaries, ("conversation", "policy"), shown | {"retention": share_text},
            MOST_SUMMARIES,
        )  # fmt: skip


def _folded_table(
    words: str,
    table: pd.DataFrame,
    texts: Sequence[str],
    columns: Mapping[str, Callable[[float | None], str]],
    most: int,
) -> str:
    names = [name for name in columns if name in table]
    rows = [
        [*(cut(str(row[name]), 120) for name in texts)]
        + [columns[name](known(row[name])) for name in names]
        for row in _records(table.head(most))
    ]
    heads = [name.replace("_", " ") for name in (*texts, *names)]
    shown = plain_table(heads, rows, texts=range(len(texts)))
    return folded(
        words, shown + caption(_left_out(len(table), most, "row", "rows")), is_open=False
    )


def _left_out(count: int, most: int, word: str, words: str) -> str:
    return f"Left out here: {plural(count - most, word, words)}." if count > most else ""


def _method(kind: str, manifest: Mapping[str, Any]) -> Iterable[str]:
    sentences = [*_METHOD, _KINDS.get(kind, _KINDS["unknown"])]
    yield "<h2>Method and caveats</h2>"
    yield f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in sentences)}</ul>"
    yield "<h2>Manifest</h2>"
    rows = []
    for name, value in manifest.items():
        if isinstance(value, Mapping):
            one = "policy" if name == "policies" else name
            rows += [
                (one if key == shown else f"{one}: {key}", shown) for key, shown in value.items()
            ]
        elif isinstance(value, list | tuple):
            rows.append((name, ", ".join(map(str, value))))
        else:
            rows.append((name, NA if value is None else str(value)))
    cells = [(cut(str(name), 200), cut(str(value), 2_000)) for name, value in rows]
    yield plain_table(("what", "value"), cells, texts=(0, 1))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
