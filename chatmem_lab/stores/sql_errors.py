"""What a database's error means for who keeps sessions in it, and what to do."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from chatmem_lab.html.text import cut

__all__ = ["explained"]

_GONE = (
    "the server went away; the write is there as a whole or not at all: call again, the store "
    "connects anew"
)
_UNREACHABLE = "start the server, or correct the host, port and database name of the URL"
_READ_ONLY = (
    "the database may only be read: give the process the right to write to it, or open it where "
    "it is writable"
)
_FULL = "make room on the disk and call again; nothing was written"
_LOCKED = (
    "another writer held it for longer than the busy timeout: call again, or add ?timeout=60 "
    "(seconds) to the URL; nothing was written"
)
_NO_TABLES = "the tables are gone: open the store anew with create=True"
_FORBIDDEN = "give the database user the right to read and write these tables"

#: What to do, by the SQLSTATE of PostgreSQL or its first characters.
_BY_STATE = {
    "25006": _READ_ONLY,
    "3F": "make that schema, or use a table name without one",
    "42501": _FORBIDDEN,
    "42P01": _NO_TABLES,
    "53100": _FULL,
    "53300": "the server has no connection left: call again, or let it take more",
    "55P03": "another writer held it for longer than the lock timeout: call again",
    "57014": "the server stopped the statement: call again, or raise its statement_timeout",
    "57P": _GONE,
    "22P05": "the database cannot hold every text: make one with ENCODING 'UTF8'",
    "28": "correct the user and password of the URL",
    "3D": "create that database, or correct its name in the URL",
}

#: What to do, by what the error says.
_BY_WORDS = {
    "database is locked": _LOCKED,
    "readonly database": _READ_ONLY,
    "read-only": _READ_ONLY,
    "is full": _FULL,
    "unable to open database file": (
        "see that its folder is there and that this process may write to it"
    ),
    "not a database": "that file holds something else: give the path of another one",
    "malformed": "the file is damaged: bring it back from a backup",
    "no such table": _NO_TABLES,
    "unknown database": "give the table a name without that schema",
    "authentication failed": "correct the user and password of the URL",
    "no password supplied": "add the password to the URL",
    "does not exist": _UNREACHABLE,
    "invalid connection option": "correct what stands behind the question mark of the URL",
    "server closed the connection": _GONE,
    "terminating connection": _GONE,
    "connection": _UNREACHABLE,
    "resolve": _UNREACHABLE,
}


def explained(error: DBAPIError, *, secret: str | None = None) -> str:
    """What the database said, without `secret`, and what to do about it."""
    # PostgreSQL's first line, without the statement and the row that stand below it.
    primary = getattr(getattr(error.orig, "diag", None), "message_primary", None)
    said = " ".join((primary or str(error.orig)).split())
    if secret:
        said = said.replace(secret, "***")
    return f"{cut(said, 300)}; {_advice(error, said.lower())}"


def _advice(error: DBAPIError, said: str) -> str:
    state = getattr(error.orig, "sqlstate", None) or ""
    for begin, advice in _BY_STATE.items():
        if state.startswith(begin):
            return advice
    if error.connection_invalidated:
        return _GONE
    for words, advice in _BY_WORDS.items():
        if words in said:
            return advice
    return "the write is there as a whole or not at all: mend what the database names, call again"
