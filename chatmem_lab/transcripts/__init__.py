"""Readers and writers of transcripts, one format per file."""

from chatmem_lab.transcripts.detection import (
    Format,
    FormatInfo,
    UnrecognisedError,
    detect,
    formats,
)
from chatmem_lab.transcripts.document import Document
from chatmem_lab.transcripts.load_report import Conversations, LoadReport, Problem
from chatmem_lab.transcripts.own import write_own

__all__ = [
    "Conversations",
    "Document",
    "Format",
    "FormatInfo",
    "LoadReport",
    "Problem",
    "UnrecognisedError",
    "detect",
    "formats",
    "write_own",
]
