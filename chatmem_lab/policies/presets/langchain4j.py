"""LangChain4j's chat memory: message window and token window.

Source: LangChain4j 1.20, read and run.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.html.text import cut
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.window import KEEP, Revision, Unit, Window

__all__ = [
    "LangChain4jMessageWindow",
    "LangChain4jTokenWindow",
    "langchain4j_message_window",
    "langchain4j_token_window",
]

#: A number, or a function of the session's id, asked at every read and addition.
Limit = int | Callable[[str], int]


class _LangChain4jWindow(Policy):
    """Evict place 0, or place 1 if place 0 is a system message, until it fits.

    With a message that makes calls, the tool results directly behind it leave too, whatever
    their ids.
    """

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True
    limit_name: ClassVar[str]

    def __post_init__(self) -> None:
        limit = getattr(self, self.limit_name)
        if not callable(limit):
            object.__setattr__(self, self.limit_name, self._checked(limit))

    def _checked(self, limit: Any) -> int:
        try:
            number = operator.index(limit)
        except TypeError:
            number = 0
        if isinstance(limit, bool) or not 1 <= number <= 2**62:
            raise PolicyError(
                f"{type(self).__name__}: {self.limit_name} must be a whole number greater than "
                f"zero, or a function of the id that gives one, not {cut(repr(limit), 80)}"
            )
        return number

    def limit(self, window: Window) -> int:
        """The limit for the session that `window` belongs to, now."""
        limit = getattr(self, self.limit_name)
        return self._checked(limit(window.session_id)) if callable(limit) else int(limit)

    def held(self, window: Window) -> int:
        """What `window` holds, in the unit of the limit."""
        raise NotImplementedError

    def weigh(self, unit: Unit) -> int:
        """What `unit` counts against the limit."""
        raise NotImplementedError

    def revise(self, window: Window) -> Revision:
        limit, held = self.limit(window), self.held(window)
        evict: list[Unit] = []
        protected = evicting_results = False
        for unit in window.units:
            if unit.role == "system" and not protected:
                protected, evicting_results = True, False
                continue
            follows = evicting_results and unit.role == "tool"
            if held <= limit and not follows:
                break
            evict.append(unit)
            held -= self.weigh(unit)
            if not follows:
                evicting_results = bool(unit.slots[0].message.tool_calls)
        return Revision(evict=tuple(evict), reason=f"over {limit:,}") if evict else KEEP


@dataclass(frozen=True, repr=False)
class LangChain4jMessageWindow(_LangChain4jWindow):
    """LangChain4j 1.20 ``MessageWindowChatMemory``: the system message counts."""

    max_messages: Limit = 20

    limit_name: ClassVar[str] = "max_messages"

    def held(self, window: Window) -> int:
        return len(window)

    def weigh(self, unit: Unit) -> int:
        return 1


@dataclass(frozen=True, repr=False)
class LangChain4jTokenWindow(_LangChain4jWindow):
    """LangChain4j 1.20 ``TokenWindowChatMemory``: an oversize newest message leaves too."""

    max_tokens: Limit = 4_000

    limit_name: ClassVar[str] = "max_tokens"

    @property
    def budget(self) -> int | None:
        return None if callable(self.max_tokens) else self.max_tokens

    def held(self, window: Window) -> int:
        return window.message_tokens + window.overhead_tokens

    def excess(self, window: Window) -> str | None:
        limit = self.limit(window)
        if self.held(window) <= limit:
            return None
        parts = [part for part in parts_of_window(window) if part[0] != "tool schemas"]
        return over_budget_reason(limit, parts)

    def weigh(self, unit: Unit) -> int:
        return unit.tokens


def langchain4j_message_window(
    max_messages: Limit = 20,
    *,
    keep_system_first: bool = False,
    first_request: Literal["window", "untrimmed"] = "window",
) -> Preset:
    """LangChain4j's message window: the system message counts inside the limit.

    An equal system message is ignored, another one replaces the first and goes to the end,
    or to the front with `keep_system_first` (``alwaysKeepSystemMessageFirst``).

    Parameters
    ----------
    max_messages : int or callable
        A number, or a function of the session's id (``dynamicMaxMessages``). A read applies
        it to what it shows; what was trimmed by an addition does not come back.
    keep_system_first : bool
    first_request : {"window", "untrimmed"}
        "untrimmed" as its AI Services send it: the request right after a user message holds
        one message more than the limit.

    Examples
    --------
    >>> langchain4j_message_window(10, keep_system_first=True)
    langchain4j_message_window(10, keep_system_first=True)
    """
    return named_preset(
        langchain4j_message_window,
        LangChain4jMessageWindow(max_messages),
        _rules(langchain4j_message_window, keep_system_first, first_request),
        max_messages=max_messages,
        keep_system_first=keep_system_first,
        first_request=first_request,
    )


def langchain4j_token_window(
    max_tokens: Limit = 4_000,
    *,
    keep_system_first: bool = False,
    first_request: Literal["window", "untrimmed"] = "window",
) -> Preset:
    """LangChain4j's token window: evicts the newest message too if it alone is too large.

    Tool schemas do not count there. The parameters are those of
    `langchain4j_message_window`; count as it does with ``tokens.langchain4j_formula``.

    >>> langchain4j_token_window(8_000)
    langchain4j_token_window(8_000)
    """
    return named_preset(
        langchain4j_token_window,
        LangChain4jTokenWindow(max_tokens),
        _rules(langchain4j_token_window, keep_system_first, first_request),
        max_tokens=max_tokens,
        keep_system_first=keep_system_first,
        first_request=first_request,
    )


def _rules(
    build: Callable[..., Preset],
    keep_system_first: bool,
    first_request: Literal["window", "untrimmed"],
) -> Rules:
    if not isinstance(keep_system_first, bool):
        raise PolicyError(
            f"{build.__name__}: keep_system_first must be True or False, not "
            f"{cut(repr(keep_system_first), 80)}"
        )
    return Rules(
        blank="keep",
        orphan="keep",
        equal_system="ignore",
        new_system="append_front" if keep_system_first else "append",
        set_as="given",
        read="policy",
        first_request=first_request,
    )
