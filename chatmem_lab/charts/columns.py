"""What a chart asks of a table: that the columns it names are there."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from chatmem_lab.errors import ColumnError

__all__ = ["ColumnError", "frame_of", "one_conversation"]


def frame_of(source: object, attribute: str, columns: Iterable[str]) -> pd.DataFrame:
    """The table to draw: `source` itself, or its `attribute`; `columns` are there.

    Raises
    ------
    ColumnError
        Names the columns that are missing, and those that are there.

    Examples
    --------
    >>> frame_of(pd.DataFrame({"request": [0]}), "requests", ["request", "input_tokens"])
    Traceback (most recent call last):
        ...
    chatmem_lab.errors.ColumnError: wanted a table of requests with the columns \
request and input_tokens; input_tokens is missing, there are: request
    """
    wanted = list(columns)
    frame = source if isinstance(source, pd.DataFrame) else getattr(source, attribute, None)
    if not isinstance(frame, pd.DataFrame):
        raise ColumnError(
            f"wanted a table of {attribute} (a DataFrame), or an object with one as "
            f".{attribute}; got {type(source).__name__}"
        )
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        there = ", ".join(str(name) for name in frame.columns) or "no columns"
        raise ColumnError(
            f"wanted a table of {attribute} with the columns {_listed(wanted)}; "
            f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing, "
            f"there are: {there}"
        )
    return frame


def one_conversation(frame: pd.DataFrame, what: str) -> str:
    """The conversation that `frame` is about.

    Raises
    ------
    ColumnError
        If it holds several conversations, or one under several policies.
    """
    for column in ("conversation", "policy"):
        there: list[object] = frame[column].unique().tolist() if column in frame.columns else []
        if len(there) > 1:
            raise ColumnError(
                f"{what} draws one {column}; the table holds {len(there)}: choose one, as in "
                f'frame[frame["{column}"] == {str(there[0])!r}]'
            )
    return "" if frame.empty or "conversation" not in frame else str(frame["conversation"].iloc[0])


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
