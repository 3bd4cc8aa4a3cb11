"""From traces to tables and scores."""

from chatmem_lab.metrics.events import events_table
from chatmem_lab.metrics.findings import lint
from chatmem_lab.metrics.map import map_table
from chatmem_lab.metrics.requests import requests_table
from chatmem_lab.metrics.retention import retention_of
from chatmem_lab.metrics.scores import scores_table, validity_table
from chatmem_lab.metrics.summaries import SummaryScore, summaries_of, summaries_table
from chatmem_lab.metrics.summary import summary_table

__all__ = [
    "SummaryScore",
    "events_table",
    "lint",
    "map_table",
    "requests_table",
    "retention_of",
    "scores_table",
    "summaries_of",
    "summaries_table",
    "summary_table",
    "validity_table",
]
