"""Where sessions are kept: append-only, numbered, atomic."""

from typing import TYPE_CHECKING

from chatmem_lab.stores.adapter import MessageStore, StoreAdapter
from chatmem_lab.stores.commit import Change, Commit, Line, Placed
from chatmem_lab.stores.in_memory import MemoryStore
from chatmem_lab.stores.line_state import LineState, lines_of, state_of
from chatmem_lab.stores.opening import open_store, parse_ttl
from chatmem_lab.stores.redis import RedisStore
from chatmem_lab.stores.store import Store, Stored, check_version, first_version

if TYPE_CHECKING:
    from chatmem_lab.stores.sql import SQLStore

__all__ = [
    "Change",
    "Commit",
    "Line",
    "LineState",
    "MemoryStore",
    "MessageStore",
    "Placed",
    "RedisStore",
    "SQLStore",
    "Store",
    "StoreAdapter",
    "Stored",
    "check_version",
    "first_version",
    "lines_of",
    "open_store",
    "parse_ttl",
    "state_of",
]


def __getattr__(name: str) -> object:
    # SQLAlchemy takes longer to load than all the rest: only where a database is used.
    if name == "SQLStore":
        from chatmem_lab.stores.sql import SQLStore

        return SQLStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
