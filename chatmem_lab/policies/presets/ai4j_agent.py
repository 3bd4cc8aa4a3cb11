"""AI4J's agent memory and coding session: window, compaction, stubs, projection.

Source: AI4J 2.4 (``ai4j-agent``, ``ai4j-coding``), read. Its agent memory holds items without
rules of their own; a summary stands beside them and is shown as one system message in front.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Image, Message, SummaryOf, Text
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.summarizers import Summarizer
from chatmem_lab.window import KEEP, Insert, Revision, Slot, SummaryForm, Unit, Window

__all__ = [
    "AI4JAgentWindow",
    "AI4JContextProjection",
    "AI4JToolResultStub",
    "AI4JTurnCompaction",
    "ai4j_agent_unbounded",
    "ai4j_agent_window",
    "ai4j_context_projection",
    "ai4j_tool_result_stub",
    "ai4j_turn_compaction",
]

_RULES = Rules(blank="keep", orphan="keep", equal_system="keep", new_system="keep")

#: What the coding session takes an image for, and how many characters for a token.
_IMAGE_CHARS, _CHARS_A_TOKEN = 4_800, 4
#: Its context window less what it reserves for the reply.
_TARGET_TOKENS = 128_000 - 16_384


class _AgentPolicy(Policy):
    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True


@dataclass(frozen=True, repr=False)
class AI4JAgentWindow(_AgentPolicy):
    """AI4J 2.4 ``WindowedMemoryCompressor``: a plain tail, without care for system items."""

    max_items: Annotated[int, Bounds(1)] | None = None
    _: KW_ONLY
    summary: str = ""

    def revise(self, window: Window) -> Revision:
        evict: list[Unit] = []
        if self.max_items is not None:
            items = [unit for unit in window.units if not unit.is_made]
            evict = items[: max(0, len(items) - self.max_items)]
        insert = self._summary_in_front(window, evict)
        if not evict and not insert:
            return KEEP
        why = f"over {self.max_items:,} items" if evict else "the summary beside the items"
        return Revision(evict=tuple(evict), insert=insert, reason=why)

    def _summary_in_front(self, window: Window, evict: list[Unit]) -> tuple[Insert, ...]:
        first = next((unit for unit in window.units if unit not in evict), None)
        if not self.summary.strip() or first is None or first.is_made:
            return ()
        made = Message("system", (Text(self.summary),), summary=SummaryOf(), generated=False)
        return (Insert(made, before=first),)


@dataclass(frozen=True, repr=False)
class AI4JTurnCompaction(_AgentPolicy):
    """AI4J 2.4 ``LlmCompactPolicy``: the cut moves back to the start of its user turn."""

    summarizer: Summarizer
    _: KW_ONLY
    max_items: Annotated[int, Bounds(1)] = 40
    instructions: str = ""

    asks: ClassVar[Literal["append", "request"]] = "request"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(getattr(self.summarizer, "summarize", None)):
            raise PolicyError(
                "AI4JTurnCompaction: summarizer must have a method summarize(request), not "
                f"{self.summarizer!r}: wrap a plain function with summarizer_from(function)"
            )

    def revise(self, window: Window) -> Revision:
        items = [unit for unit in window.units if not unit.is_made]
        cut = len(items) - self.max_items
        if cut <= 0:
            return KEEP
        turn = next((i for i in range(cut, -1, -1) if items[i].role == "user"), cut)
        if turn == 0:
            return KEEP
        made = [unit for unit in window.units if unit.is_made]
        return Revision(
            fold=(*made, *items[:turn]),
            by=self.summarizer,
            form=SummaryForm(role="system", place="front", instructions=self.instructions),
            reason=f"over {self.max_items:,} items",
        )


@dataclass(frozen=True, repr=False)
class AI4JToolResultStub(_AgentPolicy):
    """AI4J 2.4, coding session: older large tool results become a stub with a preview."""

    keep_recent: Annotated[int, Bounds(0)] = 3
    _: KW_ONLY
    max_tokens: Annotated[int, Bounds(0)] = 1_200
    target_tokens: Annotated[int, Bounds(0)] = _TARGET_TOKENS
    preview_chars: Annotated[int, Bounds(0)] = 240

    asks: ClassVar[Literal["append", "request"]] = "request"

    def revise(self, window: Window) -> Revision:
        slots = [slot for unit in window.units for slot in unit.slots]
        if sum(_tokens(slot.message) for slot in slots) <= self.target_tokens:
            return KEEP
        results = [slot for slot in slots if slot.message.role == "tool"]
        older = results[: max(0, len(results) - self.keep_recent)]
        replace = {
            slot: self._stub(slot)
            for slot in older
            if slot.state == "kept" and _tokens(slot.message) > self.max_tokens
        }
        if not replace:
            return KEEP
        return Revision(replace=replace, reason=f"over {self.target_tokens:,} tokens")

    def _stub(self, slot: Slot) -> Message:
        message = slot.message
        preview = message.text[: self.preview_chars]
        return message.with_text(
            f"[result of call {message.tool_call_id} shortened: {len(message.text):,} "
            f"characters, of which the first {len(preview):,}] {preview}"
        )


@dataclass(frozen=True, repr=False)
class AI4JContextProjection(_AgentPolicy):
    """AI4J 2.4 ``DefaultContextProjector``: a view, made anew for each request."""

    max_items: Annotated[int, Bounds(1)] | None = None
    _: KW_ONLY
    max_chars: Annotated[int, Bounds(1)] | None = None
    pinned_prefix_items: Annotated[int, Bounds(0)] = 0

    asks: ClassVar[Literal["append", "request"]] = "request"
    sees: ClassVar[Literal["window", "history"]] = "history"

    def revise(self, window: Window) -> Revision:
        units = list(window.units)
        pinned, others = units[: self.pinned_prefix_items], units[self.pinned_prefix_items :]
        drop = 0
        if self.max_items is not None:
            drop = min(len(others), max(0, len(units) - self.max_items))
        if self.max_chars is not None:
            shown = sum(_chars(u.slots[0].message) for u in (*pinned, *others[drop:]))
            while shown > self.max_chars and drop < len(others):
                shown -= _chars(others[drop].slots[0].message)
                drop += 1
        if not drop:
            return KEEP
        return Revision(evict=tuple(others[:drop]), reason="outside the projected context")


def _chars(message: Message) -> int:
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    images = sum(isinstance(part, Image) for part in message.parts)
    return len(message.text) + calls + images * _IMAGE_CHARS


def _tokens(message: Message) -> int:
    return -(-_chars(message) // _CHARS_A_TOKEN)


def ai4j_agent_window(max_items: int = 20, *, summary: str = "") -> Preset:
    """AI4J's agent window: the newest items, system items cut like any other.

    Parameters
    ----------
    max_items : int
    summary : str
        Stands beside the items, and is shown as a system message in front of them.

    Examples
    --------
    >>> ai4j_agent_window(8)
    ai4j_agent_window(8)
    """
    return named_preset(
        ai4j_agent_window,
        AI4JAgentWindow(max_items, summary=summary),
        _RULES,
        max_items=max_items,
        summary=summary,
    )


def ai4j_agent_unbounded(summary: str = "") -> Preset:
    """AI4J's agent memory without a compressor; `summary` as in `ai4j_agent_window`.

    >>> ai4j_agent_unbounded("Earlier: chose plan B")
    ai4j_agent_unbounded('Earlier: chose plan B')
    """
    return named_preset(
        ai4j_agent_unbounded, AI4JAgentWindow(summary=summary), _RULES, summary=summary
    )


def ai4j_turn_compaction(
    summarizer: Summarizer, *, max_items: int = 40, instructions: str = ""
) -> Preset:
    """AI4J's compaction by turns: before a request, whole turns become a summary in front.

    Over `max_items`, all before the turn that holds the oldest item to keep are summarized;
    without a user message anywhere the cut is where it falls. A turn that alone is too long
    is left as it is. A summarizer that fails changes nothing (there, the items are dropped).

    Parameters
    ----------
    summarizer : Summarizer
    max_items : int
    instructions : str
        Handed to the summarizer. There it is told to answer in JSON: goal, completed,
        pending, decisions, errors, testResults, openQuestions.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> ai4j_turn_compaction(Truncate(400), max_items=30)
    ai4j_turn_compaction(Truncate(400), max_items=30)
    """
    return named_preset(
        ai4j_turn_compaction,
        AI4JTurnCompaction(summarizer, max_items=max_items, instructions=instructions),
        _RULES,
        summarizer=summarizer,
        max_items=max_items,
        instructions=instructions,
    )


def ai4j_tool_result_stub(
    keep_recent: int = 3,
    *,
    max_tokens: int = 1_200,
    target_tokens: int = _TARGET_TOKENS,
    preview_chars: int = 240,
) -> Preset:
    """AI4J's micro-compaction: old large tool results become a stub with a preview.

    Before a request, if the window is over `target_tokens`, all results but the newest
    `keep_recent` that are larger than `max_tokens`. A token is four characters there, an
    image 4,800 characters.

    >>> ai4j_tool_result_stub(2, target_tokens=60_000)
    ai4j_tool_result_stub(2, target_tokens=60_000)
    """
    return named_preset(
        ai4j_tool_result_stub,
        AI4JToolResultStub(
            keep_recent,
            max_tokens=max_tokens,
            target_tokens=target_tokens,
            preview_chars=preview_chars,
        ),
        _RULES,
        keep_recent=keep_recent,
        max_tokens=max_tokens,
        target_tokens=target_tokens,
        preview_chars=preview_chars,
    )


def ai4j_context_projection(
    max_items: int | None = None,
    *,
    max_chars: int | None = None,
    pinned_prefix_items: int = 0,
) -> Preset:
    """AI4J's context projection: the first items and the newest, anew for each request.

    Nothing leaves the memory: what one request did not show, the next may.

    >>> ai4j_context_projection(40, pinned_prefix_items=1)
    ai4j_context_projection(40, pinned_prefix_items=1)
    """
    return named_preset(
        ai4j_context_projection,
        AI4JContextProjection(
            max_items, max_chars=max_chars, pinned_prefix_items=pinned_prefix_items
        ),
        _RULES,
        max_items=max_items,
        max_chars=max_chars,
        pinned_prefix_items=pinned_prefix_items,
    )
