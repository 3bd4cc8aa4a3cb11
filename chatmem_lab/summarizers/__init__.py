"""Summarizers: a request with messages in, a text that stands for them out."""

from chatmem_lab.summarizers.summarizer import Summarizer, Summary, SummaryRequest

__all__ = ["Summarizer", "Summary", "SummaryRequest"]
