"""OpenAI's Agents SDK: what a run sends.

Source: openai-agents 0.24.0, read on 2026-12-01. A user message starts a run, which reads
the session once; what the run itself adds is never cut. It counts items: a text, each call
beside it and each result are one each. The instructions stand apart and stay.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

from chatmem_lab.messages import INSTRUCTION_ROLES, Message, ToolCall
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.chained import chain
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Revision, Slot, SummaryForm, Unit, Window

__all__ = [
    "OpenAIAgentsCompactionFold",
    "OpenAIAgentsOnce",
    "OpenAIAgentsOutputTrim",
    "OpenAIAgentsSessionTail",
    "openai_agents_compaction",
    "openai_agents_session_limit",
    "openai_agents_tool_output_trimmer",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep", set_as="given")


class _Item(NamedTuple):
    """One item of the Responses API: a text, a call or a result."""

    at: int
    role: str
    text: str = ""
    call: ToolCall | None = None
    answers: str = ""

    @property
    def key(self) -> tuple[str, str] | None:
        """What makes it the same item as another; None for texts."""
        if self.call is not None:
            return "call", self.call.id
        return ("result", self.answers) if self.role == "tool" else None


def _items(at: int, message: Message) -> list[_Item]:
    if message.role == "tool":
        return [_Item(at, "tool", message.text, answers=message.tool_call_id or "")]
    items = []
    if message.role == "user" or message.text or not message.tool_calls:
        items.append(_Item(at, message.role, message.text))
    return items + [_Item(at, message.role, call=call) for call in message.tool_calls]


def _run_start(messages: Sequence[Message]) -> int:
    """Where the present run begins: its input is behind, the session's items before it."""
    start, is_running, at = 0, False, 0
    replies = [i for i, m in enumerate(messages) if m.role == "assistant" and m.generated]
    for end in [*replies, len(messages)]:
        begin = at
        if is_running and end > at:
            after = _after_reply(messages, at, end)
            if after is not None:
                is_running = bool(messages[at].tool_calls)
                begin = after
        if not is_running or begin < end:
            users = (i for i in range(begin, end) if messages[i].role == "user")
            start, is_running = next(users, end), True
        at = end
    return start


def _after_reply(messages: Sequence[Message], at: int, end: int) -> int | None:
    """Behind the reply at `at` and the results of its calls; None if they are not all there."""
    behind = at + 1
    while behind < end and messages[behind].role == "tool":
        behind += 1
    called = sorted(call.id for call in messages[at].tool_calls)
    answered = sorted(m.tool_call_id or "" for m in messages[at + 1 : behind])
    return behind if called == answered and len(set(called)) == len(called) else None


def _read(items: list[_Item], limit: int | None) -> list[_Item]:
    """What a run reads of its session: no half of a pair."""
    if limit is not None:
        items = items[-limit:] if limit else []
    answered = {item.answers for item in items if item.role == "tool"}
    items = [item for item in items if item.call is None or item.call.id in answered]
    if limit is not None:
        called = {item.call.id for item in items if item.call is not None}
        items = [item for item in items if item.role != "tool" or item.answers in called]
    return items


def _once(items: list[_Item]) -> list[_Item]:
    """Of several calls, or results, with the same id the newest: a later one takes its place."""
    newest = {item.key: index for index, item in enumerate(items)}
    return [
        item for index, item in enumerate(items) if item.key is None or newest[item.key] == index
    ]


class _View(Policy):
    """What is sent is worked out anew for each request; the session keeps everything."""

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    sees: ClassVar[Literal["window", "history"]] = "history"
    asked_while_open: ClassVar[bool] = True

    @property
    @abstractmethod
    def items_read(self) -> int | None:
        """How many items a run reads of its session, if that is limited."""
        raise NotImplementedError

    @abstractmethod
    def shortened(self, items: Sequence[_Item]) -> dict[int, str]:
        """New texts of results, by their number among `items`."""
        raise NotImplementedError

    def revise(self, window: Window) -> Revision:
        units = [unit for unit in window.units if unit.role not in INSTRUCTION_ROLES]
        messages = [unit.slots[0].message for unit in units]
        start = _run_start(messages)
        by_message = [_items(at, message) for at, message in enumerate(messages)]
        session = [item for items in by_message[:start] for item in items]
        sent = _read(session, self.items_read)
        sent = _once(sent + [item for items in by_message[start:] for item in items])
        texts = self.shortened(sent)
        shown = [
            item._replace(text=texts[number]) if number in texts else item
            for number, item in enumerate(sent)
        ]
        return _revision(units, by_message, shown)


def _revision(
    units: Sequence[Unit], by_message: Sequence[list[_Item]], sent: Sequence[_Item]
) -> Revision:
    """What leaves and changes where of the items of each message only those of `sent` go."""
    parts: dict[int, list[_Item]] = {}
    for item in sent:
        parts.setdefault(item.at, []).append(item)
    evict = tuple(unit for at, unit in enumerate(units) if at not in parts)
    replace: dict[Slot, Message] = {
        units[at].slots[0]: _put_together(units[at].slots[0].message, left)
        for at, left in parts.items()
        if left != by_message[at]
    }
    if not evict and not replace:
        return KEEP
    return Revision(evict=evict, replace=replace, replaced_as="clamp", reason="what the run sends")


def _put_together(message: Message, items: Sequence[_Item]) -> Message:
    """`message` with what is left of its items."""
    if message.role == "tool":
        return message.with_text(items[0].text)
    calls = [item.call for item in items if item.call is not None]
    text = "".join(item.text for item in items)
    parts = message.parts if text else ()
    return Message("assistant", parts, tool_calls=tuple(calls))


@dataclass(frozen=True, repr=False)
class OpenAIAgentsSessionTail(_View):
    """OpenAI Agents SDK 0.24 ``SessionSettings(limit=…)``: a run reads the newest items."""

    limit: Annotated[int, Bounds(0)] | None = None

    @property
    def items_read(self) -> int | None:
        return self.limit

    def shortened(self, items: Sequence[_Item]) -> dict[int, str]:
        return {}


@dataclass(frozen=True, repr=False)
class OpenAIAgentsOutputTrim(_View):
    """OpenAI Agents SDK 0.24 ``ToolOutputTrimmer``: older long results become a preview."""

    recent_turns: Annotated[int, Bounds(1)] = 2
    _: KW_ONLY
    max_output_chars: Annotated[int, Bounds(1)] = 500
    preview_chars: Annotated[int, Bounds(0)] = 200
    trimmable_tools: tuple[str, ...] = ()

    @property
    def items_read(self) -> int | None:
        return None

    def shortened(self, items: Sequence[_Item]) -> dict[int, str]:
        users = [number for number, item in enumerate(items) if item.role == "user"]
        boundary = users[-self.recent_turns] if len(users) >= self.recent_turns else 0
        names = {item.call.id: item.call.name for item in items if item.call is not None}
        texts: dict[int, str] = {}
        for number, item in enumerate(items[:boundary]):
            name = names.get(item.answers, "")
            if item.role != "tool" or (self.trimmable_tools and name not in self.trimmable_tools):
                continue
            preview = self._preview(item.text, name or "unknown_tool")
            if len(item.text) > self.max_output_chars and len(preview) < len(item.text):
                texts[number] = preview
        return texts

    def _preview(self, text: str, name: str) -> str:
        return (
            f"[Trimmed: {name} output — {len(text)} chars → "
            f"{self.preview_chars} char preview]\n{text[: self.preview_chars]}..."
        )


@dataclass(frozen=True, repr=False)
class OpenAIAgentsCompactionFold(Policy):
    """OpenAI Agents SDK 0.24 ``OpenAIResponsesCompactionSession``: a fold behind each run.

    Everything but the user's messages becomes one item behind them.
    """

    summarizer: Summarizer
    _: KW_ONLY
    threshold: Annotated[int, Bounds(1)] = 10

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True

    def revise(self, window: Window) -> Revision:
        newest = window.newest
        if newest is None or newest.role != "assistant" or newest.messages[0].tool_calls:
            return KEEP
        others: list[Unit] = [
            unit
            for unit in window.units
            if unit.role not in INSTRUCTION_ROLES and unit.role != "user"
        ]
        items = sum(len(_items(0, u.slots[0].message)) for u in others if not u.is_made)
        if items < self.threshold:
            return KEEP
        return Revision(
            fold=tuple(others),
            by=self.summarizer,
            form=SummaryForm(place="last"),
            reason=f"{self.threshold:,} items and more that are no user messages",
        )


@dataclass(frozen=True, repr=False)
class OpenAIAgentsOnce(Policy):
    """OpenAI Agents SDK 0.24: of calls, or results, with the same id only the newest is sent."""

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asks: ClassVar[Literal["append", "request"]] = "request"
    asked_while_open: ClassVar[bool] = True

    def revise(self, window: Window) -> Revision:
        units = list(window.units)
        items = [_items(at, unit.slots[0].message) for at, unit in enumerate(units)]
        return _revision(units, items, _once([item for of_one in items for item in of_one]))


def openai_agents_session_limit(limit: int | None = None) -> Preset:
    """OpenAI's Agents SDK: a run begins with the newest items of its session.

    Half of a pair that the limit would leave is dropped, so pairs stay whole; a text whose
    calls are dropped stays. Of calls with the same id only the newest is sent, with its
    result: ids that come again lose what they stood for. What a run adds itself stays until
    the next run; the prefix breaks at the start of each run once the limit is reached.

    Parameters
    ----------
    limit : int, optional
        Items: a text, each call and each result are one each. None, as in the SDK: all.

    Examples
    --------
    >>> openai_agents_session_limit(20)
    openai_agents_session_limit(20)
    """
    return named_preset(
        openai_agents_session_limit, OpenAIAgentsSessionTail(limit), _RULES, limit=limit
    )


def openai_agents_tool_output_trimmer(
    recent_turns: int = 2,
    *,
    max_output_chars: int = 500,
    preview_chars: int = 200,
    trimmable_tools: tuple[str, ...] = (),
) -> Preset:
    """OpenAI's Agents SDK: before the newest turns, long tool results become a preview.

    Pairs and instructions stay. The prefix breaks at each user message, where the results of
    one more turn are cut.

    Parameters
    ----------
    recent_turns : int
        User messages, counted from the end, behind which nothing is cut.
    max_output_chars, preview_chars : int
        Longer results are cut, and to what.
    trimmable_tools : tuple of str
        Only the results of these tools; of all if empty.

    Examples
    --------
    >>> openai_agents_tool_output_trimmer(1)
    openai_agents_tool_output_trimmer(1)
    """
    policy = OpenAIAgentsOutputTrim(
        recent_turns,
        max_output_chars=max_output_chars,
        preview_chars=preview_chars,
        trimmable_tools=trimmable_tools,
    )
    return named_preset(
        openai_agents_tool_output_trimmer,
        policy,
        _RULES,
        recent_turns=recent_turns,
        max_output_chars=max_output_chars,
        preview_chars=preview_chars,
        trimmable_tools=trimmable_tools,
    )


def openai_agents_compaction(summarizer: Summarizer, *, threshold: int = 10) -> Preset:
    """OpenAI's Agents SDK: behind a run all but the user's messages becomes one item.

    The API's item is opaque; here it is the summarizer's text. The user's messages stay
    word for word in front of it, so pairs leave whole. The prefix breaks behind the first
    user message at each compaction. Unlike the preset, the SDK never compacts again once a
    call id has come twice.

    Parameters
    ----------
    summarizer : Summarizer
    threshold : int
        So many items that are no user messages.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> openai_agents_compaction(Truncate(400))
    openai_agents_compaction(Truncate(400))
    """
    return named_preset(
        openai_agents_compaction,
        chain(OpenAIAgentsCompactionFold(summarizer, threshold=threshold), OpenAIAgentsOnce()),
        _RULES,
        summarizer=summarizer,
        threshold=threshold,
    )
