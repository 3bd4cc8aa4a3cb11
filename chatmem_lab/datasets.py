"""Bundled data sets: conversations that this project wrote itself.

>>> conversations = load("support")
>>> conversations[0].id
'bookshop-refund'
"""

from __future__ import annotations

import builtins
from difflib import get_close_matches
from pathlib import Path

from chatmem_lab.errors import DatasetError
from chatmem_lab.transcripts import Conversations, LoadReport, read_transcript

__all__ = ["list", "load"]

_PACKAGE = Path(__file__).resolve().parent

#: What each data set is; one that is not named here is described by its size.
_ABOUT = {
    "coding": "coding agents at work in two small Python projects",
    "planning": "a family plans a move, plain chat without tools",
    "research": "a research assistant collects figures from web pages",
    "support": "customer support in English with tools",
}


def _files() -> dict[str, Path]:
    # In a wheel the data lie inside the package, in a checkout beside it.
    bundled = _PACKAGE / "_bundled" / "datasets"
    folder = bundled if bundled.is_dir() else _PACKAGE.parent / "datasets"
    return {path.stem: path for path in sorted(folder.glob("*.jsonl"))}


def load(name: str) -> Conversations:
    """The conversations of a bundled data set.

    Parameters
    ----------
    name : str
        One of `list()`.

    Raises
    ------
    DatasetError
        If there is none of that name.

    Examples
    --------
    >>> sorted({conversation.model for conversation in load("support")})
    ['gpt-5']
    """
    files = _files()
    if name not in files:
        near = get_close_matches(str(name), files, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise DatasetError(
            f"there is no data set {name!r}.{hint} There are: {', '.join(files) or 'none'}"
        )
    report = LoadReport()
    label = f"datasets/{name}.jsonl"
    read = read_transcript(files[name].read_bytes(), report=report, name=label, format="own")
    return Conversations(read, report)


def list() -> dict[str, str]:
    """The bundled data sets: name → what it is.

    >>> "support" in list()
    True
    """
    return {name: _ABOUT.get(name) or _size(name) for name in builtins.list(_files())}


def _size(name: str) -> str:
    conversations = load(name)
    messages = sum(len(conversation) for conversation in conversations)
    return f"{len(conversations):,} conversations, {messages:,} messages"
