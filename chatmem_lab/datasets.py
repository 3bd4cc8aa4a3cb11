"""Conversations that come with the project: `load` one set, `list` them all."""

from __future__ import annotations

import builtins
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from chatmem_lab.corpora import read
from chatmem_lab.errors import DatasetError
from chatmem_lab.transcripts import Conversations

__all__ = ["DatasetInfo", "list", "load"]

_INSTALLED = Path(__file__).parent / "_bundled" / "datasets"
_CHECKOUT = Path(__file__).parent.parent / "datasets"


class DatasetInfo(NamedTuple):
    """A bundled data set."""

    name: str
    conversations: int
    messages: int


def load(name: str) -> Conversations:
    """Load a bundled data set.

    They were written for this project, not recorded from users; ``datasets/README.md`` is
    the data card.

    Parameters
    ----------
    name : str
        Such as ``"support"``; `list` names all.

    Raises
    ------
    DatasetError
        Naming the data sets that exist.

    Examples
    --------
    >>> conversation = load("support")[0]
    >>> conversation.model
    'gpt-5'
    """
    files = _files()
    if name not in files:
        near = get_close_matches(str(name), files, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise DatasetError(
            f"there is no data set {name!r}.{hint} There are: {', '.join(files) or 'none'}"
        )
    return read(files[name], format="own")


def list() -> builtins.list[DatasetInfo]:
    """The bundled data sets.

    >>> "support" in [info.name for info in list()]
    True
    """
    found = []
    for name in _files():
        conversations = load(name)
        found.append(DatasetInfo(name, len(conversations), sum(map(len, conversations))))
    return found


def _files() -> dict[str, Path]:
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return {path.stem: path for path in sorted(folder.glob("*.jsonl"))}
