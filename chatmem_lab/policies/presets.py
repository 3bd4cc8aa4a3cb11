"""Presets: other systems' chat memories, by name, with their exact behaviour.

Loose by contract: what those systems do to tool pairs and system messages is done here
too, and counts as faults.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.html.text import cut
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.limits import over_budget_reason, parts_of_window
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.window import KEEP, Revision, Unit, Window

__all__ = [
    "AI4JMessageWindow",
    "LangChain4jMessageWindow",
    "LangChain4jTokenWindow",
    "ai4j_message_window",
    "langchain4j_message_window",
    "langchain4j_token_window",
]


@dataclass(frozen=True, repr=False)
class AI4JMessageWindow(Policy):
    """AI4J 2.4 ``MessageWindowChatMemoryPolicy``: all system messages, the newest n others."""

    max_messages: Annotated[int, Bounds(0)] = 20

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True

    def revise(self, window: Window) -> Revision:
        over = sum(unit.role != "system" for unit in window.units) - self.max_messages
        if over <= 0:
            return KEEP
        others = (unit for unit in window.units if unit.role != "system")
        evict = tuple(unit for unit, _ in zip(others, range(over)))
        return Revision(evict=evict, reason=f"over {self.max_messages:,} messages")


@dataclass(frozen=True, repr=False)
class _LangChain4jWindow(Policy):
    """Evict place 0, or place 1 if place 0 is a system message, until it fits.

    With a message that makes calls, the tool results directly behind it leave too, whatever
    their ids.
    """

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True

    def held(self, window: Window) -> int:
        raise NotImplementedError

    def weigh(self, unit: Unit) -> int:
        raise NotImplementedError

    @property
    def limit(self) -> int:
        raise NotImplementedError

    def revise(self, window: Window) -> Revision:
        held = self.held(window)
        evict: list[Unit] = []
        protected = evicting_results = False
        for unit in window.units:
            if unit.role == "system" and not protected:
                protected, evicting_results = True, False
                continue
            follows = evicting_results and unit.role == "tool"
            if held <= self.limit and not follows:
                break
            evict.append(unit)
            held -= self.weigh(unit)
            if not follows:
                evicting_results = bool(unit.slots[0].message.tool_calls)
        return Revision(evict=tuple(evict), reason=f"over {self.limit:,}") if evict else KEEP


@dataclass(frozen=True, repr=False)
class LangChain4jMessageWindow(_LangChain4jWindow):
    """LangChain4j 1.20 ``MessageWindowChatMemory``: the system message counts."""

    max_messages: Annotated[int, Bounds(1)] = 20

    @property
    def limit(self) -> int:
        return self.max_messages

    def held(self, window: Window) -> int:
        return len(window)

    def weigh(self, unit: Unit) -> int:
        return 1


@dataclass(frozen=True, repr=False)
class LangChain4jTokenWindow(_LangChain4jWindow):
    """LangChain4j 1.20 ``TokenWindowChatMemory``: an oversize newest message leaves too."""

    max_tokens: Annotated[int, Bounds(1)] = 4_000
    _: KW_ONLY

    @property
    def limit(self) -> int:
        return self.max_tokens

    @property
    def budget(self) -> int:
        return self.max_tokens

    def held(self, window: Window) -> int:
        return window.message_tokens + window.overhead_tokens

    def excess(self, window: Window) -> str | None:
        if self.held(window) <= self.max_tokens:
            return None
        parts = [part for part in parts_of_window(window) if part[0] != "tool schemas"]
        return over_budget_reason(self.max_tokens, parts)

    def weigh(self, unit: Unit) -> int:
        return unit.tokens


def ai4j_message_window(max_messages: int = 20) -> Preset:
    """AI4J's message window: system messages never count and all stay; pairs are torn.

    Source: AI4J 2.4, read and run. A limit of 0 is legal; blank items are ignored.

    >>> ai4j_message_window(8)
    ai4j_message_window(8)
    """
    return Preset(
        AI4JMessageWindow(max_messages),
        Rules(blank="ignore", orphan="keep", equal_system="keep", new_system="keep"),
        name=f"ai4j_message_window({max_messages:_})",
    )


def langchain4j_message_window(
    max_messages: int = 20, *, keep_system_first: bool = False
) -> Preset:
    """LangChain4j's message window: the system message counts inside the limit.

    Source: LangChain4j 1.20, read and run. An equal system message is ignored, another one
    replaces the first and goes to the end, or to the front with `keep_system_first`
    (``alwaysKeepSystemMessageFirst``).

    >>> langchain4j_message_window(10, keep_system_first=True)
    langchain4j_message_window(10, keep_system_first=True)
    """
    return _langchain4j(
        LangChain4jMessageWindow(max_messages),
        f"langchain4j_message_window({max_messages:_}",
        keep_system_first,
    )


def langchain4j_token_window(
    max_tokens: int = 4_000, *, keep_system_first: bool = False
) -> Preset:
    """LangChain4j's token window: evicts the newest message too if it alone is too large.

    Source: LangChain4j 1.20, read and run. Tool schemas do not count there.

    >>> langchain4j_token_window(8_000)
    langchain4j_token_window(8_000)
    """
    return _langchain4j(
        LangChain4jTokenWindow(max_tokens),
        f"langchain4j_token_window({max_tokens:_}",
        keep_system_first,
    )


def _langchain4j(policy: Policy, call: str, keep_system_first: bool) -> Preset:
    if not isinstance(keep_system_first, bool):
        raise PolicyError(
            f"{call.partition('(')[0]}: keep_system_first must be True or False, not "
            f"{cut(repr(keep_system_first), 80)}"
        )
    return Preset(
        policy,
        Rules(
            blank="keep",
            orphan="keep",
            equal_system="ignore",
            new_system="append_front" if keep_system_first else "append",
        ),
        name=f"{call}{', keep_system_first=True' if keep_system_first else ''})",
    )
