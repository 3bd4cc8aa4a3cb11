"""What the model sees at one step, and what a policy may decide about it."""

from chatmem_lab.window.owned import Journal, OwnedWindow
from chatmem_lab.window.revision import KEEP, Insert, Revision, SummaryForm
from chatmem_lab.window.slot import Slot, State, Unit
from chatmem_lab.window.window import Window

__all__ = [
    "KEEP",
    "Insert",
    "Journal",
    "OwnedWindow",
    "Revision",
    "Slot",
    "State",
    "SummaryForm",
    "Unit",
    "Window",
]
