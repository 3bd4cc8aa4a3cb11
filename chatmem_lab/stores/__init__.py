"""Where sessions are kept: append-only, numbered, atomic."""

from chatmem_lab.stores.commit import Change, Commit, Line, Placed
from chatmem_lab.stores.in_memory import MemoryStore
from chatmem_lab.stores.store import Store

__all__ = ["Change", "Commit", "Line", "MemoryStore", "Placed", "Store"]
