"""Microsoft Agent Framework: its compactions that count tokens, and those that make texts.

Source: agent-framework-core 1.23.0, read on 2026-12-01. Each is asked before each model call
and works on groups, as the other presets of this framework do. It counts a message by the text
that it writes of it, as JSON: four characters a token. Tool schemas are not counted.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import INSTRUCTION_ROLES, Message, Reasoning, Text, user
from chatmem_lab.policies.amounts_of_window import check_summarizer
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.agent_framework import follows, groups_of
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Insert, Revision, SummaryForm, Unit, Window

__all__ = [
    "AgentFrameworkCollapse",
    "AgentFrameworkFitBudget",
    "AgentFrameworkFitContext",
    "AgentFrameworkSummarize",
    "agent_framework_context_window",
    "agent_framework_summarization",
    "agent_framework_token_budget",
    "agent_framework_tool_result",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")
_TOKENIZERS = ("characters", "replay")
#: The most characters of what takes the place of calls and their results.
_MOST_CHARS = 4_096
_CUT = "... [truncated]"
#: The tokens of the framework's own prompt for summaries.
_PROMPT_TOKENS = 148


@dataclass(frozen=True, eq=False)
class _Their:
    """One of the framework's messages: ours, all results of one answer, or a made one."""

    messages: tuple[Message, ...]
    id: str

    @property
    def role(self) -> str:
        first = self.messages[0]
        return "system" if first.role in INSTRUCTION_ROLES else first.role

    def serialized(self) -> str:
        """The text that the framework counts."""
        contents = [content for message in self.messages for content in _contents(message)]
        shown = {"role": self.role, "message_id": self.id, "contents": contents}
        return json.dumps(shown, ensure_ascii=False, sort_keys=True)


def _contents(message: Message) -> Iterator[dict[str, object]]:
    """A message's contents as the framework writes them down."""
    if message.role == "tool":
        failed = {"exception": "FunctionInvocationError"} if message.is_error else {}
        id = message.tool_call_id or ""
        yield _content("function_result", call_id=id, result=message.text, **failed)
        return
    for part in message.parts:
        if isinstance(part, Reasoning):
            yield _content("text_reasoning", text=part.text)
    if message.text or message.role != "assistant":
        yield _content("text", text=message.text)
    for call in message.tool_calls:
        shown = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        yield _content("function_call", hosted=False, **shown)


def _content(type: str, **shown: object) -> dict[str, object]:
    return {"type": type, "additional_properties": {}, **shown}


@dataclass(frozen=True, eq=False)
class _Group:
    """Messages that stay or leave together, or the text that was made of them."""

    units: tuple[Unit, ...]
    made: Message | None = None

    @property
    def is_instruction(self) -> bool:
        return self.units[0].role in INSTRUCTION_ROLES

    @property
    def has_calls(self) -> bool:
        shown = [unit.slots[0].message for unit in self.units]
        return self.made is None and any(m.role == "tool" or m.tool_calls for m in shown)

    @property
    def theirs(self) -> list[_Their]:
        if self.made is not None:
            return [_Their((self.made,), self.made.id or "")]
        return [
            _Their(tuple(unit.slots[0].message for unit in units), _id(units[0]))
            for units in _one_message_each(self.units)
        ]


def _one_message_each(units: Sequence[Unit]) -> list[list[Unit]]:
    found: list[list[Unit]] = []
    for unit in units:
        before = found[-1][-1] if found else None
        if before is not None and before.role == unit.role == "tool" and follows(before, unit):
            found[-1].append(unit)
        else:
            found.append([unit])
    return found


def _id(unit: Unit) -> str:
    slot = unit.slots[0]
    return slot.message.id or "" if slot.position is None else f"msg_{slot.position}"


def _groups(window: Window) -> list[_Group]:
    return [_Group(tuple(units)) for units in groups_of(window)]


#: How much a group counts.
_Size = Callable[[_Group], int]


def _estimated(text: str) -> int:
    return max(1, len(text) // 4)


def _tokens_of(window: Window, tokenizer: str) -> _Size:
    """The tokens of a group; none is counted at two requests."""
    count = _estimated if tokenizer == "characters" else lambda text: window.count(user(text))
    before: dict[tuple[int, int], tuple[tuple[Unit, ...], int]]
    before = window.scratch.get(_tokens_of, {})
    now: dict[tuple[int, int], tuple[tuple[Unit, ...], int]] = {}
    window.scratch[_tokens_of] = now

    def size(group: _Group) -> int:
        if group.made is not None:
            return sum(count(their.serialized()) for their in group.theirs)
        key = (id(group.units[0]), len(group.units))
        if key not in now:
            known = before.get(key)
            if known is None or known[0] != group.units:
                known = (group.units, sum(count(their.serialized()) for their in group.theirs))
            now[key] = known
        return now[key][1]

    return size


class _Loose(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True


class _Compaction(_Loose):
    @abstractmethod
    def left(self, groups: list[_Group], window: Window) -> list[_Group]:
        """The groups that stay, and texts made of some."""
        raise NotImplementedError

    def revise(self, window: Window) -> Revision:
        left = self.left(_groups(window), window)
        kept = {id(unit) for group in left if group.made is None for unit in group.units}
        made = {id(group.units[0]): group.made for group in left if group.made is not None}
        evict = tuple(unit for unit in window.units if id(unit) not in kept)
        if not evict:
            return KEEP
        insert: list[Insert] = []
        before: Unit | None = None
        for unit in window.units_backwards:
            if id(unit) in kept:
                before = unit
            text = made.get(id(unit))
            if text is not None:
                insert.append(Insert(text, before))
        return Revision(evict=evict, insert=tuple(reversed(insert)), reason="compaction")


def _collapsed(groups: list[_Group], keep: int) -> list[_Group]:
    """With a text in the place of all groups of calls but the newest."""
    calls = [id(group) for group in groups if group.has_calls]
    old = set(calls[: max(0, len(calls) - keep)])
    return [_Group(g.units, _text_of(g)) if id(g) in old else g for g in groups]


def _text_of(group: _Group) -> Message:
    messages = [unit.slots[0].message for unit in group.units]
    names = {call.id: call.name for m in messages for call in m.tool_calls if call.id}
    results = []
    for message in messages:
        if message.role == "tool":
            name = names.get(message.tool_call_id or "")
            results.append(f"{name}: {message.text}".strip() if name else message.text.strip())
    label = "; ".join(results) if results else "no results"
    room = _MOST_CHARS - len("[Tool results: ]")
    if len(label) > room:
        label = label[: room - len(_CUT)].rstrip() + _CUT
    return Message(
        "assistant",
        (Text(f"[Tool results: {label}]"),),
        generated=False,
        id=f"tool_summary_group_{_id(group.units[0])}",
    )


def _minimum(groups: Sequence[_Group]) -> set[int]:
    """The group without which nothing would be left."""
    others = [group for group in groups if not group.is_instruction]
    return {id(group) for group in (others or groups)[-1:]}


def _shrunk(
    groups: list[_Group], target: int, size: _Size, stays: Callable[[_Group], bool]
) -> list[_Group]:
    """Without the oldest, until the rest is small enough."""
    total = sum(map(size, groups))
    left: list[_Group] = []
    for group in groups:
        if total <= target or stays(group):
            left.append(group)
        else:
            total -= size(group)
    return left


def _check_tokenizer(name: str, tokenizer: str) -> None:
    if tokenizer not in _TOKENIZERS:
        raise PolicyError(
            f"{name}: tokenizer must be {' or '.join(_TOKENIZERS)}, not {tokenizer!r}"
        )


@dataclass(frozen=True, repr=False)
class AgentFrameworkCollapse(_Compaction):
    """Microsoft Agent Framework 1.23 ``ToolResultCompactionStrategy``."""

    keep_last_tool_call_groups: Annotated[int, Bounds(0)] = 1

    def left(self, groups: list[_Group], window: Window) -> list[_Group]:
        return _collapsed(groups, self.keep_last_tool_call_groups)


@dataclass(frozen=True, repr=False)
class AgentFrameworkFitContext(_Compaction):
    """Microsoft Agent Framework 1.23 ``ContextWindowCompactionStrategy``.

    Over one share of the room for input old calls become texts, over a second one the oldest
    groups leave.
    """

    max_context_window_tokens: Annotated[int, Bounds(1)]
    _: KW_ONLY
    max_output_tokens: Annotated[int, Bounds(0)]
    tokenizer: str = "characters"
    tool_eviction_threshold: Annotated[float, Bounds(0, 1)] = 0.5
    truncation_threshold: Annotated[float, Bounds(0, 1)] = 0.8
    keep_last_tool_call_groups: Annotated[int, Bounds(0)] = 4
    preserve_first_user_group: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_tokenizer("AgentFrameworkFitContext", self.tokenizer)
        if not 0 < self.tool_eviction_threshold <= self.truncation_threshold:
            raise PolicyError(
                "AgentFrameworkFitContext: tool_eviction_threshold must be above 0 and at most "
                f"truncation_threshold, {self.truncation_threshold}, not "
                f"{self.tool_eviction_threshold}"
            )
        if self._share(self.tool_eviction_threshold) < 1:
            raise PolicyError(
                "AgentFrameworkFitContext: no token is left for input: "
                f"max_context_window_tokens is {self.max_context_window_tokens:,}, "
                f"max_output_tokens {self.max_output_tokens:,}. Give it a larger window"
            )

    def _share(self, threshold: float) -> int:
        return int((self.max_context_window_tokens - self.max_output_tokens) * threshold)

    def left(self, groups: list[_Group], window: Window) -> list[_Group]:
        size = _tokens_of(window, self.tokenizer)
        enough = self._share(self.tool_eviction_threshold)
        if sum(map(size, groups)) > enough:
            groups = _collapsed(groups, self.keep_last_tool_call_groups)
        if sum(map(size, groups)) <= self._share(self.truncation_threshold):
            return groups
        protected = _minimum(groups) | {id(g) for g in groups if g.is_instruction}
        if self.preserve_first_user_group:
            first = (id(group) for group in groups if group.units[0].role == "user")
            protected |= set(list(first)[:1])
        return _shrunk(groups, enough, size, lambda group: id(group) in protected)


@dataclass(frozen=True, repr=False)
class AgentFrameworkFitBudget(_Compaction):
    """Microsoft Agent Framework 1.23 ``TokenBudgetComposedStrategy``.

    Old calls become texts, the newest groups stay, each where it is asked for and as long as
    there are too many tokens; then the oldest groups leave, and at last system messages.
    """

    token_budget: Annotated[int, Bounds(0)]
    _: KW_ONLY
    keep_last_tool_call_groups: Annotated[int, Bounds(0)] | None = None
    keep_last_groups: Annotated[int, Bounds(1)] | None = None
    tokenizer: str = "characters"
    early_stop: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_tokenizer("AgentFrameworkFitBudget", self.tokenizer)

    def left(self, groups: list[_Group], window: Window) -> list[_Group]:
        size = _tokens_of(window, self.tokenizer)
        budget = self.token_budget
        if sum(map(size, groups)) <= budget:
            return groups
        if self.keep_last_tool_call_groups is not None:
            groups = _collapsed(groups, self.keep_last_tool_call_groups)
        if self.keep_last_groups is not None and (
            not self.early_stop or sum(map(size, groups)) > budget
        ):
            others = [group for group in groups if not group.is_instruction]
            kept = {id(group) for group in others[-self.keep_last_groups :]}
            groups = [group for group in groups if group.is_instruction or id(group) in kept]
        minimum = _minimum(groups)
        groups = _shrunk(groups, budget, size, lambda g: g.is_instruction or id(g) in minimum)
        return _shrunk(groups, budget, size, lambda g: not g.is_instruction or id(g) in minimum)


@dataclass(frozen=True, repr=False)
class AgentFrameworkSummarize(_Loose):
    """Microsoft Agent Framework 1.23 ``SummarizationStrategy``."""

    summarizer: Summarizer
    _: KW_ONLY
    target_count: Annotated[int, Bounds(1)] = 4
    threshold: Annotated[int, Bounds(0)] = 2
    prompt: str = ""
    max_summary_input_tokens: Annotated[int, Bounds(1)] | None = 8_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_summarizer("AgentFrameworkSummarize", self.summarizer)

    def revise(self, window: Window) -> Revision:
        most = self.target_count + self.threshold
        if len(window) <= most:
            return KEEP
        groups = [group for group in _groups(window) if not group.is_instruction]
        sizes = [len(group.theirs) for group in groups]
        if sum(sizes) <= most:
            return KEEP
        kept = 0
        while groups and kept < self.target_count:
            groups.pop()
            kept += sizes.pop()
        told = self._told(groups)
        if not told:
            return KEEP
        return Revision(
            fold=tuple(unit for group in told for unit in group.units),
            by=self.summarizer,
            form=SummaryForm(instructions=self.prompt),
            reason=f"over {most:,} messages",
        )

    def _told(self, groups: list[_Group]) -> list[_Group]:
        """Those that the summarizer is shown: whole groups, as many as fit.

        One that alone is too long is passed over, as long as nothing has been taken.
        """
        if self.max_summary_input_tokens is None:
            return groups
        told: list[_Group] = []
        tokens = _estimated(self.prompt) if self.prompt else _PROMPT_TOKENS
        lines = 0
        for group in groups:
            theirs = group.theirs
            text = "\n".join(_line(lines + 1 + at, their) for at, their in enumerate(theirs))
            more = _estimated(text) + (1 if told else 0)
            if tokens + more <= self.max_summary_input_tokens:
                told.append(group)
                tokens += more
                lines += len(theirs)
            elif told:
                break
        return told


def _line(number: int, their: _Their) -> str:
    """A message as the framework shows it to its summarizer."""
    parts: list[str] = []
    for message in their.messages:
        if message.role == "tool":
            failed = "error: " if message.is_error else ""
            at = f" [call_id={message.tool_call_id}]" if message.tool_call_id else ""
            parts.append(f"function_result: {failed}{message.text or 'text content'}{at}")
            continue
        if message.text:
            parts.append(message.text)
        for call in message.tool_calls:
            at = f" [call_id={call.id}]" if call.id else ""
            parts.append(f"function_call {call.name}({call.arguments}){at}")
    kinds = (str(content["type"]) for m in their.messages for content in _contents(m))
    return f"{number}. [{their.role}] {'; '.join(parts) or ', '.join(kinds)}"


def agent_framework_tool_result(keep_last_tool_call_groups: int = 1) -> Preset:
    """Agent Framework's tool results: old calls with their results become an assistant's text.

    It holds the results, up to 4,096 characters, and the tools' names; arguments and what
    the assistant said beside its calls are lost. Everything else stays, system messages too.
    The prefix breaks at the oldest call with each new one.

    Parameters
    ----------
    keep_last_tool_call_groups : int

    Examples
    --------
    >>> agent_framework_tool_result(3)
    agent_framework_tool_result(3)
    """
    return named_preset(
        agent_framework_tool_result,
        AgentFrameworkCollapse(keep_last_tool_call_groups),
        _RULES,
        keep_last_tool_call_groups=keep_last_tool_call_groups,
    )


def agent_framework_summarization(
    summarizer: Summarizer,
    *,
    target_count: int = 4,
    threshold: int = 2,
    prompt: str = "",
    max_summary_input_tokens: int | None = 8_000,
) -> Preset:
    """Agent Framework's summarization: the oldest groups become an assistant's message.

    Calls stay with their results, system messages stay. An earlier summary is summarized
    again. A group that is too long for the summarizer ends what it is shown: where it stands
    behind an earlier summary nothing ever leaves again, and the framework has that summary
    alone summarized at each request, which the preset does not. A failed summary changes
    nothing.

    Parameters
    ----------
    summarizer : Summarizer
    target_count : int
        Messages that stay, system messages not among them, results of one answer as one.
    threshold : int
        So many more may there be before anything leaves.
    prompt : str
        Handed to the summarizer; the framework's own if empty.
    max_summary_input_tokens : int, optional
        What is shown to the summarizer at most, at four characters a token; None for no
        limit.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> agent_framework_summarization(Truncate(400), target_count=8)
    agent_framework_summarization(Truncate(400), target_count=8)
    """
    policy = AgentFrameworkSummarize(
        summarizer,
        target_count=target_count,
        threshold=threshold,
        prompt=prompt,
        max_summary_input_tokens=max_summary_input_tokens,
    )
    return named_preset(
        agent_framework_summarization,
        policy,
        _RULES,
        summarizer=summarizer,
        target_count=target_count,
        threshold=threshold,
        prompt=prompt,
        max_summary_input_tokens=max_summary_input_tokens,
    )


def agent_framework_context_window(
    max_context_window_tokens: int,
    *,
    max_output_tokens: int,
    tokenizer: str = "characters",
    tool_eviction_threshold: float = 0.5,
    truncation_threshold: float = 0.8,
    keep_last_tool_call_groups: int = 4,
    preserve_first_user_group: bool = False,
) -> Preset:
    """Agent Framework's context window: old calls become texts, then the oldest groups leave.

    Calls stay with their results, system messages stay, and so does the newest group,
    whatever its size. The prefix breaks whenever a share is reached; between the two, with
    each new call.

    Parameters
    ----------
    max_context_window_tokens : int
    max_output_tokens : int
        What of it is left for input is what the thresholds are shares of.
    tokenizer : {"characters", "replay"}
        Four characters a token, as the framework estimates, or the replay's counter on the
        same text.
    tool_eviction_threshold, truncation_threshold : float
    keep_last_tool_call_groups : int
    preserve_first_user_group : bool

    Examples
    --------
    >>> agent_framework_context_window(8_000, max_output_tokens=1_000)
    agent_framework_context_window(8_000, max_output_tokens=1_000)
    """
    policy = AgentFrameworkFitContext(
        max_context_window_tokens,
        max_output_tokens=max_output_tokens,
        tokenizer=tokenizer,
        tool_eviction_threshold=tool_eviction_threshold,
        truncation_threshold=truncation_threshold,
        keep_last_tool_call_groups=keep_last_tool_call_groups,
        preserve_first_user_group=preserve_first_user_group,
    )
    return named_preset(
        agent_framework_context_window,
        policy,
        _RULES,
        max_context_window_tokens=max_context_window_tokens,
        max_output_tokens=max_output_tokens,
        tokenizer=tokenizer,
        tool_eviction_threshold=tool_eviction_threshold,
        truncation_threshold=truncation_threshold,
        keep_last_tool_call_groups=keep_last_tool_call_groups,
        preserve_first_user_group=preserve_first_user_group,
    )


def agent_framework_token_budget(
    token_budget: int,
    *,
    keep_last_tool_call_groups: int | None = None,
    keep_last_groups: int | None = None,
    tokenizer: str = "characters",
    early_stop: bool = True,
) -> Preset:
    """Agent Framework's token budget: strategies in turn, then whatever it takes.

    Of the strategies that can be put together there, old calls that become texts and the
    sliding window, in this order. When they are not enough the oldest groups leave, at last
    system messages; the newest group stays, whatever its size. The prefix breaks with each
    message once the budget is used up.

    Parameters
    ----------
    token_budget : int
    keep_last_tool_call_groups : int, optional
        The calls that stay when old ones become texts; without it none become any.
    keep_last_groups : int, optional
        Of the sliding window; without it there is none.
    tokenizer : {"characters", "replay"}
        Four characters a token, or the replay's counter on the same text.
    early_stop : bool
        Whether the second strategy is left out when the first was enough.

    Examples
    --------
    >>> agent_framework_token_budget(8_000, keep_last_tool_call_groups=2)
    agent_framework_token_budget(8_000, keep_last_tool_call_groups=2)
    """
    policy = AgentFrameworkFitBudget(
        token_budget,
        keep_last_tool_call_groups=keep_last_tool_call_groups,
        keep_last_groups=keep_last_groups,
        tokenizer=tokenizer,
        early_stop=early_stop,
    )
    return named_preset(
        agent_framework_token_budget,
        policy,
        _RULES,
        token_budget=token_budget,
        keep_last_tool_call_groups=keep_last_tool_call_groups,
        keep_last_groups=keep_last_groups,
        tokenizer=tokenizer,
        early_stop=early_stop,
    )
