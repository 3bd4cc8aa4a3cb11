"""AutoGen's model contexts: the newest messages, the middle popped, head and tail.

Source: autogen-core 0.7.5, read on 2026-12-01. Each context keeps everything and gives a view
of it before each model call. The agent's system messages are not in it: they stay. The
results of one answer are one message there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.messages import user
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.keep_all import KeepAll
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.grouped import Group, grouped_results, is_result
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.window import KEEP, Insert, Revision, Window

__all__ = [
    "AutoGenBuffer",
    "AutoGenHeadTail",
    "AutoGenTokenLimit",
    "autogen_buffered",
    "autogen_head_and_tail",
    "autogen_token_limited",
    "autogen_unbounded",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")


class _Context(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    sees: ClassVar[Literal["window", "history"]] = "history"
    asked_while_open: ClassVar[bool] = True

    @abstractmethod
    def view(self, messages: list[Group], window: Window) -> list[Group | str]:
        """What is sent of the messages; a text is a made user message."""
        raise NotImplementedError

    def revise(self, window: Window) -> Revision:
        messages = grouped_results(window)
        shown = self.view(messages, window)
        kept = {id(unit) for one in shown if not isinstance(one, str) for unit in one}
        evict = tuple(unit for message in messages for unit in message if id(unit) not in kept)
        insert: list[Insert] = []
        for at, one in enumerate(shown):
            if isinstance(one, str):
                behind = (other for other in shown[at:] if not isinstance(other, str))
                before = next(behind, None)
                insert.append(Insert(user(one), None if before is None else before[0]))
        if not evict and not insert:
            return KEEP
        return Revision(evict=evict, insert=tuple(insert), reason="not in the context's view")


def _without_first_result(messages: Sequence[Group]) -> list[Group]:
    """The only result that is ever looked for: that which would stand first."""
    return list(messages[1:] if messages and is_result(messages[0]) else messages)


@dataclass(frozen=True, repr=False)
class AutoGenBuffer(_Context):
    """AutoGen 0.7.5 ``BufferedChatCompletionContext``: the newest messages."""

    buffer_size: Annotated[int, Bounds(1)]

    def view(self, messages: list[Group], window: Window) -> list[Group | str]:
        return [*_without_first_result(messages[-self.buffer_size :])]


@dataclass(frozen=True, repr=False)
class AutoGenTokenLimit(_Context):
    """AutoGen 0.7.5 ``TokenLimitedChatCompletionContext``: the middle is popped until it fits."""

    token_limit: Annotated[int, Bounds(1)]

    def view(self, messages: list[Group], window: Window) -> list[Group | str]:
        left = [(message, sum(unit.tokens for unit in message)) for message in messages]
        total = sum(tokens for _, tokens in left) + window.tokens - window.message_tokens
        while total > self.token_limit and left:
            total -= left.pop(len(left) // 2)[1]
        return [*_without_first_result([message for message, _ in left])]


@dataclass(frozen=True, repr=False)
class AutoGenHeadTail(_Context):
    """AutoGen 0.7.5 ``HeadAndTailChatCompletionContext``: a marker between first and newest."""

    head_size: Annotated[int, Bounds(1)]
    _: KW_ONLY
    tail_size: Annotated[int, Bounds(1)]

    def view(self, messages: list[Group], window: Window) -> list[Group | str]:
        skipped = len(messages) - self.head_size - self.tail_size
        if skipped <= 0:
            return [*messages]
        head = messages[: self.head_size]
        if head[-1][0].messages[0].tool_calls:
            head = head[:-1]
        tail = _without_first_result(messages[-self.tail_size :])
        return [*head, f"Skipped {skipped} messages.", *tail]


def autogen_unbounded() -> Preset:
    """AutoGen's unbounded context: everything is sent, and the prefix only grows.

    Examples
    --------
    >>> autogen_unbounded()
    autogen_unbounded()
    """
    return named_preset(autogen_unbounded, KeepAll(), _RULES)


def autogen_buffered(buffer_size: int) -> Preset:
    """AutoGen's buffer: the newest messages; a result that would stand first is dropped.

    Other results stay whatever became of their call, and so do calls. The system message
    stays; the prefix breaks behind it with each message once the buffer is full.

    Parameters
    ----------
    buffer_size : int

    Examples
    --------
    >>> autogen_buffered(10)
    autogen_buffered(10)
    """
    return named_preset(
        autogen_buffered, AutoGenBuffer(buffer_size), _RULES, buffer_size=buffer_size
    )


def autogen_token_limited(token_limit: int) -> Preset:
    """AutoGen's token limit: the message in the middle is popped until the rest fits.

    Calls and results in the middle are torn apart; only a result that would stand first is
    dropped. Tokens without the system message, which stays. Nothing may be left.

    Parameters
    ----------
    token_limit : int

    Examples
    --------
    >>> autogen_token_limited(8_000)
    autogen_token_limited(8_000)
    """
    return named_preset(
        autogen_token_limited, AutoGenTokenLimit(token_limit), _RULES, token_limit=token_limit
    )


def autogen_head_and_tail(head_size: int, *, tail_size: int) -> Preset:
    """AutoGen's head and tail: the first and the newest messages, and how many are missing.

    A call at the end of the head and a result at the start of the tail are dropped. The
    system message and the head stay; the number in the marker breaks the prefix each time.

    Parameters
    ----------
    head_size, tail_size : int

    Examples
    --------
    >>> autogen_head_and_tail(2, tail_size=10)
    autogen_head_and_tail(2, tail_size=10)
    """
    return named_preset(
        autogen_head_and_tail,
        AutoGenHeadTail(head_size, tail_size=tail_size),
        _RULES,
        head_size=head_size,
        tail_size=tail_size,
    )
