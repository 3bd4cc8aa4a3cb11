"""Policies: what the model still sees when a conversation outgrows its window."""

from chatmem_lab.policies import presets
from chatmem_lab.policies.amounts import Amount, Messages, Share, Tokens, Turns
from chatmem_lab.policies.append_segments import AppendSegments
from chatmem_lab.policies.as_recorded import AsRecorded
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.chained import Chain, chain
from chatmem_lab.policies.clamp_tool_results import ClampToolResults
from chatmem_lab.policies.clear_tool_results import ClearToolResults
from chatmem_lab.policies.drop_reasoning import DropReasoning
from chatmem_lab.policies.drop_repeated_calls import DropRepeatedCalls
from chatmem_lab.policies.drop_superseded_reads import DropSupersededReads
from chatmem_lab.policies.every import Every
from chatmem_lab.policies.first_that_fits import FirstThatFits
from chatmem_lab.policies.function_policy import FunctionPolicy, policy_from
from chatmem_lab.policies.head_and_tail import HeadAndTail
from chatmem_lab.policies.head_summary_tail import Halve, HeadSummaryTail
from chatmem_lab.policies.importance_window import ImportanceWindow
from chatmem_lab.policies.inject import Inject
from chatmem_lab.policies.keep_all import KeepAll
from chatmem_lab.policies.mask_observations import MaskObservations
from chatmem_lab.policies.message_window import MessageWindow
from chatmem_lab.policies.pinned import Pinned
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.recall import Recall
from chatmem_lab.policies.relevance_window import RelevanceWindow
from chatmem_lab.policies.rules import Preset, Rules, split_preset
from chatmem_lab.policies.structured_summary import StructuredSummary
from chatmem_lab.policies.summarize import Summarize
from chatmem_lab.policies.summarize_in_place import SummarizeInPlace
from chatmem_lab.policies.token_window import TokenWindow
from chatmem_lab.policies.turn_window import TurnWindow
from chatmem_lab.policies.user_messages_and_summary import UserMessagesAndSummary

__all__ = [
    "Amount",
    "AppendSegments",
    "AsRecorded",
    "Bounds",
    "Chain",
    "ClampToolResults",
    "ClearToolResults",
    "DropReasoning",
    "DropRepeatedCalls",
    "DropSupersededReads",
    "Every",
    "FirstThatFits",
    "FunctionPolicy",
    "Halve",
    "HeadAndTail",
    "HeadSummaryTail",
    "ImportanceWindow",
    "Inject",
    "KeepAll",
    "MaskObservations",
    "MessageWindow",
    "Messages",
    "Pinned",
    "Policy",
    "Preset",
    "Recall",
    "RelevanceWindow",
    "Rules",
    "Share",
    "StructuredSummary",
    "Summarize",
    "SummarizeInPlace",
    "TokenWindow",
    "Tokens",
    "TurnWindow",
    "Turns",
    "UserMessagesAndSummary",
    "chain",
    "policy_from",
    "presets",
    "split_preset",
]


def __getattr__(name: str) -> object:
    """A policy whose file is in this package is part of it, without being listed above."""
    from chatmem_lab.policies.registry import policies_by_name

    for cls in policies_by_name().values():
        if cls.__name__ == name:
            return cls
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
