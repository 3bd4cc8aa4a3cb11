"""Policies: what the model still sees when a conversation outgrows its window."""

from chatmem_lab.policies.amounts import Amount, Messages, Share, Tokens, Turns
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.chained import Chain, chain
from chatmem_lab.policies.clear_tool_results import ClearToolResults
from chatmem_lab.policies.function_policy import FunctionPolicy, policy_from
from chatmem_lab.policies.keep_all import KeepAll
from chatmem_lab.policies.message_window import MessageWindow
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.rules import Preset, Rules, split_preset
from chatmem_lab.policies.summarize import Summarize
from chatmem_lab.policies.token_window import TokenWindow
from chatmem_lab.policies.turn_window import TurnWindow

__all__ = [
    "Amount",
    "Bounds",
    "Chain",
    "ClearToolResults",
    "FunctionPolicy",
    "KeepAll",
    "MessageWindow",
    "Messages",
    "Policy",
    "Preset",
    "Rules",
    "Share",
    "Summarize",
    "TokenWindow",
    "Tokens",
    "TurnWindow",
    "Turns",
    "chain",
    "policy_from",
    "split_preset",
]
