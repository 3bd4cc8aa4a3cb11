"""Agents and providers whose memory is not a Python object that could be run beside ours.

Each is approximate: put together from our own policies after the document or the source that
its docstring names, looked at on 2026-12-01, and never compared with the system itself. All
are strict: pairs stay whole, the system message stays, whatever the system does.
"""

from __future__ import annotations

from typing import Any

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Tokens, Turns
from chatmem_lab.policies.append_segments import AppendSegments
from chatmem_lab.policies.chained import chain
from chatmem_lab.policies.clear_tool_results import ClearToolResults
from chatmem_lab.policies.drop_reasoning import DropReasoning
from chatmem_lab.policies.head_and_tail import HeadAndTail
from chatmem_lab.policies.head_summary_tail import Halve
from chatmem_lab.policies.mask_observations import MaskObservations
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import OWN_RULES, Preset
from chatmem_lab.policies.summarize import Summarize
from chatmem_lab.policies.token_window import TokenWindow
from chatmem_lab.policies.turn_window import TurnWindow
from chatmem_lab.policies.user_messages_and_summary import UserMessagesAndSummary
from chatmem_lab.summarizers import Summarizer

__all__ = [
    "aider_chat_history",
    "anthropic_compaction",
    "anthropic_context_editing",
    "cline_compaction",
    "codex_compaction",
    "gemini_cli_compression",
    "google_adk_compaction",
    "google_adk_context_filter",
    "haystack_sliding_window",
    "haystack_summarization",
    "letta_sliding_window",
    "openhands_amortized_forgetting",
    "openhands_observation_masking",
    "openhands_recent_events",
    "openhands_summarizing",
    "swe_agent_last_observations",
]


def _share(name: str, context_tokens: int, share: float) -> int:
    if type(context_tokens) is not int or context_tokens < 16:
        raise PolicyError(
            f"{name}: context_tokens must be a whole number, at least 16, not {context_tokens!r}"
        )
    return max(1, int(context_tokens * share))


def anthropic_context_editing(
    trigger: int = 100_000,
    *,
    keep: int = 3,
    clear_at_least: int | None = None,
    exclude_tools: tuple[str, ...] = (),
    clear_tool_inputs: bool = False,
    keep_thinking_turns: int = 1,
) -> Preset:
    """Anthropic's context editing: old tool results and old thinking are cleared.

    Approximate: documentation of ``clear_tool_uses_20250919`` and ``clear_thinking_20251015``,
    2026-12-01. There the server edits what it is sent, anew for each request; here what was
    cleared stays so.

    Parameters
    ----------
    trigger : int
        Tokens of the window.
    keep, clear_at_least, exclude_tools, clear_tool_inputs
        Of the tool results.
    keep_thinking_turns : int

    Examples
    --------
    >>> anthropic_context_editing(30_000, clear_at_least=5_000)
    anthropic_context_editing(30_000, clear_at_least=5_000)
    """
    results = ClearToolResults(
        keep,
        trigger=Tokens(trigger),
        at_least=None if clear_at_least is None else Tokens(clear_at_least),
        exclude=exclude_tools,
        clear_arguments=clear_tool_inputs,
    )
    return named_preset(
        anthropic_context_editing,
        chain(DropReasoning(Turns(keep_thinking_turns)), results),
        OWN_RULES,
        trigger=trigger,
        keep=keep,
        clear_at_least=clear_at_least,
        exclude_tools=exclude_tools,
        clear_tool_inputs=clear_tool_inputs,
        keep_thinking_turns=keep_thinking_turns,
    )


def anthropic_compaction(
    summarizer: Summarizer, *, trigger: int = 150_000, instructions: str = ""
) -> Preset:
    """Anthropic's compaction: over the trigger all but the newest unit becomes one summary.

    Approximate: documentation of ``compact_20260112``, 2026-12-01.

    Parameters
    ----------
    summarizer : Summarizer
    trigger : int
        Tokens of the messages.
    instructions : str

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> anthropic_compaction(Truncate(900), trigger=50_000)
    anthropic_compaction(Truncate(900), trigger=50_000)
    """
    return named_preset(
        anthropic_compaction,
        Summarize(summarizer, trigger=Tokens(trigger), keep=Tokens(0), instructions=instructions),
        OWN_RULES,
        summarizer=summarizer,
        trigger=trigger,
        instructions=instructions,
    )


def google_adk_compaction(
    summarizer: Summarizer, *, compaction_interval: int, overlap_size: int
) -> Preset:
    """Google ADK's event compaction: every so many invocations become a summary of their own.

    Approximate: source of google-adk 2.13, ``EventsCompactionConfig``, 2026-12-01. An
    invocation is a turn here; there the turns of the overlap are summarized a second time.

    Parameters
    ----------
    summarizer : Summarizer
    compaction_interval, overlap_size : int
        Turns; neither has a default there.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> google_adk_compaction(Truncate(900), compaction_interval=3, overlap_size=1)
    google_adk_compaction(Truncate(900), compaction_interval=3, overlap_size=1)
    """
    policy = AppendSegments(
        summarizer, segment=Turns(compaction_interval), keep=Turns(overlap_size)
    )
    return named_preset(
        google_adk_compaction,
        policy,
        OWN_RULES,
        summarizer=summarizer,
        compaction_interval=compaction_interval,
        overlap_size=overlap_size,
    )


def google_adk_context_filter(num_invocations_to_keep: int) -> Preset:
    """Google ADK's context filter: the latest invocations.

    Approximate: source of google-adk 2.13, ``ContextFilterPlugin``, 2026-12-01.

    Parameters
    ----------
    num_invocations_to_keep : int
        Turns.

    Examples
    --------
    >>> google_adk_context_filter(4)
    google_adk_context_filter(4)
    """
    return named_preset(
        google_adk_context_filter,
        TurnWindow(num_invocations_to_keep),
        OWN_RULES,
        num_invocations_to_keep=num_invocations_to_keep,
    )


def haystack_sliding_window(context_tokens: int, *, high: float = 0.7, low: float = 0.4) -> Preset:
    """Haystack's compaction hook with its sliding window: from seven tenths down to four.

    Approximate: source of haystack-ai 3.4, ``CompactionHook``, 2026-12-01. The latest user
    message stays.

    Parameters
    ----------
    context_tokens : int
        The model's context window.
    high, low : float
        Shares of it.

    Examples
    --------
    >>> haystack_sliding_window(32_000)
    haystack_sliding_window(32_000)
    """
    name = "haystack_sliding_window"
    policy = TokenWindow(
        _share(name, context_tokens, high), low=_share(name, context_tokens, low), pin_user=True
    )
    return named_preset(
        haystack_sliding_window,
        policy,
        OWN_RULES,
        context_tokens=context_tokens,
        high=high,
        low=low,
    )


def haystack_summarization(
    summarizer: Summarizer, *, context_tokens: int, high: float = 0.7, low: float = 0.4
) -> Preset:
    """Haystack's compaction hook with a summary: from seven tenths down to four.

    Approximate: source of haystack-ai 3.4, ``CompactionHook``, 2026-12-01.

    Parameters
    ----------
    summarizer : Summarizer
    context_tokens : int
    high, low : float
        Shares of it.

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> haystack_summarization(Truncate(900), context_tokens=32_000)
    haystack_summarization(Truncate(900), context_tokens=32_000)
    """
    name = "haystack_summarization"
    policy = Summarize(
        summarizer,
        trigger=Tokens(_share(name, context_tokens, high)),
        keep=Tokens(_share(name, context_tokens, low)),
    )
    return named_preset(
        haystack_summarization,
        policy,
        OWN_RULES,
        summarizer=summarizer,
        context_tokens=context_tokens,
        high=high,
        low=low,
    )


def openhands_summarizing(
    summarizer: Summarizer, *, max_size: int = 240, keep_first: int = 2
) -> Preset:
    """OpenHands' summarizing condenser: over 240 events the first stay, the rest is halved.

    Approximate: source of its software agent SDK 1.58, ``LLMSummarizingCondenser``, 2026-12-01.
    An event is a message here.

    Parameters
    ----------
    summarizer : Summarizer
    max_size, keep_first : int

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> openhands_summarizing(Truncate(900), max_size=80)
    openhands_summarizing(Truncate(900), max_size=80)
    """
    return named_preset(
        openhands_summarizing,
        Halve(summarizer, max_messages=max_size, keep_first=keep_first),
        OWN_RULES,
        summarizer=summarizer,
        max_size=max_size,
        keep_first=keep_first,
    )


def openhands_observation_masking(attention_window: int = 100) -> Preset:
    """OpenHands' observation masking: results older than the newest say how long they were.

    Approximate: documentation of ``ObservationMaskingCondenser`` (V0), 2026-12-01. Its window
    counts events; here it counts results.

    Parameters
    ----------
    attention_window : int

    Examples
    --------
    >>> openhands_observation_masking(20)
    openhands_observation_masking(20)
    """
    return named_preset(
        openhands_observation_masking,
        MaskObservations(attention_window, keep_first=False),
        OWN_RULES,
        attention_window=attention_window,
    )


def openhands_recent_events(max_events: int = 100, *, keep_first: int = 1) -> Preset:
    """OpenHands' recent events: the first and the newest.

    Approximate: documentation of ``RecentEventsCondenser`` (V0), 2026-12-01. An event is a
    message here.

    Parameters
    ----------
    max_events, keep_first : int

    Examples
    --------
    >>> openhands_recent_events(40)
    openhands_recent_events(40)
    """
    return named_preset(
        openhands_recent_events,
        HeadAndTail(keep_first, tail=max_events - keep_first),
        OWN_RULES,
        max_events=max_events,
        keep_first=keep_first,
    )


def openhands_amortized_forgetting(max_size: int = 100, *, keep_first: int = 0) -> Preset:
    """OpenHands' amortized forgetting: over its size, half of it is forgotten at once.

    Approximate: documentation of ``AmortizedForgettingCondenser`` (V0), 2026-12-01. An event
    is a message here.

    Parameters
    ----------
    max_size, keep_first : int

    Examples
    --------
    >>> openhands_amortized_forgetting(40, keep_first=1)
    openhands_amortized_forgetting(40, keep_first=1)
    """
    tail = max_size - keep_first
    return named_preset(
        openhands_amortized_forgetting,
        HeadAndTail(keep_first, tail=tail, low=max(1, max_size // 2 - keep_first)),
        OWN_RULES,
        max_size=max_size,
        keep_first=keep_first,
    )


def swe_agent_last_observations(n: int = 5, *, polling: int = 1) -> Preset:
    """SWE-agent's last observations: older ones say how many lines they had.

    Approximate: source of ``LastNObservations`` as of mid-2026, looked at on 2026-12-01. An
    observation is a tool result here, and one that is no longer than that line stays.

    Parameters
    ----------
    n : int
        Five in its paper.
    polling : int
        The cut moves on once in so many observations.

    Examples
    --------
    >>> swe_agent_last_observations(polling=10)
    swe_agent_last_observations(5, polling=10)
    """
    return named_preset(
        swe_agent_last_observations,
        MaskObservations(n, batch=polling),
        OWN_RULES,
        n=n,
        polling=polling,
    )


def aider_chat_history(summarizer: Summarizer, *, context_tokens: int = 128_000) -> Preset:
    """Aider's chat history: over a sixteenth of the context window the older half is summarized.

    Approximate: source of its ``ChatSummary`` as of mid-2026, looked at on 2026-12-01. At least
    1,024 and at most 8,192 tokens; the summary is a user message.

    Parameters
    ----------
    summarizer : Summarizer
    context_tokens : int

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> aider_chat_history(Truncate(900), context_tokens=32_000)
    aider_chat_history(Truncate(900), context_tokens=32_000)
    """
    limit = min(max(_share("aider_chat_history", context_tokens, 1 / 16), 1_024), 8_192)
    return named_preset(
        aider_chat_history,
        Summarize(summarizer, trigger=Tokens(limit), keep=Tokens(limit // 2), role="user"),
        OWN_RULES,
        summarizer=summarizer,
        context_tokens=context_tokens,
    )


def codex_compaction(
    summarizer: Summarizer, *, context_tokens: int = 272_000, user_tokens: int = 20_000
) -> Preset:
    """Codex CLI's compaction: the user's newest messages, and one summary of all else.

    Approximate: published accounts of its source, 2026-12-01. At nine tenths of the context
    window.

    Parameters
    ----------
    summarizer : Summarizer
    context_tokens, user_tokens : int

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> codex_compaction(Truncate(900), context_tokens=32_000)
    codex_compaction(Truncate(900), context_tokens=32_000)
    """
    trigger = Tokens(_share("codex_compaction", context_tokens, 0.9))
    return named_preset(
        codex_compaction,
        UserMessagesAndSummary(summarizer, trigger=trigger, user_tokens=user_tokens),
        OWN_RULES,
        summarizer=summarizer,
        context_tokens=context_tokens,
        user_tokens=user_tokens,
    )


def gemini_cli_compression(summarizer: Summarizer, *, context_tokens: int = 1_048_576) -> Preset:
    """Gemini CLI's compression: over half of the context window the older 70 % is summarized.

    Approximate: source as of mid-2026, looked at on 2026-12-01. Its masking of tool outputs
    is not in it.

    Parameters
    ----------
    summarizer : Summarizer
    context_tokens : int

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> gemini_cli_compression(Truncate(900), context_tokens=32_000)
    gemini_cli_compression(Truncate(900), context_tokens=32_000)
    """
    trigger = _share("gemini_cli_compression", context_tokens, 0.5)
    policy = Summarize(
        summarizer, trigger=Tokens(trigger), keep=Tokens(int(trigger * 0.3)), role="user"
    )
    return named_preset(
        gemini_cli_compression,
        policy,
        OWN_RULES,
        summarizer=summarizer,
        context_tokens=context_tokens,
    )


def cline_compaction(summarizer: Summarizer, *, context_tokens: int = 200_000) -> Preset:
    """Cline's compaction: near the end of the context window all but the newest 20,000 tokens.

    Approximate: source as of mid-2026, looked at on 2026-12-01. At nine tenths of nine tenths;
    the summary has at most 4,096 tokens. Its cut of tool results is not in it.

    Parameters
    ----------
    summarizer : Summarizer
    context_tokens : int

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> cline_compaction(Truncate(900), context_tokens=64_000)
    cline_compaction(Truncate(900), context_tokens=64_000)
    """
    trigger = _share("cline_compaction", context_tokens, 0.81)
    policy = Summarize(
        summarizer,
        trigger=Tokens(trigger),
        keep=Tokens(min(20_000, trigger // 2)),
        max_tokens=4_096,
    )
    return named_preset(
        cline_compaction,
        policy,
        OWN_RULES,
        summarizer=summarizer,
        context_tokens=context_tokens,
    )


def letta_sliding_window(summarizer: Summarizer, *, context_tokens: int = 32_000) -> Preset:
    """Letta's sliding window: where the context window is full, the oldest 30 % is summarized.

    Approximate: documentation, 2026-12-01. There it evicts ten percent more until it fits.

    Parameters
    ----------
    summarizer : Summarizer
    context_tokens : int

    Examples
    --------
    >>> from chatmem_lab.summarizers import Truncate
    >>> letta_sliding_window(Truncate(900), context_tokens=8_000)
    letta_sliding_window(Truncate(900), context_tokens=8_000)
    """
    keep = Tokens(_share("letta_sliding_window", context_tokens, 0.7))
    given: dict[str, Any] = {"summarizer": summarizer, "context_tokens": context_tokens}
    return named_preset(
        letta_sliding_window,
        Summarize(summarizer, trigger=Tokens(context_tokens), keep=keep),
        OWN_RULES,
        **given,
    )
