"""What a Redis server's failures and finds mean, in words that say what to do."""

from __future__ import annotations

import re

from chatmem_lab.html.text import cut

__all__ = ["advice", "held"]

#: What a failure's class and text hold, and what it means; the first that fits.
_ADVICE = (
    ("Authentication required|NOAUTH", "it wants a password: give one, with its user if any"),
    ("without any password", "it has no password for this user: give none"),
    ("AuthenticationError|WRONGPASS", "it refuses this user or password: correct them"),
    (
        "NoPermission|NOPERM|can't run this command|can't access",
        "this user may not do that: allow it the scripting, hash, key and SCAN commands on keys "
        "with this prefix",
    ),
    ("ReadOnly|READONLY", "it is a read-only replica: give the primary's address"),
    (
        "OutOfMemory|OOM",
        "its memory is full: raise its maxmemory, delete sessions, or choose a shorter ttl",
    ),
    ("MISCONF", "it cannot save to its disk and takes no writes: see its log, make room there"),
    ("BusyLoading|LOADING", "it is still loading its data: try again in a moment"),
    ("BUSY", "another program's script keeps it busy: try again, or end that script"),
    (
        "MovedError|AskError|Cluster|CLUSTERDOWN",
        "it is part of a cluster: a server of its own is wanted",
    ),
    ("MaxConnections|max number of clients", "too many connections: close some, or allow more"),
    (
        "TimeoutError",
        "it did not answer in time: see whether it is there and not overloaded; what was being "
        "written may be stored",
    ),
    ("ConnectionError", "no connection: start it, or correct the address"),
)


def held(status: bytes, what: bytes = b"") -> str:
    """What is under a key that is no session of this store, and what to do."""
    text = cut(what.decode(errors="replace"), 80)
    if status == b"foreign":
        return f"another program's {text}: choose another prefix, or remove the key"
    if status == b"other":
        return f"session {text!r} of a store with another prefix: choose another prefix"
    if status == b"format":
        return f"a session in format {text}, not 1: a newer chatmem_lab wrote it, upgrade this one"
    return "a session whose parts do not fit together: restore it from a backup, or remove the key"


def advice(error: Exception) -> str:
    """What a failure of the server means, and what to do."""
    said = f"{type(error).__name__} {error}"
    for pattern, meaning in _ADVICE:
        if re.search(pattern, said):
            return f"{meaning} ({cut(str(error), 120)})"
    return cut(said, 200)
