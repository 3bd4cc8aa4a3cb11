"""`Truncate`: a summary that is the head of each message. Offline, free, deterministic."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message
from chatmem_lab.summarizers.cutting import ELLIPSIS, cut
from chatmem_lab.summarizers.summarizer import Summary, SummaryRequest

__all__ = ["Truncate"]

#: A shorter head than this says nothing.
_LEAST = 24


@dataclass(frozen=True, repr=False)
class Truncate:
    """Keep the head of what is folded: the earlier summary, then a line for each message.

    Where not all of it fits, each keeps a share in proportion to its length and ends with an
    ellipsis. Where there are more messages than heads of a readable length, the first and the
    longest are kept. A baseline to beat, not a good summarizer.

    Parameters
    ----------
    max_chars : int
        The longest summary, in characters. Where the request sets `max_tokens` it is also at
        most that many bytes of UTF-8: no byte-level tokenizer makes more tokens than bytes.

    Examples
    --------
    >>> from chatmem_lab.messages import assistant, user
    >>> messages = (user("I need a refund for order A-117."), assistant("Which item is it?"))
    >>> print(Truncate(60).summarize(SummaryRequest(messages=messages)).text)
    user: I need a refund for order…
    assistant: Which item is…

    Raises
    ------
    PolicyError
        If `max_chars` is no whole number, or less than 1.
    """

    max_chars: int = 2_000

    def __post_init__(self) -> None:
        wanted = f"Truncate: max_chars must be a whole number, at least 1, not {self.max_chars!r}"
        if isinstance(self.max_chars, bool):
            raise PolicyError(wanted)
        try:
            max_chars = operator.index(self.max_chars)
        except TypeError:
            raise PolicyError(wanted) from None
        if max_chars < 1:
            raise PolicyError(wanted)
        object.__setattr__(self, "max_chars", max_chars)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.max_chars:_})"

    def summarize(self, request: SummaryRequest) -> Summary:
        """The heads of ``request.messages``; a failed summary where they hold no text."""
        earlier = (request.previous or "").strip()
        pieces = [piece for piece in (earlier, *map(_line, request.messages)) if piece]
        text = _heads(pieces, self.max_chars)
        if request.max_tokens is not None:
            text = _within_bytes(pieces, text, request.max_tokens)
        return Summary(text=text or None)


def _line(message: Message) -> str:
    """What a message says, in one line under its role; empty if it says nothing."""
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    said = " ".join(" ".join([message.text, *calls]).split())
    return f"{message.role}: {said}" if said else ""


def _heads(pieces: Sequence[str], limit: int) -> str:
    """The pieces, or the head of each, a line each, in at most `limit` characters."""
    whole = "\n".join(pieces)
    if len(whole) <= limit:
        return whole
    most = max(1, (limit + 1) // (_LEAST + 1))
    by_weight = sorted(range(len(pieces)), key=lambda i: (i > 0, -len(pieces[i]), i))
    kept = [pieces[i] for i in sorted(by_weight[:most])]
    least = [min(_LEAST, len(piece)) for piece in kept]
    wanted = sum(map(len, kept)) - sum(least)
    room = min(limit - (len(kept) - 1) - sum(least), wanted)
    shares = [
        start + (room * (len(piece) - start) // wanted if wanted else 0)
        for piece, start in zip(kept, least)
    ]
    if len(kept) == 1:
        shares = [limit]
    heads = "\n".join(cut(piece, share) for piece, share in zip(kept, shares))
    return heads if heads.strip(f"{ELLIPSIS}\n") else ""


def _within_bytes(pieces: Sequence[str], text: str, most: int) -> str:
    limit = len(text)
    while (size := len(text.encode("utf-8", "surrogatepass"))) > most:
        limit = min(limit - 1, limit * most // size)
        text = _heads(pieces, limit) if limit > 0 else ""
    return text
