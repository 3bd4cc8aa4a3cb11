"""What an API would refuse: a named error, or mended and reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import Struct

from chatmem_lab.errors import ProjectionError
from chatmem_lab.html.text import cut

__all__ = ["MENDS", "ProjectedList", "Repair", "Repairs", "quoted"]


class Repair(Struct, frozen=True, gc=False):
    """One thing that was mended on the way to an API.

    Parameters
    ----------
    index : int
        The message's position in the list that was given.
    call_id : str or None
        The id of the tool call, where one is concerned.
    what : str
        Its kind, a key of `MENDS`.
    text : str
        One sentence for people.

    Examples
    --------
    >>> from chatmem_lab.messages import tool_output, user
    >>> from chatmem_lab.projections import to_chat
    >>> print(to_chat([user("hi"), tool_output("c9", "42")], repair=True).repairs[0].text)
    message 1 is a result for call "c9", which is not open there: left out
    """

    index: int
    call_id: str | None
    what: str
    text: str


class Mend(NamedTuple):
    """How a kind of fault is mended: what repair would do, and what it did."""

    does: str
    done: str


#: Every kind of repair.
MENDS = {
    "orphan_result": Mend("leaves it out", "left out"),
    "unanswered_call": Mend("adds a result that says so", "a result that says so was added"),
    "missing_call_id": Mend("gives it one", "it was given one"),
    "repeated_call_id": Mend("renames the later one", "the later one was renamed"),
    "bad_call_id": Mend("puts _ for the others", "the others became _"),
    "bad_arguments": Mend("sends {} instead", "{} was put instead"),
    "unsendable_part": Mend("leaves it out", "left out"),
    "blank_message": Mend("leaves it out", "left out"),
    "lone_reasoning": Mend("leaves it out", "left out"),
    "starts_on_assistant": Mend(
        "puts a user message in front; a policy with start_on_user=True keeps one there",
        "a user message is in front",
    ),
}


class Repairs:
    """Collects what is mended; without `repair` the first need of it is the error.

    Examples
    --------
    >>> Repairs("Chat Completions", False).needed("blank_message", 2, "says nothing")
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.ProjectionError: Chat Completions would refuse this: message 2 says \
nothing. repair=True leaves it out.
    """

    def __init__(self, api: str, repair: bool) -> None:
        self.api = api
        self.allowed = repair
        self._made: list[Repair] = []

    @property
    def made(self) -> tuple[Repair, ...]:
        """In the order of the messages."""
        return tuple(sorted(self._made, key=lambda repair: repair.index))

    def needed(self, what: str, index: int, wrong: str, call_id: str | None = None) -> None:
        """Raise, or report that what is wrong with the message was mended."""
        mend = MENDS[what]
        if not self.allowed:
            raise ProjectionError(
                f"{self.api} would refuse this: message {index} {wrong}. repair=True {mend.does}."
            )
        text = f"message {index} {wrong}: {mend.done}"
        self._made.append(Repair(index, call_id, what, text))


class ProjectedList(list[dict[str, Any]]):
    """What is sent, with `repairs`: what had to be mended for it."""

    def __init__(
        self, items: Iterable[dict[str, Any]] = (), repairs: tuple[Repair, ...] = ()
    ) -> None:
        super().__init__(items)
        self.repairs = repairs


def quoted(text: str) -> str:
    """An id or a name for a sentence, cut where it is long.

    >>> quoted("call_1")
    '"call_1"'
    """
    return f'"{cut(text, 60)}"'
