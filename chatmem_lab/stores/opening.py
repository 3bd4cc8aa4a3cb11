"""`open_store`: a store by its URL."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

from chatmem_lab.errors import StoreError
from chatmem_lab.html.text import cut
from chatmem_lab.stores.in_memory import MemoryStore
from chatmem_lab.stores.store import Store

__all__ = ["STORE_VARIABLE", "open_store", "parse_ttl"]

#: The environment variable that names the store where none is given.
STORE_VARIABLE = "CHATMEM_LAB_STORE"

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_TRUE, _FALSE = ("true", "yes", "1", "on"), ("false", "no", "0", "off")


def open_store(url: str | None = None) -> Store:
    """The store that a URL names.

    Parameters
    ----------
    url : str, optional
        ``memory:``, ``sqlite:///chat.db``, ``postgresql://user:password@host/database``,
        ``mysql+pymysql://…`` or ``redis://host:6379/0?ttl=30d&prefix=chat-memory:``. SQL takes
        ``table=…`` behind the question mark; Redis takes ``ttl`` (``30d``, ``12h``, ``90m``,
        ``3600s`` or ``none``; it must be chosen), ``prefix`` and ``sliding``. Without a URL,
        that of the environment variable ``CHATMEM_LAB_STORE``, or ``memory:``.

    Raises
    ------
    StoreError
        For a URL that names no store, or a store that is not there.

    Examples
    --------
    >>> open_store("memory:")
    <MemoryStore, 0 sessions>
    """
    if url is None:
        url = os.environ.get(STORE_VARIABLE, "").strip() or "memory:"
    if not isinstance(url, str):
        raise StoreError(f"a store is named by a URL, a str, not {type(url).__name__}")
    scheme = url.partition(":")[0].lower().partition("+")[0]
    if scheme == "memory":
        return MemoryStore()
    try:
        if "://" in url and scheme in ("redis", "rediss", "unix"):
            return _redis(url)
        if "://" in url and scheme in ("sqlite", "postgresql", "postgres", "mysql", "mariadb"):
            return _sql(scheme + url[len(scheme) :])
    except (ValueError, AttributeError, TypeError):
        # What they say may hold the password.
        raise StoreError(
            f"this {scheme} URL cannot be read: characters such as @ / ? # [ in a name or a "
            "password are written as %40, %2F, %3F, %23, %5B"
        ) from None
    raise StoreError(
        f"a URL that begins with {cut(repr(scheme), 40)} names no store: memory:, "
        "sqlite:///chat.db, postgresql://…, mysql+pymysql://… and redis://…?ttl=30d do"
    )


def parse_ttl(text: str) -> timedelta | None:
    """A lifetime as a URL has it: ``30d``, ``12h``, ``90m``, ``3600s``, or ``none``.

    >>> parse_ttl("30d"), parse_ttl("none")
    (datetime.timedelta(days=30), None)
    """
    if text.strip().lower() == "none":
        return None
    found = re.fullmatch(r"\s*(\d{1,9})\s*([smhd]?)\s*", text.lower())
    if found is None or int(found[1]) == 0:
        raise StoreError(f"ttl is a time such as 30d, 12h, 90m or 3600s, or none, not {text!r}")
    return timedelta(seconds=int(found[1]) * _SECONDS[found[2] or "s"])


def _redis(url: str) -> Store:
    from chatmem_lab.stores.redis import RedisStore

    bare, options = _options(url, {"ttl", "prefix", "sliding"})
    if "ttl" not in options:
        raise StoreError(
            "how long a session lives in Redis must be chosen: add ?ttl=30d to the URL, or "
            "?ttl=none for sessions that stay until they are deleted"
        )
    chosen: dict[str, object] = {"ttl": parse_ttl(options["ttl"])}
    if "prefix" in options:
        chosen["prefix"] = options["prefix"]
    if "sliding" in options:
        if options["sliding"].lower() not in _TRUE + _FALSE:
            raise StoreError(f"sliding is true or false, not {options['sliding']!r}")
        chosen["sliding"] = options["sliding"].lower() in _TRUE
    return RedisStore(bare, **chosen)  # type: ignore[arg-type]


def _sql(url: str) -> Store:
    from chatmem_lab.stores.sql import SQLStore

    bare, options = _options(url, {"table"})
    return SQLStore(bare, options.get("table", "chatmem"))


def _options(url: str, known: set[str]) -> tuple[str, dict[str, str]]:
    """The URL without what is meant for us, and that."""
    parts = urlsplit(url)
    given = parse_qsl(parts.query, keep_blank_values=True)
    ours = {key: value for key, value in given if key in known}
    rest = urlencode([(key, value) for key, value in given if key not in known])
    query = f"?{rest}" if rest else ""
    return url.partition("?")[0] + query, ours
