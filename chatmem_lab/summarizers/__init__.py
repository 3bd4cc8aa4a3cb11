"""Summarizers: a request with messages in, a text that stands for them out."""

from chatmem_lab.summarizers.function_summarizer import FunctionSummarizer, summarizer_from
from chatmem_lab.summarizers.key_fields import KeyFields
from chatmem_lab.summarizers.summarizer import Summarizer, Summary, SummaryRequest
from chatmem_lab.summarizers.truncate import Truncate

__all__ = [
    "FunctionSummarizer",
    "KeyFields",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "Truncate",
    "summarizer_from",
]
