"""What amounts mean for a window: whether it holds more, and which tail fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Amount, Messages, Share, Tokens, Turns
from chatmem_lab.window import Unit, Window

__all__ = [
    "beyond_kept_tail",
    "check_amounts",
    "check_summarizer",
    "head_of",
    "holds_more",
    "weigh",
]


def check_amounts(name: str, budget_tokens: int | None, **amounts: object) -> None:
    """Refuse what is no amount, and a share of nothing.

    Raises
    ------
    PolicyError
    """
    for what, amount in amounts.items():
        if not isinstance(amount, Amount):
            raise PolicyError(
                f"{name}: {what} must be an amount such as Messages(20) or "
                f"Tokens(8_000), not {amount!r}"
            )
        if isinstance(amount, Share) and budget_tokens is None:
            raise PolicyError(f"{name}: {what} is a share; say of what with budget_tokens=…")


def check_summarizer(name: str, summarizer: object) -> None:
    """Refuse what cannot summarize.

    Raises
    ------
    PolicyError
    """
    if not callable(getattr(summarizer, "summarize", None)):
        raise PolicyError(
            f"{name}: summarizer must have a method summarize(request), not "
            f"{summarizer!r}: wrap a plain function with summarizer_from(function)"
        )


def holds_more(
    window: Window, amount: Amount, budget_tokens: int | None, *, count_pinned: bool = False
) -> bool:
    """Whether `window` holds more than `amount`, instructions left out unless they count."""
    messages, tokens = len(window), window.message_tokens
    if not count_pinned:
        messages -= window.instruction_messages
        tokens -= window.instruction_tokens
    match amount:
        case Messages(n):
            return messages > n
        case Turns(n):
            return window.turn_count > n
        case Tokens(n):
            return tokens > n
        case Share(x):
            assert budget_tokens is not None
            return tokens > x * budget_tokens


def weigh(amount: Amount) -> Callable[[Unit], int]:
    """What a unit counts against `amount`."""
    match amount:
        case Messages():
            return len
        case Turns():
            return lambda unit: int(unit.starts_turn)
    return lambda unit: unit.tokens


def beyond_kept_tail(window: Window, keep: Amount, budget_tokens: int | None) -> list[Unit]:
    """The units that may leave and do not fit into the newest `keep`, oldest first.

    Summaries are never part of the tail.
    """
    room: float
    if isinstance(keep, Share):
        assert budget_tokens is not None
        room = keep.x * budget_tokens
    else:
        room = keep.n
    weight, newest = weigh(keep), window.newest
    kept: set[int] = set()
    for unit in window.units_backwards:
        if unit.is_instruction:
            continue
        if unit is not newest and (weight(unit) > room or unit.is_made or unit.is_summary):
            break
        room -= weight(unit)
        kept.add(id(unit))
        if isinstance(keep, Turns) and room <= 0:
            break
    return [unit for unit in window.forwards() if id(unit) not in kept]


def head_of(window: Window, messages: int) -> Iterator[Unit]:
    """The first units that may leave and fit into `messages`.

    The head ends at a summary, and where something has left behind it.
    """
    left = messages
    following: int | None = None
    for unit in window.forwards():
        if unit.is_made or unit.is_summary or len(unit) > left:
            return
        if following is not None and not _is_next(window, unit, following):
            return
        left -= len(unit)
        following = unit.positions[-1] + 1
        yield unit


def _is_next(window: Window, unit: Unit, following: int) -> bool:
    """Whether what stood between `following` and `unit` is still there."""
    between: Iterable[int] = range(following, unit.positions[0])
    return all(window.slot_at(float(position)) is not None for position in between)
