"""Microsoft Agent Framework: its compactions that need no model, by groups and messages.

Source: agent-framework-core 1.23.0, read on 2026-12-01. System messages are in the list and
count; all results of one answer are one message. A call, its reasoning and its results are one
group, which leaves as a whole. What has left does not come back here; in the framework a
result that comes after other messages brings its group back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Reasoning
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.window import KEEP, Revision, Unit, Window

__all__ = [
    "AgentFrameworkRecentGroups",
    "AgentFrameworkRecentTools",
    "AgentFrameworkTruncated",
    "agent_framework_selective_tool_call",
    "agent_framework_sliding_window",
    "agent_framework_truncation",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")


class _Compaction(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True


def _is_instruction(group: Sequence[Unit]) -> bool:
    return group[0].role in INSTRUCTION_ROLES


def _is_tooling(group: Sequence[Unit]) -> bool:
    return any(unit.role == "tool" or unit.slots[0].message.tool_calls for unit in group)


def _is_thought(unit: Unit) -> bool:
    """Whether it is reasoning and nothing else."""
    message = unit.slots[0].message
    reasoned = any(isinstance(part, Reasoning) for part in message.parts)
    return reasoned and not message.text and not message.tool_calls


def follows(before: Unit, unit: Unit) -> bool:
    """Whether nothing stood between them in the history."""
    first, second = before.slots[0].position, unit.slots[0].position
    return first is not None and second == first + 1


def groups_of(window: Window) -> list[list[Unit]]:
    """The framework's groups, each where it begins.

    Reasoning belongs to the call after it, a result to the call before it; where messages
    stand between them, to the one call with its id that no result has yet.
    """
    groups: list[list[Unit]] = []
    waiting: dict[str, list[list[Unit]]] = {}
    newest: list[Unit] = []
    for unit in window.units:
        joins = bool(newest) and follows(newest[-1], unit)
        if unit.role == "tool":
            asked = waiting.get(unit.messages[0].tool_call_id or "", [])
            if len(asked) == 1:
                newest = asked.pop()
            elif not joins or not _is_tooling(newest):
                newest = []
                groups.append(newest)
            newest.append(unit)
            continue
        calls = unit.slots[0].message.tool_calls
        thought = _is_thought(unit)
        if joins and (
            (calls and all(map(_is_thought, newest)))
            or (thought and newest[-1].role != "tool" and _is_tooling(newest))
        ):
            newest.append(unit)
        else:
            newest = [unit]
            groups.append(newest)
        for call in calls:
            if call.id:
                waiting.setdefault(call.id, []).append(newest)
    return groups


def _messages(group: Sequence[Unit]) -> int:
    """How many messages the framework has for it: results that follow one another are one."""
    return sum(
        unit.role != "tool" or at == 0 or group[at - 1].role != "tool"
        for at, unit in enumerate(group)
    )


def _without(groups: Sequence[Sequence[Unit]], reason: str) -> Revision:
    evict = tuple(unit for group in groups for unit in group)
    return Revision(evict=evict, reason=reason) if evict else KEEP


@dataclass(frozen=True, repr=False)
class AgentFrameworkRecentGroups(_Compaction):
    """Microsoft Agent Framework 1.23 ``SlidingWindowStrategy``."""

    keep_last_groups: Annotated[int, Bounds(1)]
    _: KW_ONLY
    preserve_system: bool = True

    def revise(self, window: Window) -> Revision:
        groups = groups_of(window)
        others = [group for group in groups if not _is_instruction(group)]
        gone = others[: -self.keep_last_groups]
        if not self.preserve_system:
            gone = gone + [group for group in groups if _is_instruction(group)]
        return _without(gone, f"over {self.keep_last_groups:,} groups")


@dataclass(frozen=True, repr=False)
class AgentFrameworkRecentTools(_Compaction):
    """Microsoft Agent Framework 1.23 ``SelectiveToolCallCompactionStrategy``."""

    keep_last_tool_call_groups: Annotated[int, Bounds(0)] = 1

    def revise(self, window: Window) -> Revision:
        tools = [group for group in groups_of(window) if _is_tooling(group)]
        gone = tools[: max(0, len(tools) - self.keep_last_tool_call_groups)]
        return _without(gone, f"over {self.keep_last_tool_call_groups:,} groups of calls")


@dataclass(frozen=True, repr=False)
class AgentFrameworkTruncated(_Compaction):
    """Microsoft Agent Framework 1.23 ``TruncationStrategy``, by messages."""

    max_n: Annotated[int, Bounds(1)]
    _: KW_ONLY
    compact_to: Annotated[int, Bounds(1)]
    preserve_system: bool = True
    preserve_first_user_group: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.compact_to > self.max_n:
            raise PolicyError(
                f"compact_to must be at most max_n ({self.max_n:,}), not {self.compact_to:,}"
            )

    def revise(self, window: Window) -> Revision:
        groups = groups_of(window)
        left = sum(map(_messages, groups))
        if left <= self.max_n:
            return KEEP
        gone: list[list[Unit]] = []
        kept = self._kept(groups, window)
        for group in groups:
            if left <= self.compact_to:
                break
            if not any(group is other for other in kept):
                gone.append(group)
                left -= _messages(group)
        return _without(gone, f"over {self.max_n:,} messages")

    def _kept(self, groups: Sequence[list[Unit]], window: Window) -> list[list[Unit]]:
        others = [group for group in groups if not _is_instruction(group)]
        kept = (others or list(groups))[-1:]
        if self.preserve_system:
            kept += [group for group in groups if _is_instruction(group)]
        if self.preserve_first_user_group:
            # Once it has left there is none: no later user message takes its place.
            first = next((u for u in window.units if u.role == "user"), None)
            kept += [group for group in groups if group[0] is first]
        return kept


def agent_framework_sliding_window(
    keep_last_groups: int, *, preserve_system: bool = True
) -> Preset:
    """Microsoft Agent Framework's sliding window: the newest groups stay.

    A user message, an answer, and a call with its results are a group each: pairs stay whole.
    Instructions stay in front. The prefix breaks at every request once the window is full.

    Parameters
    ----------
    keep_last_groups : int
    preserve_system : bool

    Examples
    --------
    >>> agent_framework_sliding_window(20)
    agent_framework_sliding_window(20)
    """
    return named_preset(
        agent_framework_sliding_window,
        AgentFrameworkRecentGroups(keep_last_groups, preserve_system=preserve_system),
        _RULES,
        keep_last_groups=keep_last_groups,
        preserve_system=preserve_system,
    )


def agent_framework_selective_tool_call(keep_last_tool_call_groups: int = 1) -> Preset:
    """Microsoft Agent Framework's tool compaction: older calls leave with their results.

    Texts, user messages and instructions stay, and so do whole pairs. The prefix breaks at
    the oldest call that is kept, at each new call.

    Parameters
    ----------
    keep_last_tool_call_groups : int

    Examples
    --------
    >>> agent_framework_selective_tool_call(3)
    agent_framework_selective_tool_call(3)
    """
    return named_preset(
        agent_framework_selective_tool_call,
        AgentFrameworkRecentTools(keep_last_tool_call_groups),
        _RULES,
        keep_last_tool_call_groups=keep_last_tool_call_groups,
    )


def agent_framework_truncation(
    max_n: int,
    *,
    compact_to: int,
    preserve_system: bool = True,
    preserve_first_user_group: bool = False,
) -> Preset:
    """Microsoft Agent Framework's truncation: over a number of messages the oldest groups leave.

    So many leave that `compact_to` messages are left, so cuts are rare; instructions and the
    newest group stay whatever they count, and pairs stay whole. The prefix breaks at a cut.

    Parameters
    ----------
    max_n, compact_to : int
    preserve_system, preserve_first_user_group : bool

    Raises
    ------
    PolicyError
        If `compact_to` is over `max_n`.

    Examples
    --------
    >>> agent_framework_truncation(40, compact_to=20)
    agent_framework_truncation(40, compact_to=20)
    """
    return named_preset(
        agent_framework_truncation,
        AgentFrameworkTruncated(
            max_n,
            compact_to=compact_to,
            preserve_system=preserve_system,
            preserve_first_user_group=preserve_first_user_group,
        ),
        _RULES,
        max_n=max_n,
        compact_to=compact_to,
        preserve_system=preserve_system,
        preserve_first_user_group=preserve_first_user_group,
    )
