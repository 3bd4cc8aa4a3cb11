"""`Exchange`: a framework's own messages, and which of ours each of them is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from chatmem_lab.adapters.adapter import Answer
from chatmem_lab.messages import INSTRUCTION_ROLES, Message

__all__ = ["Exchange", "grouped_results", "with_instructions"]

T = TypeVar("T")


def grouped_results(
    messages: Sequence[Message], *, instructions: bool = False
) -> list[tuple[int, ...]]:
    """The places of the messages, results that follow one another together.

    Without `instructions`, system and developer messages are left out.

    >>> from chatmem_lab.messages import system, tool_output, user
    >>> grouped_results([system("s"), user("q"), tool_output("a", "1"), tool_output("b", "2")])
    [(1,), (2, 3)]
    """
    groups: list[list[int]] = []
    for at, message in enumerate(messages):
        if message.role in INSTRUCTION_ROLES and not instructions:
            continue
        if message.role == "tool" and groups and messages[groups[-1][0]].role == "tool":
            groups[-1].append(at)
        else:
            groups.append([at])
    return [tuple(group) for group in groups]


def with_instructions(messages: Sequence[Message], answers: Iterable[Answer]) -> list[Answer]:
    """The answers, with instructions where they stood among `messages`.

    >>> from chatmem_lab.messages import system, user
    >>> given = [system("s"), user("q"), system("t"), user("r")]
    >>> [at for at, _ in with_instructions(given, [(1, given[1]), (3, given[3])])]
    [0, 1, 2, 3]
    """
    waiting = [at for at, message in enumerate(messages) if message.role in INSTRUCTION_ROLES]
    merged: list[Answer] = []
    for at, message in answers:
        while waiting and at is not None and waiting[0] < at:
            merged.append((waiting[0], messages[waiting[0]]))
            waiting.pop(0)
        merged.append((at, message))
    return [*merged, *((at, messages[at]) for at in waiting)]


class Exchange(Generic[T]):
    """One round: messages are handed to a framework, and traced in what it returns.

    A returned message is traced by object identity, then by `tag`, then by content. One that
    reads back as it did before is the given message itself, so a conversion that cannot hold
    everything loses nothing.

    Parameters
    ----------
    messages : sequence of Message
    theirs : iterable of (T, indices)
        The framework's messages in order, each with the indices of ours that it holds: most
        hold one, some frameworks put several results into one.
    ours : callable
        Reads a framework's message back, as one or more of ours.
    tag : callable, optional
        What stays the same when the framework copies a message: its id. None where nothing
        does.

    Examples
    --------
    >>> from chatmem_lab.messages import assistant, user
    >>> given = [user("hi"), assistant("Hello!")]
    >>> exchange = Exchange(given, [(["hi"], (0,)), (["Hello!"], (1,))],
    ...                     lambda theirs: [user(theirs[0])])
    >>> theirs = exchange.theirs
    >>> [(at, message.text) for at, message in exchange.answers([theirs[1], ["new"]])]
    [(1, 'Hello!'), (None, 'new')]
    """

    def __init__(
        self,
        messages: Sequence[Message],
        theirs: Iterable[tuple[T, tuple[int, ...]]],
        ours: Callable[[T], list[Message]],
        tag: Callable[[T], Hashable | None] = lambda theirs: None,
    ) -> None:
        self._messages = messages
        self._ours = ours
        self._tag = tag
        given = list(theirs)
        #: The framework's messages, to be handed to it.
        self.theirs: list[T] = [message for message, _ in given]
        self._indices = [indices for _, indices in given]
        # Read back before the framework has them: it may change them in place.
        self._before = [ours(message) for message in self.theirs]

    def answers(self, returned: Iterable[T]) -> list[Answer]:
        """What came back, in order."""
        came = list(returned)
        answers: list[Answer] = []
        for message, group in zip(came, self._trace(came)):
            answers.extend(self._read(message, group))
        return answers

    def _trace(self, came: Sequence[T]) -> list[int | None]:
        taken: set[int] = set()

        def index_by(keys: Iterable[Hashable | None]) -> dict[Hashable, list[int]]:
            found: dict[Hashable, list[int]] = {}
            for group, key in enumerate(keys):
                if key is not None:
                    found.setdefault(key, []).append(group)
            return found

        def take(groups: list[int] | None) -> int | None:
            for group in groups or ():
                if group not in taken:
                    taken.add(group)
                    return group
            return None

        def content(read: list[Message]) -> Hashable:
            return tuple(message.key for message in read)

        by_object = index_by(map(id, self.theirs))
        by_tag = index_by(map(self._tag, self.theirs))
        by_content = index_by(map(content, self._before))
        traced = [take(by_object.get(id(message))) for message in came]
        for at, message in enumerate(came):
            if traced[at] is None:
                traced[at] = take(by_tag.get(self._tag(message)))
        for at, message in enumerate(came):
            if traced[at] is None:
                traced[at] = take(by_content.get(content(self._ours(message))))
        return traced

    def _read(self, message: T, group: int | None) -> list[Answer]:
        read = self._ours(message)
        if group is None:
            return [(None, new) for new in read]
        before, indices = self._before[group], list(self._indices[group])
        if len(before) != len(indices):
            raise ValueError(
                f"a message that stands for {len(indices)} of ours reads back as {len(before)}"
            )
        if len(read) == len(before):
            partners: list[int | None] = list(range(len(read)))
        else:
            partners = _partners(before, read)
        answers: list[Answer] = []
        for new, partner in zip(read, partners):
            if partner is None:
                answers.append((None, new))
                continue
            given = self._messages[indices[partner]]
            answers.append((indices[partner], given if new.same_as(before[partner]) else new))
        return answers


def _partners(before: Sequence[Message], read: Sequence[Message]) -> list[int | None]:
    """For each message of `read` the one of `before` that it is, by call id or by content."""
    free = list(range(len(before)))
    partners: list[int | None] = []
    for new in read:
        same = [at for at in free if before[at].same_as(new)]
        alike = [
            at
            for at in free
            if before[at].role == new.role == "tool"
            and before[at].tool_call_id == new.tool_call_id
        ]
        partner = next(iter(same or alike), None)
        if partner is not None:
            free.remove(partner)
        partners.append(partner)
    return partners
