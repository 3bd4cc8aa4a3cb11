"""`summaries_table`: a row per summary that entered a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from chatmem_lab.engine import Trace
from chatmem_lab.metrics.retention import retention_of
from chatmem_lab.needs import searched_text

__all__ = ["SummaryScore", "summaries_of", "summaries_table"]


@dataclass(frozen=True)
class SummaryScore:
    """One summary: what it stands for, what it cost, which items it kept.

    `items` are the distinct salient items of every original message that the summary stands
    for, through all generations; `items_kept` those that its text still has.
    """

    request: int
    position: int
    generation: int
    covered_messages: int
    source_tokens: int
    summary_tokens: int
    summarizer_input_tokens: int
    summarizer_output_tokens: int
    items: int
    items_kept: int
    lost: tuple[str, ...]


def summaries_of(trace: Trace) -> list[SummaryScore]:
    """The summaries that entered the window of one replay, oldest first."""
    scores = []
    for event in trace.events:
        if event.kind != "fold" or event.made is None or event.made.summary is None:
            continue
        covered = event.made.summary.covered
        originals = [trace.layout.messages[position] for position in covered]
        kept = retention_of([searched_text(message) for message in originals], event.made.text)
        scores.append(
            SummaryScore(
                request=event.request,
                position=event.position,
                generation=event.made.summary.generation,
                covered_messages=len(covered),
                source_tokens=event.source_tokens,
                summary_tokens=event.tokens_after - event.tokens_before + event.source_tokens,
                summarizer_input_tokens=event.summarizer_input_tokens,
                summarizer_output_tokens=event.summarizer_output_tokens,
                items=len(kept.kept) + len(kept.lost),
                items_kept=len(kept.kept),
                lost=tuple(item.text for item in kept.lost),
            )
        )
    return scores


def summaries_table(traces: Mapping[str, Sequence[Trace]]) -> pd.DataFrame:
    """A row per summary, for charts of quality against cost.

    Parameters
    ----------
    traces : mapping of policy label to traces

    Returns
    -------
    DataFrame
        ``retention`` is ``items_kept / items``, NA where what was folded had no item.
    """
    rows = [
        {
            "conversation": trace.conversation.id,
            "policy": label,
            **{k: v for k, v in vars(score).items() if k != "lost"},
            "retention": score.items_kept / score.items if score.items else None,
        }
        for label, many in traces.items()
        for trace in many
        for score in summaries_of(trace)
    ]
    columns = ["conversation", "policy", *SummaryScore.__dataclass_fields__, "retention"]
    table = pd.DataFrame(rows, columns=[c for c in columns if c != "lost"])
    table["retention"] = table["retention"].astype("Float64")
    return table
