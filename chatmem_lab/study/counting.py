"""Conversations in batches, the texts of a batch counted at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from chatmem_lab.engine import Layout
from chatmem_lab.messages import Conversation
from chatmem_lab.study.naming import with_whole_names
from chatmem_lab.tokens import Count, TokenCounter, default_counter
from chatmem_lab.tokens import counter as counter_for

__all__ = ["batches", "counter_of"]

#: Conversations whose texts are counted in one batch.
_BATCH = 64


def counter_of(
    conversation: Conversation, model: str | None, counter: TokenCounter | None
) -> TokenCounter:
    """The counter that is given, or that of the model, or an estimate."""
    if counter is not None:
        return counter
    name = model or conversation.model
    return default_counter() if name is None else counter_for(name)


def batches(
    conversations: Iterable[Conversation], model: str | None, counter: TokenCounter | None
) -> Iterator[list[Layout]]:
    """Layouts in order, batch by batch; the texts of a batch are counted at once."""
    remaining = iter(conversations)
    counters: dict[str | None, TokenCounter] = {}
    while batch := [with_whole_names(one) for one in islice(remaining, _BATCH)]:
        chosen = []
        for conversation in batch:
            name = model or conversation.model
            if name not in counters:
                counters[name] = counter_of(conversation, model, counter)
            chosen.append(counters[name])
        counts: dict[int, list[Count]] = {}
        for one in {id(c): c for c in chosen}.values():
            members = [i for i, c in enumerate(chosen) if c is one]
            flat = one.count_messages([m for i in members for m in batch[i].messages])
            start = 0
            for i in members:
                counts[i] = flat[start : start + len(batch[i])]
                start += len(batch[i])
        yield [
            Layout(conversation, chosen[i], model=model, counts=counts[i])
            for i, conversation in enumerate(batch)
        ]
