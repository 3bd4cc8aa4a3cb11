"""`SQLStore`: sessions in SQLite, PostgreSQL or MySQL."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from types import TracebackType
from typing import Any, NoReturn

import sqlalchemy as sa
from sqlalchemy import exc

from chatmem_lab.errors import ConflictError, StoreError
from chatmem_lab.html.text import cut
from chatmem_lab.stores.commit import Commit
from chatmem_lab.stores.commit_json import decode_commit, encode_commit
from chatmem_lab.stores.sql_errors import explained
from chatmem_lab.stores.sql_tables import Tables, prepare
from chatmem_lab.stores.store import Stored, check_version, first_version

__all__ = ["SQLStore"]

#: Seconds that a connection waits for another writer, or for the server.
_BUSY_TIMEOUT, _CONNECT_TIMEOUT = 30, 10

#: What to install for a driver whose package has another name.
_PACKAGES = {"psycopg": '"chatmem-lab[postgres]"', "MySQLdb": "mysqlclient"}

_URLS = "sqlite:///chat.db, postgresql://user:password@host/database or mysql+pymysql://…"


class SQLStore:
    """Keeps sessions in an SQL database: SQLite, PostgreSQL, or MySQL (not tested there).

    A write is one transaction, and costs the same however long the session is. Threads may
    share a store, and a forked process may go on with one on a server. A file of SQLite is in
    WAL mode, and a writer waits 30 seconds for another one (``?timeout=…`` in the URL).

    Parameters
    ----------
    url_or_engine : str, sqlalchemy.URL or sqlalchemy.Engine
        ``sqlite:///chat.db``, ``postgresql://user:password@host/database`` (by psycopg 3), or
        any other URL of SQLAlchemy. An engine is used as it is, and `close` leaves it open.
    table : str
        The tables ``{table}_sessions``, ``{table}_commits`` and ``{table}_schema`` are used;
        a schema may stand in front (``app.chatmem``).
    create : bool
        Whether tables that are missing may be made, and those of an older version changed.

    Raises
    ------
    StoreError
        For whatever keeps the database from being used, with what to do about it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from chatmem_lab.memory import ChatMemory
    >>> with TemporaryDirectory() as folder:
    ...     with SQLStore(f"sqlite:///{folder}/chat.db") as store:
    ...         ChatMemory(id="ann", store=store).add_user("hi")
    ...     with SQLStore(f"sqlite:///{folder}/chat.db") as store:
    ...         [message.text for message in ChatMemory(id="ann", store=store).messages]
    ['hi']
    """

    def __init__(
        self,
        url_or_engine: str | sa.URL | sa.Engine,
        table: str = "chatmem",
        *,
        create: bool = True,
    ) -> None:
        self._tables = Tables(table)
        self._owns_engine = not isinstance(url_or_engine, sa.Engine)
        self._engine = (
            url_or_engine if isinstance(url_or_engine, sa.Engine) else _engine(url_or_engine)
        )
        _check_engine(self._engine)
        if self._engine.dialect.name == "postgresql":
            self._engine = self._engine.execution_options(isolation_level="READ COMMITTED")
        self._process = os.getpid()
        self._is_closed = False
        try:
            with self._explaining():
                _check_transactions(self._engine)
                prepare(self._engine, self._tables, create=create)
        except BaseException:
            self.close()
            raise

    # --- reading

    def version(self, session_id: str) -> int:
        """The number of the session's newest commit; 0 if there is none."""
        sessions = self._tables.sessions
        with self._transaction() as connection:
            found = connection.scalar(
                sa.select(sessions.c.version).where(sessions.c.key == _key(session_id))
            )
        return found or 0

    def read(self, session_id: str, *, after: int = 0) -> Stored:
        """The version, and the commits with higher numbers than `after`, as of one moment.

        Raises
        ------
        StoreError
            If a row was broken or removed by others; the session and the number are named.
        """
        sessions, commits = self._tables.sessions, self._tables.commits
        newer = sa.and_(commits.c.key == sessions.c.key, commits.c.number > after)
        # One statement sees one moment, whatever the isolation level.
        query = (
            sa.select(sessions.c.version, commits.c.number, commits.c.body)
            .select_from(sessions.outerjoin(commits, newer))
            .where(sessions.c.key == _key(session_id))
            .order_by(commits.c.number)
        )
        with self._transaction() as connection:
            rows = connection.execute(query).all()
        if not rows:
            return Stored(0)
        version: int = rows[0].version
        found = [(row.number, row.body) for row in rows if row.number is not None]
        _check_numbers(session_id, version, after, [number for number, _ in found])
        return Stored(
            version, tuple(decode_commit(session_id, number, body) for number, body in found)
        )

    def sessions(self) -> Sequence[str]:
        """The ids of all sessions that there are, sorted."""
        with self._transaction() as connection:
            ids = connection.scalars(sa.select(self._tables.sessions.c.session_id)).all()
        return sorted(map(_unescaped, ids))

    # --- writing

    def append(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits`, or none; the new version.

        Raises
        ------
        ConflictError
            If the session's version is not `version`: another writer was there first.
        """
        return self._write(session_id, commits, version, keep=True)

    def replace(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits` and erase all that were there before; the new version.

        Raises
        ------
        ConflictError
            If the session's version is not `version`.
        """
        return self._write(session_id, commits, version, keep=False)

    def _write(
        self, session_id: str, commits: Sequence[Commit], version: int, *, keep: bool
    ) -> int:
        if not commits:
            check_version(session_id, wanted=version, found=self.version(session_id))
            return version
        key, table = _key(session_id), self._tables.commits
        bodies = [encode_commit(session_id, commit).decode() for commit in commits]
        new = version + len(bodies) if version else first_version(len(bodies))
        now = datetime.now(UTC)
        rows = [
            {"key": key, "number": number, "body": body, "created_at": now}
            for number, body in enumerate(bodies, new - len(bodies) + 1)
        ]
        with self._transaction() as connection:
            is_first = self._is_first(connection, session_id, version, new, now)
            if is_first:
                if version and not keep:
                    connection.execute(sa.delete(table).where(table.c.key == key))
                connection.execute(sa.insert(table), rows)
            else:
                connection.rollback()
        if not is_first:
            self._refuse(session_id, version)
        return new

    def _is_first(
        self, connection: sa.Connection, session_id: str, version: int, new: int, now: datetime
    ) -> bool:
        """Move the session on to version `new`; False where it is not at `version`."""
        sessions, key = self._tables.sessions, _key(session_id)
        if version:
            moved = connection.execute(
                sa.update(sessions)
                .where(sessions.c.key == key, sessions.c.version == version)
                .values(version=new, updated_at=now)
            )
            return moved.rowcount == 1
        try:
            connection.execute(
                sa.insert(sessions).values(
                    key=key,
                    session_id=_escaped(session_id),
                    version=new,
                    created_at=now,
                    updated_at=now,
                )
            )
        except exc.IntegrityError:
            return False
        return True

    def _refuse(self, session_id: str, version: int) -> NoReturn:
        check_version(session_id, wanted=version, found=self.version(session_id))
        raise ConflictError(
            f"session {cut(repr(session_id), 80)} was changed by another writer just now: read "
            "it again and repeat"
        )

    def delete(self, session_id: str) -> bool:
        """Erase the session for good; whether there was one."""
        sessions, commits, key = self._tables.sessions, self._tables.commits, _key(session_id)
        with self._transaction() as connection:
            # The session first, as writers do: they wait for each other and not in a ring.
            gone = connection.execute(sa.delete(sessions).where(sessions.c.key == key))
            connection.execute(sa.delete(commits).where(commits.c.key == key))
        return gone.rowcount > 0

    # --- the connection

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        if self._is_closed:
            raise StoreError(f"{self!r} is closed: make a new store")
        if self._process != os.getpid():
            # A fork shares the sockets with its parent, which goes on using them.
            self._engine.dispose(close=False)
            self._process = os.getpid()
        with self._explaining(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except exc.DBAPIError as error:
            # Its own text would show the statement's parameters: whole messages.
            said = explained(error, secret=self._engine.url.password)
            raise StoreError(f"{self!r}: {said}") from error.orig
        except exc.TimeoutError as error:
            raise StoreError(
                f"{self!r}: all connections are in use, and none became free in time: use fewer "
                "threads, or an engine with a larger pool"
            ) from error

    def close(self) -> None:
        """Close all connections; an engine that was handed in stays open."""
        self._is_closed = True
        if self._owns_engine:
            self._engine.dispose()

    def __enter__(self) -> SQLStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a SQLStore is not pickled or copied, since it holds connections: make one from the "
            "URL in each process"
        )

    def __repr__(self) -> str:
        return f"SQLStore({_shown(self._engine.url)!r}, table={self._tables.name!r})"


# --- ids


def _key(session_id: str) -> str:
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()


#: What no database keeps, and what marks it.
_UNKEPT = re.compile("[\0\\\\\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:\\|u([0-9a-f]{4}))")


def _escaped(session_id: str) -> str:
    """The id as text that every database keeps, to be read by people."""
    return _UNKEPT.sub(
        lambda found: r"\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", session_id
    )


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", text)


def _check_numbers(session_id: str, version: int, after: int, numbers: Sequence[int]) -> None:
    """Refuse a session that misses commits: they are numbered up to the version, without a gap."""
    wanted = range(version - len(numbers) + 1, version + 1)
    held = set(numbers)
    missing = [number for number in wanted if number not in held]
    if missing or (after < version and not numbers):
        raise StoreError(
            f"session {cut(repr(session_id), 80)}, commit {missing[0] if missing else version} "
            "is missing: rows were removed by hand; bring them back from a backup, or delete "
            "the session"
        )


# --- engines


def _engine(given: str | sa.URL) -> sa.Engine:
    url = _url(given)
    options: dict[str, Any] = {"pool_pre_ping": True, "hide_parameters": True}
    is_sqlite = url.get_backend_name() == "sqlite"
    if is_sqlite:
        _check_is_file(url)
    patience = ("timeout", _BUSY_TIMEOUT) if is_sqlite else ("connect_timeout", _CONNECT_TIMEOUT)
    if patience[0] not in url.query:
        options["connect_args"] = dict([patience])
    try:
        engine = sa.create_engine(url, **options)
    except exc.NoSuchModuleError:
        raise StoreError(
            f"{url.drivername!r} is no kind of database that is known here: write {_URLS}"
        ) from None
    except ModuleNotFoundError as error:
        raise StoreError(
            f"{url.drivername} needs the package {error.name}, which is not installed: "
            f"pip install {_PACKAGES.get(error.name or '', error.name)}"
        ) from error
    except (exc.ArgumentError, TypeError, ValueError) as error:
        raise StoreError(f"{_shown(url)} cannot be used: {error}") from None
    if is_sqlite:
        sa.event.listen(engine, "connect", _use_wal)
    return engine


def _url(given: str | sa.URL) -> sa.URL:
    try:
        url = sa.make_url(given)
    except (exc.ArgumentError, ValueError):
        # What was given may hold a password.
        raise StoreError(f"the store's URL cannot be read: write {_URLS}") from None
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    return url


def _check_is_file(url: sa.URL) -> None:
    database = url.database or ":memory:"
    if (
        ":memory:" in database
        or "mode=memory" in database
        or "memory" in url.query.get("mode", "")
    ):
        raise StoreError(
            "each connection would have an SQLite database in memory of its own: give a file "
            "(sqlite:///chat.db), or use MemoryStore"
        )


def _check_engine(engine: sa.Engine) -> None:
    if engine.dialect.is_async:
        raise StoreError(
            f"{engine.dialect.driver} is an asynchronous driver, and the store's calls are "
            "plain ones: use sqlite, postgresql+psycopg or mysql+pymysql"
        )
    if engine.dialect.name == "sqlite":
        _check_is_file(engine.url)


def _check_transactions(engine: sa.Engine) -> None:
    """Refuse an engine whose every statement is a transaction: writes would not be whole."""
    with engine.begin() as connection:
        level: str | None = connection.get_isolation_level()
        if engine.dialect.name == "sqlite":
            # SQLAlchemy does not say; a user's own BEGIN would have begun a transaction by now.
            bare: Any = connection.connection.dbapi_connection
            has_begun = bare.isolation_level is not None or bare.in_transaction
            level = None if has_begun else "AUTOCOMMIT"
        if level == "AUTOCOMMIT":
            raise StoreError(
                "the engine is in AUTOCOMMIT mode, in which a write of several rows can be torn: "
                "give one with transactions"
            )


def _use_wal(connection: Any, record: object) -> None:
    # Where another process is at it, or the file may only be read, its mode stays as it is.
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA journal_mode=WAL")


def _shown(url: sa.URL) -> str:
    """The URL without its password, and without values that may hold one."""
    hidden = {name: "***" for name in url.query if name not in ("timeout", "sslmode")}
    return url.update_query_dict(hidden).render_as_string(hide_password=True)
