"""The chat memories of the book's chapter on LangChain4j, as the book says they work.

Where the book is silent (calls and their results, blank messages, a newest message that is
too large) our own rules hold: units stay whole, the newest stays and is marked.
"""

from __future__ import annotations

from chatmem_lab.policies.amounts import Amount, Tokens
from chatmem_lab.policies.message_window import MessageWindow
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.policies.summarize import Summarize
from chatmem_lab.policies.token_window import TokenWindow
from chatmem_lab.summarizers import Summarizer

__all__ = ["book_message_window", "book_token_window", "summarizing_token_window"]

#: One system message, always in front.
_RULES = Rules(new_system="append_front")


def book_message_window(max_messages: int = 20) -> Preset:
    """The book's message window: one system message in front, which does not count.

    Eleven messages, one of them the system message, at most 8: nine are left.

    >>> book_message_window(8)
    book_message_window(8)
    """
    return named_preset(
        book_message_window, MessageWindow(max_messages), _RULES, max_messages=max_messages
    )


def book_token_window(max_tokens: int = 4_000) -> Preset:
    """The book's token window: the system message in front, and the newest that fit beside it.

    >>> book_token_window(1_000)
    book_token_window(1_000)
    """
    return named_preset(book_token_window, TokenWindow(max_tokens), _RULES, max_tokens=max_tokens)


def summarizing_token_window(
    summarizer: Summarizer, *, max_tokens: int = 4_000, keep: Amount
) -> Preset:
    """The book's summarizing memory, which LangChain4j does not have.

    After an assistant message, if the window holds more than `max_tokens`, the older
    messages become a summary, a system message before everything else.

    Parameters
    ----------
    summarizer : Summarizer
    max_tokens : int
        Everything in the window counts, the system message too.
    keep : Messages, Tokens or Turns
        How many of the newest messages stay; "a few", says the book.

    Examples
    --------
    >>> from chatmem_lab.policies import Messages
    >>> from chatmem_lab.summarizers import Truncate
    >>> summarizing_token_window(Truncate(400), max_tokens=2_000, keep=Messages(4))
    summarizing_token_window(Truncate(400), max_tokens=2_000, keep=Messages(4))
    """
    return named_preset(
        summarizing_token_window,
        Summarize(
            summarizer,
            trigger=Tokens(max_tokens),
            keep=keep,
            check_on="assistant",
            count_pinned=True,
            role="system",
            place="front",
        ),
        _RULES,
        summarizer=summarizer,
        max_tokens=max_tokens,
        keep=keep,
    )
