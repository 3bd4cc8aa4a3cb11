"""Transcripts: files of recorded conversations, one format per file."""

from chatmem_lab.transcripts.load_report import Conversations, LoadReport, Note, Reading
from chatmem_lab.transcripts.own import encode_conversation
from chatmem_lab.transcripts.reading import read_transcript
from chatmem_lab.transcripts.registry import format_named, formats
from chatmem_lab.transcripts.transcript import Unrecognised

__all__ = [
    "Conversations",
    "LoadReport",
    "Note",
    "Reading",
    "Unrecognised",
    "encode_conversation",
    "format_named",
    "formats",
    "read_transcript",
]
