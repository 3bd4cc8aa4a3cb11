"""What a limit says when the messages that must stay are more than it allows."""

from __future__ import annotations

from chatmem_lab.window import Window

__all__ = ["over_budget_reason", "over_count_reason", "parts_of_sum", "parts_of_window"]


def parts_of_window(window: Window) -> list[tuple[str, int]]:
    """The parts of a window's tokens, by name; parts of 0 left out."""
    newest = window.newest
    newest_tokens = 0 if newest is None or newest.is_instruction else newest.tokens
    return parts_of_sum(
        instructions=window.instruction_tokens,
        newest=newest_tokens,
        held=window.held_tokens,
        messages=window.message_tokens,
        tool_schemas=window.tool_schema_tokens,
        overhead=window.overhead_tokens,
    )


def parts_of_sum(
    *,
    instructions: int,
    newest: int,
    messages: int,
    tool_schemas: int,
    overhead: int,
    held: int = 0,
) -> list[tuple[str, int]]:
    """Name the parts of a window's tokens; `messages` is all together, `held` what is pinned."""
    parts = [
        ("system", instructions),
        ("newest unit", newest),
        ("pinned", held),
        ("other messages", messages - instructions - newest - held),
        ("tool schemas", tool_schemas),
        ("reply priming", overhead),
    ]
    return [(name, tokens) for name, tokens in parts if tokens]


def over_budget_reason(budget: int, parts: list[tuple[str, int]]) -> str:
    """Why a budget of tokens is exceeded.

    >>> over_budget_reason(300, [("system", 380), ("newest unit", 32)])
    'a budget of 300 tokens cannot hold the 412 tokens needed (system 380, newest unit 32).
    Use at least 412.'
    """
    needed = sum(tokens for _, tokens in parts)
    listed = ", ".join(f"{name} {tokens:,}" for name, tokens in parts)
    return (
        f"a budget of {budget:,} tokens cannot hold the {needed:,} tokens needed ({listed}). "
        f"Use at least {needed:,}."
    )


def over_count_reason(limit: int, what: str, held: int, *, pinned: int, newest: int | None) -> str:
    """Why a limit of messages or turns is exceeded.

    >>> over_count_reason(1, "message", 2, pinned=0, newest=2)
    'a limit of 1 message cannot hold 2 messages (newest unit of 2 messages)'
    """
    parts = [
        part
        for part in (
            f"{pinned:,} pinned in front" if pinned else "",
            f"newest unit of {newest:,} {what}{'' if newest == 1 else 's'}" if newest else "",
        )
        if part
    ]
    listed = f" ({', '.join(parts)})" if parts else ""
    return (
        f"a limit of {limit:,} {what}{'' if limit == 1 else 's'} cannot hold "
        f"{held:,} {what}{'' if held == 1 else 's'}{listed}"
    )
