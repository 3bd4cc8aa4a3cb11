"""`RedisStore`: sessions on a Redis server, each in one hash, so that it expires as a whole."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from chatmem_lab.errors import StoreError
from chatmem_lab.html.text import cut
from chatmem_lab.stores.commit import Commit
from chatmem_lab.stores.commit_json import decode_commit, encode_commit
from chatmem_lab.stores.redis_errors import advice, held
from chatmem_lab.stores.redis_scripts import DELETE, READ, WRITE
from chatmem_lab.stores.store import Stored, check_version, first_version

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["RedisStore"]

_T = TypeVar("_T")

_LOG = logging.getLogger(__name__)

#: Seconds for a connection, and for each part of an answer; a URL may say others.
_TIMEOUTS = {"socket_connect_timeout": 5.0, "socket_timeout": 10.0}

#: More than any version: nothing is newer.
_NEVER = 2**53


class RedisStore:
    """Keeps sessions on a Redis server, for many processes; each lives as long as `ttl` says.

    A session is one hash under `prefix` and its id, so it expires as a whole; an expired
    session is an empty one. Whatever else is under such a key is left alone and named in an
    error. A server that fails is a `StoreError`, never a silent fall-back; the store works
    again when the server does.

    Parameters
    ----------
    url : str, optional
        ``redis://user:password@host:6379/0``, ``rediss://…`` or ``unix://…``, instead of
        host, port, username, password and db.
    host, port, username, password, db : optional
        A blank password, or user, is none; a password without a user is used.
    prefix : str
        Begins every key; stores with different prefixes share nothing.
    ttl : timedelta, int or None
        How long a session lives, in seconds if it is a number; None: until it is deleted.
    sliding : bool
        True: every read and write of a session begins its time anew. False: it ends `ttl`
        after its first write.

    Raises
    ------
    StoreError
        If a parameter cannot be used, or no such server answers.

    Examples
    --------
    >>> RedisStore(port=1, ttl=timedelta(days=30))
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.StoreError: Redis at localhost:1/0: no connection: start it, or correct ...
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        host: str = "localhost",
        port: int = 6379,
        username: str | None = None,
        password: str | None = None,
        db: int = 0,
        prefix: str = "chat-memory:",
        ttl: timedelta | int | None,
        sliding: bool = True,
    ) -> None:
        if not isinstance(prefix, str):
            raise StoreError(f"prefix is text, not {type(prefix).__name__}")
        self.prefix = prefix
        self.ttl = _checked_ttl(ttl)
        self.sliding = bool(sliding)
        milliseconds = "" if self.ttl is None else str(self.ttl // timedelta(milliseconds=1))
        self._expiry = (milliseconds, "1" if self.sliding else "0")
        self._is_closed = False
        parts = (host, port, _unless_blank(username), _unless_blank(password), db)
        self._client, self._place = _client(url, *parts)
        self._scripts = {
            source: self._client.register_script(source) for source in (READ, WRITE, DELETE)
        }
        try:
            self._tried(lambda again: self._client.ping())
        except TypeError as error:
            raise StoreError(f"{self._place}: an option of the URL is unknown: {error}") from None
        _LOG.info("sessions are kept in %s", self._where())

    def version(self, session_id: str) -> int:
        """The number of the session's newest commit; 0 if there is none."""
        return self.read(session_id, after=_NEVER).version

    def read(self, session_id: str, *, after: int = 0) -> Stored:
        """The version, and the commits with higher numbers than `after`."""
        version, *bodies = self._run(READ, session_id, after)
        first = int(version) - len(bodies) + 1
        commits = (
            decode_commit(session_id, first + i, body or b"") for i, body in enumerate(bodies)
        )
        return Stored(int(version), tuple(commits))

    def append(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits`, or none; the new version."""
        return self._write(session_id, commits, version, keep=True)

    def replace(self, session_id: str, commits: Sequence[Commit], *, version: int) -> int:
        """Append all of `commits` and erase all that were there before; the new version."""
        return self._write(session_id, commits, version, keep=False)

    def delete(self, session_id: str) -> bool:
        """Erase the session for good; whether there was one."""
        (erased,) = self._run(DELETE, session_id)
        return bool(erased)

    def sessions(self) -> Sequence[str]:
        """The ids of all sessions that there are, sorted; their time does not begin anew."""
        return self._tried(lambda again: sorted(self._found()))

    def close(self) -> None:
        """Close the connections; the store is not used again."""
        self._is_closed = True
        self._client.connection_pool.disconnect()

    def __enter__(self) -> RedisStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a RedisStore is not pickled or copied, since it holds connections: make one from "
            "the URL in each process"
        )

    def __repr__(self) -> str:
        return f"<RedisStore, {self._where()}>"

    def _where(self) -> str:
        lifetime = "no expiry"
        if self.ttl is not None:
            begun = "the last use" if self.sliding else "the first write"
            lifetime = f"expiry {str(self.ttl).removesuffix(', 0:00:00')} after {begun}"
        return f"{self._place}, prefix {self.prefix!r}, {lifetime}"

    def _write(
        self, session_id: str, commits: Sequence[Commit], version: int, *, keep: bool
    ) -> int:
        if not commits:
            check_version(session_id, wanted=version, found=self.version(session_id))
            return version
        new = version + len(commits) if version else first_version(len(commits))
        bodies = [encode_commit(session_id, commit) for commit in commits]
        self._run(WRITE, session_id, version, new, int(keep), *bodies)
        return new

    def _run(self, source: str, session_id: str, *arguments: Any) -> list[Any]:
        """What a script answers behind its "done"; any other answer is an error."""
        try:
            id = session_id.encode()
        except UnicodeEncodeError as error:
            raise StoreError(
                "an id is text without halves of surrogate pairs, not "
                f"{cut(ascii(session_id), 80)}"
            ) from error
        key = self.prefix.encode() + id

        def run(again: bool) -> Any:
            given = [id, *self._expiry, int(again), *arguments]
            return self._scripts[source](keys=[key], args=given)

        status, *answer = self._tried(run)
        if status == b"done":
            return list(answer)
        if status == b"conflict":
            check_version(session_id, wanted=arguments[0], found=int(answer[0]))
        raise StoreError(
            f"{self._place} holds {held(status, *answer)} under the key "
            f"{cut(repr(key.decode()), 80)}; nothing was changed"
        )

    def _tried(self, call: Callable[[bool], _T]) -> _T:
        """`call`, once more if the connection was gone: it may be from before a restart."""
        from redis.exceptions import ConnectionError, RedisError

        if self._is_closed:
            raise StoreError(f"{self!r} is closed: make a new store")
        try:
            try:
                return call(False)
            except ConnectionError:
                return call(True)
        except RedisError as error:
            raise StoreError(f"{self._place}: {advice(error)}") from error

    def _found(self) -> set[str]:
        from redis.exceptions import ResponseError

        prefix = self.prefix.encode()
        pattern = re.sub(rb"([\\*?\[\]])", rb"\\\1", prefix) + b"*"
        ids, cursor = set(), None
        while cursor != 0:
            cursor, keys = self._client.scan(cursor or 0, match=pattern, count=1_000)
            with self._client.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.hmget(key, "format", "id")
                answers = pipeline.execute(raise_on_error=False)
            for key, answer in zip(keys, answers):
                if isinstance(answer, ResponseError) and "WRONGTYPE" in str(answer):
                    continue
                if isinstance(answer, Exception):
                    raise answer
                if answer[0] is not None and answer[1] == key[len(prefix) :]:
                    ids.add(answer[1].decode(errors="replace"))
        return ids


def _unless_blank(text: str | None) -> str | None:
    return text if text and text.strip() else None


def _checked_ttl(ttl: object) -> timedelta | None:
    if ttl is None:
        return None
    wanted = "ttl is a timedelta, whole seconds, or None for sessions that do not expire"
    if type(ttl) is int:
        try:
            ttl = timedelta(seconds=ttl)
        except OverflowError:
            raise StoreError(f"{wanted}; {cut(str(ttl), 30)} seconds are too many") from None
    if not isinstance(ttl, timedelta):
        raise StoreError(f"{wanted}, not {cut(repr(ttl), 80)}")
    if ttl < timedelta(milliseconds=1):
        raise StoreError(f"{wanted}, and at least a millisecond long, not {ttl}")
    return ttl


def _client(
    url: str | None,
    host: str,
    port: int,
    username: str | None,
    password: str | None,
    db: int,
) -> tuple[Redis, str]:
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ModuleNotFoundError as error:
        raise StoreError(
            "RedisStore needs the package redis, which is not installed: "
            'pip install "chatmem-lab[redis]"'
        ) from error
    # A write must not be sent again behind our back: it would meet itself, as a conflict.
    options: dict[str, Any] = {**_TIMEOUTS, "retry": Retry(NoBackoff(), 0), "protocol": 2}
    if url is None:
        options.update(host=host, port=port, username=username, password=password, db=db)
        client = redis.Redis(**options)
    elif (host, port, username, password, db) != ("localhost", 6379, None, None, 0):
        raise StoreError(
            "a URL says all of it: give url, or host, port, username, password and db, not both"
        )
    else:
        try:
            client = redis.Redis.from_url(url, **options)
        except (ValueError, TypeError, AttributeError):
            # Their text may hold a part of the password.
            raise StoreError(
                "this URL cannot be used: redis://user:password@host:6379/0, rediss://… or "
                "unix://… is wanted, with %-escapes in user and password"
            ) from None
    known = client.connection_pool.connection_kwargs
    known["decode_responses"] = False
    address = known.get("path") or f"{known.get('host', 'localhost')}:{known.get('port', 6379)}"
    return client, f"Redis at {address}/{known.get('db', 0)}"
