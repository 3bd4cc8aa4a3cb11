"""The one owner of a window: asks the policy, checks, applies, records."""

from chatmem_lab.keeper.event import Event
from chatmem_lab.keeper.folding import Folding
from chatmem_lab.keeper.keeper import Keeper

__all__ = ["Event", "Folding", "Keeper"]
