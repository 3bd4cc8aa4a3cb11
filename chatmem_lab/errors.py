"""The error tree: what was wanted, what is there, what to do.

::

    ChatMemLabError
    ├── MessageError (ValueError)       a message that no chat API would take
    ├── ProjectionError (ValueError)    messages that an API would refuse as they are
    ├── SnapshotError (ValueError)      a snapshot that is none, or does not fit together
    ├── StoreError (RuntimeError)       a store that cannot be read or written
    │   └── ConflictError               another writer was there first
    ├── BudgetError (ValueError)        a window cannot be made to fit
    ├── PolicyError (ValueError)        a policy broke its contract or its parameters their bounds
    ├── SummarizerError (RuntimeError)  a summarizer gave nothing that can be used
    ├── AssistantError (RuntimeError)   a turn that the model or the assistant did not finish
    ├── TranscriptError (ValueError)    a file that cannot be read as a conversation
    ├── EncodingError (RuntimeError)    a tokenizer's vocabulary that is not there
    ├── UnknownModelError (LookupError) a model without an entry in the model table
    ├── ColumnError (ValueError)        a table that lacks what a chart draws
    └── DatasetError (LookupError)      a bundled data set that does not exist

Every class also subclasses the built-in error that it refines, so
``except ValueError`` goes on working.
"""

from __future__ import annotations

__all__ = [
    "AssistantError",
    "BudgetError",
    "ChatMemLabError",
    "ColumnError",
    "ConflictError",
    "DatasetError",
    "EncodingError",
    "MessageError",
    "PolicyError",
    "ProjectionError",
    "SnapshotError",
    "StoreError",
    "SummarizerError",
    "TranscriptError",
    "UnknownModelError",
]


class ChatMemLabError(Exception):
    """The root of every error that this package raises on purpose."""


class MessageError(ChatMemLabError, ValueError):
    """A message, or its place in the conversation, that no chat API would take."""


class ProjectionError(ChatMemLabError, ValueError):
    """Messages that an API would refuse as they are; ``repair=True`` mends and reports."""


class SnapshotError(ChatMemLabError, ValueError):
    """A snapshot that is none, or whose parts do not fit together."""


class StoreError(ChatMemLabError, RuntimeError):
    """A store that cannot be read or written; nothing was half-written."""


class ConflictError(StoreError):
    """Another writer changed the session first; nothing was written."""


class BudgetError(ChatMemLabError, ValueError):
    """A window that cannot be made to fit, with the parts of the sum."""


class PolicyError(ChatMemLabError, ValueError):
    """A parameter outside its bounds, or a revision that breaks the contract."""


class SummarizerError(ChatMemLabError, RuntimeError):
    """A summarizer that gave nothing that can be used."""


class AssistantError(ChatMemLabError, RuntimeError):
    """An assistant that cannot be built as asked, or a turn that could not be finished."""


class TranscriptError(ChatMemLabError, ValueError):
    """A file that cannot be read as a conversation; names the file and the line.

    Examples
    --------
    >>> print(TranscriptError("tool result for an unknown call", source="run.jsonl", line=14))
    run.jsonl, line 14: tool result for an unknown call
    """

    def __init__(self, what: str, *, source: str | None = None, line: int | None = None) -> None:
        self.what = what
        self.source = source
        self.line = line
        place = ", ".join(
            part
            for part in (source, f"line {line}" if line is not None else None)
            if part is not None
        )
        super().__init__(f"{place}: {what}" if place else what)

    def __reduce__(self) -> tuple[object, ...]:
        return _transcript_error, (self.what, self.source, self.line)


def _transcript_error(what: str, source: str | None, line: int | None) -> TranscriptError:
    return TranscriptError(what, source=source, line=line)


class EncodingError(ChatMemLabError, RuntimeError):
    """An encoding that does not exist, or whose vocabulary is not on this machine."""


class UnknownModelError(ChatMemLabError, LookupError):
    """A model name without an entry in the model table."""


class ColumnError(ChatMemLabError, ValueError):
    """A table that lacks the columns a chart draws."""


class DatasetError(ChatMemLabError, LookupError):
    """A bundled data set that does not exist."""
