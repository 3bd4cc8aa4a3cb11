"""`lint`: what a provider would refuse or misread, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import pandas as pd

from chatmem_lab.engine import Trace
from chatmem_lab.errors import MessageError, ProjectionError
from chatmem_lab.messages import INSTRUCTION_ROLES, Conversation, Message
from chatmem_lab.projections.linter import Finding, findings
from chatmem_lab.tokens import TokenCounter, counter, default_counter
from chatmem_lab.transcripts.chat_message import ChatMessages
from chatmem_lab.transcripts.fields import WrongField

__all__ = ["lint"]

COLUMNS = (
    "conversation",
    "position",
    "rule",
    "severity",
    "first_request",
    "last_request",
    "requests",
    "tokens",
    "what",
    "remedy",
)
_WHOLE = ("first_request", "last_request", "requests", "tokens", "position")
#: Instructions may take this share of a budget before it is said.
_SYSTEM_SHARE = 0.1


class HasTrace(Protocol):
    """A replay."""

    @property
    def trace(self) -> Trace:
        """What it gave."""


Linted = Iterable[Message | Mapping[str, Any]] | Conversation | HasTrace


def lint(
    source: Linted,
    target: str = "chat",
    *,
    budget: int | None = None,
    model: str | None = None,
) -> pd.DataFrame:
    """What a provider would refuse or misread, and advice: a row per finding.

    Of a replay every request is looked at; the same finding in several is one row. A
    window that has only grown is read once, so that the cost is that of the windows that
    something left or entered.

    Parameters
    ----------
    source : messages, Conversation or Replay
        Messages may be OpenAI's dicts too.
    target : {"chat", "responses", "anthropic"}
    budget : int, optional
        Tokens that a request may have; a replay's own where it is not given.
    model : str, optional
        Whose tokens are counted, for messages and conversations.

    Returns
    -------
    DataFrame
        ``position`` in the list or the history, NA for what a policy made and for the whole;
        ``severity`` is "refused", "misread" or "advice"; ``first_request``,
        ``last_request``, ``requests`` where a replay shows it, else NA; ``tokens`` of
        instructions over all requests and of what is over the budget, else NA.

    Raises
    ------
    ProjectionError
        For an unknown target, or a budget that is no number.
    MessageError
        For what are no messages.

    Examples
    --------
    >>> from chatmem_lab.messages import tool_output, user
    >>> table = lint([user("hi"), tool_output("c9", "42")])
    >>> table[["position", "rule", "severity"]].values.tolist()
    [[1, 'orphan_result', 'refused']]
    """
    if budget is not None and (type(budget) is not int or budget < 0):
        raise ProjectionError(
            f"budget must be a whole number of tokens, at least 0, not {budget!r}"
        )
    trace = getattr(source, "trace", None)
    if isinstance(trace, Trace):
        rows = list(_of_replay(trace, target, trace.budget if budget is None else budget))
    else:
        name = source.id if isinstance(source, Conversation) else None
        messages = _messages(source)
        chosen = counter(model) if model is not None else default_counter()
        rows = list(_of_messages(messages, target, budget, chosen, name))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype(dict.fromkeys(_WHOLE, "Int64"))


def _messages(source: object) -> list[Message]:
    held = getattr(source, "messages", source)
    if isinstance(held, Message):
        held = [held]
    if isinstance(held, str | bytes | Mapping) or not isinstance(held, Iterable):
        raise MessageError(
            "lint wants messages, a conversation or a replay, not "
            f"{type(source).__name__}: cml.read(path) returns several, take one with [0]"
        )
    convert = ChatMessages(lambda what: None)
    messages: list[Message] = []
    for index, given in enumerate(held):
        if isinstance(given, Message):
            messages.append(given)
            continue
        if isinstance(given, Conversation):
            raise MessageError("lint looks at one conversation at a time: take one with [0]")
        try:
            messages.append(convert(given))
        except WrongField as wrong:
            raise MessageError(f"messages[{index}] is no message: {wrong}") from None
    return messages


class _Row(NamedTuple):
    conversation: str | None
    position: int | None
    rule: str
    severity: str
    first_request: int | None = None
    last_request: int | None = None
    requests: int | None = None
    tokens: int | None = None
    what: str = ""
    remedy: str = ""


def _of_messages(
    messages: Sequence[Message],
    target: str,
    budget: int | None,
    chosen: TokenCounter,
    name: str | None,
) -> Iterator[_Row]:
    counts = [count.tokens for count in chosen.count_messages(messages)]
    for found in findings(messages, target):
        tokens = None
        if found.rule == "long_system" and found.position is not None:
            tokens = counts[found.position]
        yield _row(name, found, tokens=tokens)
    if budget is None:
        return
    system = sum(n for n, m in zip(counts, messages) if m.role in INSTRUCTION_ROLES)
    total = sum(counts) + chosen.request_tokens
    if total > budget:
        yield _row(name, _over_budget(total, budget), tokens=total - budget)
    if system > _SYSTEM_SHARE * budget:
        yield _row(name, _large_system(system, budget), tokens=system)


def _over_budget(total: int, budget: int) -> Finding:
    return Finding(
        position=None,
        rule="over_budget",
        severity="refused",
        what=f"{total:,} tokens are over the budget of {budget:,}",
        remedy="a smaller window, or a larger budget",
    )


def _large_system(system: int, budget: int) -> Finding:
    return Finding(
        position=None,
        rule="large_system",
        severity="advice",
        what=f"instructions take {system:,} of {budget:,} tokens, more than a tenth",
        remedy="shorten them, or give them a larger budget",
    )


def _row(name: str | None, found: Finding, **facts: int | None) -> _Row:
    return _Row(
        name,
        found.position,
        found.rule,
        found.severity,
        what=found.what,
        remedy=found.remedy,
        **facts,
    )


def _of_replay(trace: Trace, target: str, budget: int | None) -> Iterator[_Row]:
    """The findings of all requests; of requests that only add to one window, looked at once."""
    name = trace.conversation.id
    seen: dict[tuple[int | None, str, str], list[int]] = {}
    by_key: dict[tuple[int | None, str, str], Finding] = {}
    system_tokens: dict[int, int] = {}
    for first, last in _grown(trace):
        window = trace.window(last)
        slots = window.slots
        for found in findings(window.messages, target):
            slot = None if found.position is None else slots[found.position]
            position = None if slot is None else slot.position
            place = "" if found.position is None else f"message {found.position}"
            key = (position, found.rule, found.what.replace(place, "message", 1))
            begins = first if position is None else max(first, _first_with(trace, position))
            seen.setdefault(key, []).extend(range(begins, last + 1))
            by_key.setdefault(key, found)
            if found.rule == "long_system" and position is not None and slot is not None:
                system_tokens[position] = slot.tokens
    for (position, rule, _), requests in seen.items():
        found = by_key[position, rule, _]
        tokens = None
        if rule == "long_system" and position is not None:
            tokens = system_tokens[position] * len(requests)
        what = found.what
        if found.position is not None:
            shown = "a made message" if position is None else f"message {position}"
            what = what.replace(f"message {found.position}", shown, 1)
        yield _Row(
            name, position, rule, found.severity, min(requests), max(requests), len(requests),
            tokens, what, found.remedy,
        )  # fmt: skip
    if budget is not None:
        yield from _budget_rows(trace, name, budget)


def _budget_rows(trace: Trace, name: str, budget: int) -> Iterator[_Row]:
    totals = trace.input_tokens
    over = [request for request in range(trace.requests) if totals[request] > budget]
    if over:
        worst = int(totals.max())
        found = _over_budget(worst, budget)
        yield _row(
            name,
            found,
            first_request=over[0],
            last_request=over[-1],
            requests=len(over),
            tokens=int((totals[over] - budget).sum()),
        )
    system = trace.category["system"]
    large = [r for r in range(trace.requests) if system[r] > _SYSTEM_SHARE * budget]
    if large:
        yield _row(
            name,
            _large_system(int(system.max()), budget),
            first_request=large[0],
            last_request=large[-1],
            requests=len(large),
            tokens=int(system[large].sum()),
        )


def _grown(trace: Trace) -> Iterator[tuple[int, int]]:
    """Requests from first to last between which nothing left, entered or changed."""
    changed = sorted({event.request for event in trace.events if event.request < trace.requests})
    starts = sorted({0, *changed}) if trace.requests else []
    for start, stop in zip(starts, [*starts[1:], trace.requests]):
        yield start, stop - 1


def _first_with(trace: Trace, position: int) -> int:
    """The first request at which the message at `position` has arrived."""
    positions = trace.layout.request_positions
    return int((positions <= position).sum())
