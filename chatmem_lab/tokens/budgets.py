"""`budget`: what a model's context window leaves for a memory."""

from __future__ import annotations

from chatmem_lab.errors import BudgetError, UnknownModelError
from chatmem_lab.tokens.models import Model, find_model

__all__ = ["budget"]


def budget(model: str | Model, *, reply: int) -> int:
    """The most tokens that a window may hold: the context window less room for the reply.

    Parameters
    ----------
    model : str or Model
    reply : int
        Tokens to leave free for the reply.

    Returns
    -------
    int

    Raises
    ------
    BudgetError
        If nothing is left, or the model cannot reply at that length; with the sum.

    Examples
    --------
    >>> budget("gpt-5", reply=8_192)
    391808
    """
    known = model if isinstance(model, Model) else find_model(model)
    if known.context_window is None:
        raise UnknownModelError(
            f"the context window of {known.name!r} is not in the model table: "
            "register a Model with its context_window"
        )
    if isinstance(reply, bool) or not isinstance(reply, int) or reply < 0:
        raise BudgetError(f"reply must be a number of tokens, at least 0, not {reply!r}")
    left = known.context_window - reply
    if left <= 0:
        raise BudgetError(
            f"a reply of {reply:,} tokens leaves nothing of the context window of {known.name}: "
            f"{known.context_window:,} - {reply:,} = {left:,}. Use a smaller reply."
        )
    if known.max_output_tokens is not None and reply > known.max_output_tokens:
        raise BudgetError(
            f"{known.name} replies with at most {known.max_output_tokens:,} tokens, "
            f"not {reply:,}: use reply={known.max_output_tokens}"
        )
    return left
