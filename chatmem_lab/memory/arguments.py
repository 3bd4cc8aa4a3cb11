"""What a memory is opened with, checked."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from chatmem_lab.errors import MessageError
from chatmem_lab.html.text import cut
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.messages.wellformed import find_not_finite
from chatmem_lab.stores import MemoryStore, Store, open_store
from chatmem_lab.tokens import TokenCounter, default_counter
from chatmem_lab.tokens import counter as model_counter

__all__ = ["checked_id", "checked_store", "checked_tools", "counter_for"]


def checked_id(id: object) -> str:
    """A session's id as text.

    Raises
    ------
    MessageError
        For what is none.
    """
    if isinstance(id, str | UUID) or (type(id) is int and abs(id) < 2**128):
        text = str(id)
        if text.strip() and normalised(text) == text:
            return text
    raise MessageError(
        "an id is required: a str of whole characters that is not blank, an int or a UUID, not "
        f"{_shown(id)}"
    )


def counter_for(model: str | None, counter: TokenCounter | None) -> TokenCounter:
    """The counter that was given, or the model's own."""
    if counter is None:
        return model_counter(model) if model is not None else default_counter()
    if not isinstance(counter, TokenCounter):
        raise TypeError(
            f"counter counts tokens, {cut(repr(counter), 80)} does not: name the model with "
            "model=…, or take a counter from cml.counter(model)"
        )
    if model is not None and counter.model is not None and counter.model != model:
        warnings.warn(
            f"the memory is for {model!r} and its counter counts for {counter.model!r}: counts "
            "may differ from what is billed; leave counter out to count for the memory's model",
            UserWarning,
            stacklevel=3,
        )
    return counter


def checked_store(store: Store | str | None) -> Store:
    """The store that was given, or that its URL names, or one in memory."""
    if store is None:
        return MemoryStore()
    if isinstance(store, str):
        return open_store(store)
    if not isinstance(store, Store):
        raise TypeError(
            f"store must be a Store such as cml.MemoryStore(), not {cut(repr(store), 80)}"
        )
    return store


def checked_tools(tools: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Tool schemas, apart from the caller's own."""
    if (
        isinstance(tools, Mapping | str)
        or not isinstance(tools, Iterable)
        or not all(isinstance(tool, Mapping) for tool in tools)
    ):
        raise MessageError(f"tools is a list of schemas, each a dict, not {cut(repr(tools), 80)}")
    for index, tool in enumerate(tools):
        wrong = find_not_finite(dict(tool), f"tools[{index}]")
        if wrong:
            raise MessageError(f"{wrong} is no number that JSON can hold: use None or text")
    return tuple(copy.deepcopy(dict(tool)) for tool in tools)


def _shown(given: object) -> str:
    try:
        return cut(repr(given), 80)
    except ValueError:  # Python writes no int of more than 4,300 digits
        return "a number of thousands of digits"
