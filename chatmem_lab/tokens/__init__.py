"""Counting tokens: counters, the model table, budgets."""

from chatmem_lab.tokens.counting import COUNT_KINDS, Count, TokenCounter, weakest

__all__ = ["COUNT_KINDS", "Count", "TokenCounter", "weakest"]
