"""`budget`: what a model's context window leaves for a memory."""

from __future__ import annotations

from operator import index

from chatmem_lab.errors import BudgetError, UnknownModelError
from chatmem_lab.tokens.models import Model, find_model

__all__ = ["budget"]


def budget(model: str | Model, *, reply: int) -> int:
    """The most tokens that a window may hold: the context window less room for the reply.

    Parameters
    ----------
    model : str or Model
    reply : int
        Tokens to leave free for the reply, reasoning included.

    Returns
    -------
    int
        Never more than the model takes as input: gpt-5 has a context window of 400,000
        tokens and yet refuses a request above 272,000, however short the reply.

    Raises
    ------
    BudgetError
        If nothing is left, or the model cannot reply at that length; with the sum.
    UnknownModelError
        If the model, or its context window, is not known.

    Examples
    --------
    >>> budget("gpt-4o", reply=8_192)
    119808
    >>> budget("gpt-5", reply=8_192)
    272000
    """
    known = model if isinstance(model, Model) else find_model(model)
    window = known.context_window
    if window is None:
        raise UnknownModelError(
            f"the context window of {known.name!r} is not in the model table: "
            "pass or register a Model with its context_window"
        )
    tokens = _tokens(reply)
    left = window - tokens
    if left <= 0:
        raise BudgetError(
            f"a reply of {tokens:,} tokens leaves nothing of the context window of {known.name}: "
            f"{window:,} - {tokens:,} = {left:,}. Use a smaller reply."
        )
    longest = known.max_output_tokens
    if longest is not None and tokens > longest:
        raise BudgetError(
            f"{known.name} replies with at most {longest:,} tokens, not {tokens:,} "
            f"(of its context window {window:,} - {tokens:,} = {left:,} would be left): "
            f"use reply={longest}"
        )
    return left if known.max_input_tokens is None else min(left, known.max_input_tokens)


def _tokens(reply: int) -> int:
    if not isinstance(reply, bool):
        try:
            tokens = index(reply)
        except TypeError:
            pass
        else:
            if tokens >= 0:
                return tokens
    raise BudgetError(f"reply must be a number of tokens, at least 0, not {reply!r}")
