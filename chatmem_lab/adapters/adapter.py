"""`Adapter`: another framework's own policy, run unmodified."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, Literal, Protocol

from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.errors import PolicyError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.policies import Policy
from chatmem_lab.policies.aligning import revision_of
from chatmem_lab.window import Revision, Window

__all__ = ["Adapter", "Answer", "Raised", "Session", "adapters_in"]

#: A message that a framework returned: the index of the given message that it is, or None
#: for a new one, and the message as it is now (the given one itself if nothing changed).
Answer = tuple[int | None, Message]


class Raised(Exception):
    """A framework gave up when it had changed something: `answers` is what it left."""

    def __init__(self, error: Exception, answers: Iterable[Answer]) -> None:
        super().__init__(str(error))
        self.error = error
        self.answers = list(answers)


class Session(Protocol):
    """A framework's own object at work in one session."""

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        """What the framework leaves of `messages`, which is all it is shown."""
        ...


@dataclass(frozen=True, repr=False)
class Adapter(Policy):
    """Another framework's own policy, run unmodified on recorded conversations.

    What the framework returns becomes a revision: messages that are missing are evicted,
    those with other content are replaced, new ones are inserted, and with
    ``sees = "history"`` messages may return. Nothing is mended: orphaned results, a lost
    system message, a window over budget or empty show in `faults`. An error that the
    framework raises changes nothing and is the event ``policy_failed``.

    Attributes
    ----------
    packages : tuple of str
        The packages that it runs, as pip knows them; a study's manifest has their versions.
    extra : str
        The extra of this package that installs them.
    """

    packages: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str] = ""

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True
    exported: ClassVar[bool] = False

    @abstractmethod
    def open(self, calls: ModelCalls) -> Session:
        """The framework's object for one session; `calls` is what it may use as a model."""
        raise NotImplementedError

    def revise(self, window: Window) -> Revision:
        raise PolicyError(f"{self!r} needs a session of its own: begin(None).revise(window)")

    def begin(self, conversation: Conversation | None) -> Policy:
        calls = ModelCalls()
        try:
            session = self.open(calls)
        except ImportError as error:
            raise PolicyError(
                f"{self!r} runs {' and '.join(self.packages)}, which cannot be imported here "
                f'({error}). Install it: pip install "chatmem-lab[{self.extra}]"'
            ) from error
        return Running(self, session, calls)

    @property
    def versions(self) -> dict[str, str]:
        """The installed version of each package that it runs.

        Raises
        ------
        PolicyError
            If one is not installed.
        """
        try:
            return {package: version(package) for package in self.packages}
        except PackageNotFoundError as error:
            raise PolicyError(
                f"{self!r} runs {error.name}, which is not installed: "
                f'pip install "chatmem-lab[{self.extra}]"'
            ) from error


@dataclass(frozen=True, repr=False, eq=False)
class Running(Policy):
    """An adapter in one session: it has that session's object."""

    adapter: Adapter
    session: Session
    calls: ModelCalls

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    exported: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Built by `Adapter.begin` only."""

    @property
    def asks(self) -> Any:  # type: ignore[override]
        return self.adapter.asks

    @property
    def sees(self) -> Any:  # type: ignore[override]
        return self.adapter.sees

    @property
    def asked_while_open(self) -> Any:  # type: ignore[override]
        return self.adapter.asked_while_open

    @property
    def budget(self) -> int | None:
        return self.adapter.budget

    def excess(self, window: Window) -> str | None:
        return self.adapter.excess(window)

    def revise(self, window: Window) -> Revision:
        slots = window.slots
        name = type(self.adapter).__name__
        failure = ""
        try:
            answers = list(self.session.answer([slot.message for slot in slots], window))
        except Raised as raised:
            failure, answers = _told(name, raised.error), raised.answers
        except Exception as error:
            return self._told_all(Revision(reason=name), window, _told(name, error))
        aligned = [(None if at is None else slots[at], message) for at, message in answers]
        return self._told_all(revision_of(window, aligned, reason=name), window, failure)

    def _told_all(self, revision: Revision, window: Window, failure: str) -> Revision:
        """The revision with what went wrong and what the framework's calls to a model cost."""
        asked, answered = self.calls.taken()
        if not (asked or failure):
            return revision
        return Revision(
            evict=revision.evict,
            replace=revision.replace,
            replaced_as=revision.replaced_as,
            insert=revision.insert,
            repaired=revision.repaired,
            reason=revision.reason,
            failure=failure,
            summarizer_input_tokens=sum(map(window.count, asked)),
            summarizer_output_tokens=sum(map(window.count, answered)),
        )

    def __repr__(self) -> str:
        return repr(self.adapter)


def adapters_in(policy: object) -> Iterator[Adapter]:
    """The adapters that a policy, a preset or a chain asks."""
    if isinstance(policy, Adapter):
        yield policy
        return
    inner = getattr(policy, "policy", None)
    for other in getattr(policy, "policies", ()) or (() if inner is None else (inner,)):
        yield from adapters_in(other)


def _told(name: str, error: Exception) -> str:
    return f"{name}: {type(error).__name__}: {cut(str(error), 300)}"
