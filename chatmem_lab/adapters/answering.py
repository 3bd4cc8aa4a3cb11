"""`ModelCalls`: the model that a framework's summarizing policy is given."""

from __future__ import annotations

from collections.abc import Sequence

from chatmem_lab.errors import SummarizerError
from chatmem_lab.messages import Message, assistant
from chatmem_lab.summarizers import Summarizer, SummaryRequest

__all__ = ["ModelCalls"]


class ModelCalls:
    """Answers a framework's calls to a model with a summarizer, and remembers what they cost.

    Examples
    --------
    >>> from chatmem_lab.messages import user
    >>> from chatmem_lab.summarizers import Truncate
    >>> calls = ModelCalls()
    >>> calls.answer([user("Summarize: the fee is 4 euros")], Truncate(20))
    'user: Summarize:…'
    >>> len(calls.taken()[0]), len(calls.taken()[0])
    (1, 0)
    """

    def __init__(self) -> None:
        self._asked: list[Message] = []
        self._answered: list[Message] = []

    def answer(self, prompt: Sequence[Message], summarizer: Summarizer) -> str:
        """The summarizer's text for the messages that a framework sends to its model.

        Raises
        ------
        SummarizerError
            If it gives none.
        """
        self._asked.extend(prompt)
        text = summarizer.summarize(SummaryRequest(messages=tuple(prompt))).text
        if not text or not text.strip():
            raise SummarizerError(f"{summarizer!r} gave no text")
        self._answered.append(assistant(text))
        return text

    def taken(self) -> tuple[list[Message], list[Message]]:
        """What was asked and answered since the last time."""
        taken = self._asked, self._answered
        self._asked, self._answered = [], []
        return taken
