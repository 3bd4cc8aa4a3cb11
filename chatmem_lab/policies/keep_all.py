"""`KeepAll`: nothing leaves."""

from __future__ import annotations

from dataclasses import dataclass

from chatmem_lab.policies.policy import Policy
from chatmem_lab.window import KEEP, Revision, Window

__all__ = ["KeepAll"]


@dataclass(frozen=True, repr=False)
class KeepAll(Policy):
    """Keep every message: the baseline of every comparison.

    Examples
    --------
    >>> KeepAll()
    KeepAll()
    """

    def revise(self, window: Window) -> Revision:
        return KEEP
