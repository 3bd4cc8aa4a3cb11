"""Pydantic AI harness: its compactions that need no model, triggered by messages.

Source: pydantic-ai-harness 0.62.0 on pydantic-ai-slim 2.62.0, read on 2026-12-01. The agent's
instructions are not among its messages: they stay. The results of one answer are one message
there. What a compaction leaves is the history from then on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from chatmem_lab.messages import Message, ToolCall
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.grouped import Group, grouped_results
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.window import KEEP, Revision, Slot, Window

__all__ = [
    "PydanticAIClamp",
    "PydanticAIClear",
    "PydanticAIDeduplicate",
    "PydanticAIWindow",
    "pydantic_ai_clamp_oversized",
    "pydantic_ai_clear_tool_results",
    "pydantic_ai_deduplicate_file_reads",
    "pydantic_ai_sliding_window",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")
#: So far around a cut calls are looked for.
_SEARCH_RANGE = 5


class _Compaction(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True


def _calls(group: Group) -> tuple[ToolCall, ...]:
    return group[0].messages[0].tool_calls


def _answers(group: Group) -> set[str]:
    return {unit.messages[0].tool_call_id or "" for unit in group if unit.role == "tool"}


@dataclass(frozen=True, repr=False)
class PydanticAIWindow(_Compaction):
    """Pydantic AI harness 0.62 ``SlidingWindowCompaction``, by messages."""

    max_messages: Annotated[int, Bounds(1)]
    _: KW_ONLY
    keep_messages: Annotated[int, Bounds(0)] = 40
    preserve_first_user_message: bool = True

    def revise(self, window: Window) -> Revision:
        groups = grouped_results(window)
        keep = max(self.keep_messages, 1)
        if len(groups) <= max(self.max_messages, keep):
            return KEEP
        cut = len(groups) - keep
        while cut and not _is_safe(groups, cut):
            cut -= 1
        gone = groups[:cut]
        if self.preserve_first_user_message:
            first = next((group for group in groups if group[0].role == "user"), None)
            gone = [group for group in gone if group is not first]
        evict = tuple(unit for group in gone for unit in group)
        if not evict:
            return KEEP
        return Revision(evict=evict, reason=f"over {self.max_messages:,} messages")


def _is_safe(groups: Sequence[Group], cut: int) -> bool:
    """Whether no call near the cut is parted from an answer, as far as ids tell."""
    for at in range(max(0, cut - _SEARCH_RANGE), min(len(groups), cut + _SEARCH_RANGE)):
        ids = {call.id for call in _calls(groups[at]) if call.id}
        if not ids:
            continue
        for later in range(at + 1, len(groups)):
            if ids & _answers(groups[later]) and (at < cut) != (later < cut):
                return False
    return True


def _pairs(groups: Sequence[Group]) -> list[ToolCall]:
    """The call of each result that has one, in the order of the results."""
    calls = {call.id: call for group in groups for call in _calls(group) if call.id}
    return [
        calls[unit.messages[0].tool_call_id or ""]
        for group in groups
        for unit in group
        if unit.role == "tool" and unit.messages[0].tool_call_id in calls
    ]


def _cleared(
    groups: Sequence[Group], ids: set[str], placeholder: str, *, inputs: bool = False
) -> dict[Slot, Message]:
    """Every result with one of `ids` as the placeholder, and its calls without arguments."""
    changed: dict[Slot, Message] = {}
    for slot in (unit.slots[0] for group in groups for unit in group):
        message = slot.message
        if message.role == "tool" and message.tool_call_id in ids and message.text != placeholder:
            changed[slot] = message.with_text(placeholder)
        elif inputs and any(c.id in ids and c.arguments != "{}" for c in message.tool_calls):
            calls = (
                ToolCall(c.id, c.name, "{}") if c.id in ids else c for c in message.tool_calls
            )
            changed[slot] = replace(message, tool_calls=tuple(calls))
    return changed


def _without_input(call: ToolCall) -> ToolCall:
    return ToolCall(call.id, call.name, "{}")


@dataclass(frozen=True, repr=False)
class PydanticAIClear(_Compaction):
    """Pydantic AI harness 0.62 ``ClearToolResults``, by messages."""

    max_messages: Annotated[int, Bounds(1)]
    _: KW_ONLY
    keep_pairs: Annotated[int, Bounds(0)] = 3
    placeholder: str = "[tool result cleared]"
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False

    def revise(self, window: Window) -> Revision:
        groups = grouped_results(window)
        since = len(groups)
        for behind, group in enumerate(reversed(groups)):
            if any(u.role == "tool" and u.messages[0].text == self.placeholder for u in group):
                since = behind
                break
        if since <= self.max_messages:
            return KEEP
        pairs = _pairs(groups)
        old = pairs[: max(0, len(pairs) - self.keep_pairs)]
        ids = {call.id for call in old if call.name not in self.exclude_tools}
        changed = _cleared(groups, ids, self.placeholder, inputs=self.clear_tool_inputs)
        if not changed:
            return KEEP
        return Revision(
            replace=changed, replaced_as="clear", reason=f"over {self.max_messages:,} messages"
        )


@dataclass(frozen=True, repr=False)
class PydanticAIDeduplicate(_Compaction):
    """Pydantic AI harness 0.62 ``DeduplicateFileReads``; names in the place of its function."""

    tools: tuple[str, ...] = ("read_file",)
    _: KW_ONLY
    path_argument: str = "path"
    placeholder: str = "[superseded file read]"

    def revise(self, window: Window) -> Revision:
        groups = grouped_results(window)
        keys = [(call.id, self._file(call)) for call in _pairs(groups)]
        newest = {key: at for at, (_, key) in enumerate(keys) if key is not None}
        ids = {id for at, (id, key) in enumerate(keys) if key is not None and newest[key] != at}
        changed = _cleared(groups, ids, self.placeholder)
        if not changed:
            return KEEP
        return Revision(replace=changed, replaced_as="clear", reason="the file was read again")

    def _file(self, call: ToolCall) -> str | None:
        return file_of(call.name, call.arguments, self.tools, self.path_argument)


def file_of(name: str, arguments: str, tools: Sequence[str], path_argument: str) -> str | None:
    """The file that a call reads, if it is one of `tools` and says so."""
    if name not in tools:
        return None
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    path = given.get(path_argument) if isinstance(given, dict) else None
    return path if isinstance(path, str) else None


@dataclass(frozen=True, repr=False)
class PydanticAIClamp(_Compaction):
    """Pydantic AI harness 0.62 ``ClampOversizedMessages``, by characters."""

    max_part_chars: Annotated[int, Bounds(1)]
    _: KW_ONLY
    keep_head_chars: Annotated[int, Bounds(0)] = 2_000
    keep_tail_chars: Annotated[int, Bounds(0)] = 2_000
    clamp_tool_call_args: bool = True

    def revise(self, window: Window) -> Revision:
        changed: dict[Slot, Message] = {}
        for slot in (unit.slots[0] for unit in window.units if unit.role == "assistant"):
            message = slot.message
            text = self._clamped(message.text)
            calls = tuple(map(self._with_less, message.tool_calls))
            if text is not None or calls != message.tool_calls:
                shown = message if text is None else message.with_text(text)
                changed[slot] = replace(shown, tool_calls=calls)
        if not changed:
            return KEEP
        return Revision(
            replace=changed, replaced_as="clamp", reason=f"over {self.max_part_chars:,} characters"
        )

    def _with_less(self, call: ToolCall) -> ToolCall:
        clamped = self._clamped(call.arguments or "{}") if self.clamp_tool_call_args else None
        if clamped is None:
            return call
        return ToolCall(call.id, call.name, json.dumps({"_clamped": clamped}))

    def _clamped(self, text: str) -> str | None:
        if len(text) <= self.max_part_chars:
            return None
        head = text[: self.keep_head_chars]
        tail = text[len(text) - self.keep_tail_chars :] if self.keep_tail_chars else ""
        removed = len(text) - len(head) - len(tail)
        clamped = f"{head}\n[clamped: removed {removed} of {len(text)} characters]\n{tail}"
        return clamped if len(clamped) < len(text) else None


def pydantic_ai_sliding_window(
    max_messages: int, *, keep_messages: int = 40, preserve_first_user_message: bool = True
) -> Preset:
    """Pydantic AI harness's sliding window: over a number of messages the newest stay.

    The cut moves back until no pair near it is torn; the first user message stays in front,
    and so do the instructions. The prefix breaks once at each cut.

    Parameters
    ----------
    max_messages, keep_messages : int
    preserve_first_user_message : bool

    Examples
    --------
    >>> pydantic_ai_sliding_window(80)
    pydantic_ai_sliding_window(80)
    """
    return named_preset(
        pydantic_ai_sliding_window,
        PydanticAIWindow(
            max_messages,
            keep_messages=keep_messages,
            preserve_first_user_message=preserve_first_user_message,
        ),
        _RULES,
        max_messages=max_messages,
        keep_messages=keep_messages,
        preserve_first_user_message=preserve_first_user_message,
    )


def pydantic_ai_clear_tool_results(
    max_messages: int,
    *,
    keep_pairs: int = 3,
    placeholder: str = "[tool result cleared]",
    exclude_tools: tuple[str, ...] = (),
    clear_tool_inputs: bool = False,
) -> Preset:
    """Pydantic AI harness's clearing: old results are blanked in batches.

    When so many messages have come since the last cleared result. Pairs and instructions
    stay; the prefix breaks once a batch. Of ids that come again all results are blanked.

    Parameters
    ----------
    max_messages, keep_pairs : int
    placeholder : str
    exclude_tools : tuple of str
    clear_tool_inputs : bool

    Examples
    --------
    >>> pydantic_ai_clear_tool_results(30)
    pydantic_ai_clear_tool_results(30)
    """
    return named_preset(
        pydantic_ai_clear_tool_results,
        PydanticAIClear(
            max_messages,
            keep_pairs=keep_pairs,
            placeholder=placeholder,
            exclude_tools=exclude_tools,
            clear_tool_inputs=clear_tool_inputs,
        ),
        _RULES,
        max_messages=max_messages,
        keep_pairs=keep_pairs,
        placeholder=placeholder,
        exclude_tools=exclude_tools,
        clear_tool_inputs=clear_tool_inputs,
    )


def pydantic_ai_deduplicate_file_reads(
    tools: tuple[str, ...] = ("read_file",),
    *,
    path_argument: str = "path",
    placeholder: str = "[superseded file read]",
) -> Preset:
    """Pydantic AI harness's deduplication: of the reads of a file only the newest keeps its text.

    A read of a part counts as one of the file. Pairs and instructions stay; the prefix breaks
    at the place of each read that is superseded.

    Parameters
    ----------
    tools : tuple of str
        There a function says which file a call reads.
    path_argument : str
    placeholder : str

    Examples
    --------
    >>> pydantic_ai_deduplicate_file_reads(("open",), path_argument="name")
    pydantic_ai_deduplicate_file_reads(('open',), path_argument='name')
    """
    return named_preset(
        pydantic_ai_deduplicate_file_reads,
        PydanticAIDeduplicate(tools, path_argument=path_argument, placeholder=placeholder),
        _RULES,
        tools=tools,
        path_argument=path_argument,
        placeholder=placeholder,
    )


def pydantic_ai_clamp_oversized(
    max_part_chars: int,
    *,
    keep_head_chars: int = 2_000,
    keep_tail_chars: int = 2_000,
    clamp_tool_call_args: bool = True,
) -> Preset:
    """Pydantic AI harness's clamp: long texts and arguments of the model lose their middle.

    Results, user messages and instructions are never touched; pairs stay. A message is cut
    in the first request that sends it, so no prefix breaks.

    Parameters
    ----------
    max_part_chars, keep_head_chars, keep_tail_chars : int
    clamp_tool_call_args : bool

    Examples
    --------
    >>> pydantic_ai_clamp_oversized(20_000)
    pydantic_ai_clamp_oversized(20_000)
    """
    return named_preset(
        pydantic_ai_clamp_oversized,
        PydanticAIClamp(
            max_part_chars,
            keep_head_chars=keep_head_chars,
            keep_tail_chars=keep_tail_chars,
            clamp_tool_call_args=clamp_tool_call_args,
        ),
        _RULES,
        max_part_chars=max_part_chars,
        keep_head_chars=keep_head_chars,
        keep_tail_chars=keep_tail_chars,
        clamp_tool_call_args=clamp_tool_call_args,
    )
