"""What an addition costs: by store, and as a session grows, beside deleting and inserting all.

    python benchmarks/memory.py [--messages 10000] [--store memory sqlite postgresql redis]

Every store takes the same messages through `ChatMemory` under `MessageWindow(20)`. The other way
is the one of many chat-memory tables: load a session's messages, delete them, insert them all
and the new one, in one transaction, on the same server. The servers are started here;
``--postgres URL`` and ``--redis URL`` measure others, in sessions that are deleted afterwards.
"""

from __future__ import annotations

import argparse
import platform
import sqlite3
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import sqlalchemy as sa

from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import user
from chatmem_lab.policies import MessageWindow
from chatmem_lab.stores import Store, open_store
from chatmem_lab.testing.length_counter import LengthCounter

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from store_writers import KINDS, served

TEXT = "What does the second chapter say of it? " * 5
SAMPLE = 100
SIZES = (100, 1_000, 10_000)


def opened(store: Store, id: str = "benchmark") -> ChatMemory:
    return ChatMemory(MessageWindow(20), id=id, store=store, counter=LengthCounter())


def text_of(number: int) -> str:
    return f"{number} {TEXT}"


def timed(work: Callable[..., object], *arguments: object) -> float:
    start = perf_counter()
    work(*arguments)
    return perf_counter() - start


# --- ours


def print_ours(kind: str, store: Store, messages: int) -> None:
    """The last additions to a long session in turn with the first ones to a new session."""
    long, new = opened(store), opened(store, "benchmark, new")
    early = [timed(long.add_user, text_of(n)) for n in range(messages - SAMPLE)]
    first, last = [], []
    for n in range(SAMPLE):
        last.append(timed(long.add_user, text_of(n)))
        first.append(timed(new.add_user, text_of(n)))
    opening = min(timed(lambda: opened(store).messages) for _ in range(3))
    medians = statistics.median(first), statistics.median(last)
    print(
        f"| {kind} | {messages / sum(early + last):,.0f} | {sum(first) / SAMPLE * 1e3:.3f} | "
        f"{sum(last) / SAMPLE * 1e3:.3f} | {sum(last) / sum(first):.2f} | "
        f"{medians[1] / medians[0]:.2f} | {opening:.2f} |",
        flush=True,
    )
    store.delete("benchmark, new")


# --- deleting and inserting all


class Reinserting:
    """Load all, delete all, insert all and the new one, in one transaction."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._table = sa.Table(
            "benchmark_reinserted",
            sa.MetaData(),
            sa.Column("session", sa.String(80), primary_key=True),
            sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("content", sa.Text, nullable=False),
        )
        self._table.create(engine)

    def fill(self, messages: int) -> None:
        with self._engine.begin() as connection:
            connection.execute(sa.delete(self._table))
            self._insert(connection, [text_of(n) for n in range(messages)])

    def add(self, content: str) -> None:
        table = self._table
        with self._engine.begin() as connection:
            held = connection.scalars(sa.select(table.c.content).order_by(table.c.position)).all()
            connection.execute(sa.delete(table))
            self._insert(connection, [*held, content])

    def drop(self) -> None:
        self._table.drop(self._engine)

    def _insert(self, connection: sa.Connection, contents: list[str]) -> None:
        rows = [{"session": "x", "position": p, "content": c} for p, c in enumerate(contents)]
        connection.execute(sa.insert(self._table), rows)


def print_reinserting(kind: str, url: str, store: Store) -> None:
    """Ten additions at each size, both ways in turn on the same server."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    reinserting = Reinserting(engine)
    try:
        for size in SIZES:
            reinserting.fill(size)
            store.delete("benchmark")
            memory = opened(store)
            memory.add_all([user(text_of(n)) for n in range(size)])
            ours, theirs = [], []
            for n in range(10):
                ours.append(timed(memory.add_user, text_of(n)))
                theirs.append(timed(reinserting.add, text_of(n)))
            mine, other = statistics.median(ours), statistics.median(theirs)
            print(
                f"| {kind} | {size:,} | {mine * 1e3:.2f} | {other * 1e3:.2f} | "
                f"{other / mine:,.1f} |",
                flush=True,
            )
    finally:
        reinserting.drop()
        engine.dispose()


# --- all of it


@contextmanager
def place_of(kind: str, given: argparse.Namespace) -> Iterator[str]:
    url = {"memory": "memory:", "postgresql": given.postgres, "redis": given.redis}.get(kind)
    if url is not None:
        yield url
        return
    with TemporaryDirectory() as folder, served(kind, Path(folder)) as place:
        yield place.url


def main() -> None:
    """Print two tables."""
    kinds = ("memory", *KINDS)
    parser = argparse.ArgumentParser(description="What an addition costs.")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--store", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--postgres", metavar="URL", help="a server that is there")
    parser.add_argument("--redis", metavar="URL", help="a server that is there, with ?ttl=…")
    given = parser.parse_args()
    print("| store | additions a second | ms, first 100 | ms, last 100 | ratio | of medians |"
          " s to open |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in given.store:
        with place_of(kind, given) as url:
            store = open_store(url)
            print_ours(kind, store, given.messages)
            store.delete("benchmark")
    print("\n| database | messages | ms, append | ms, delete and reinsert | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind in given.store:
        if kind in ("sqlite", "postgresql"):
            with place_of(kind, given) as url:
                store = open_store(url)
                print_reinserting(kind, url, store)
                store.delete("benchmark")
    packages = ", ".join(f"{name} {version(name)}" for name in ("SQLAlchemy", "psycopg", "redis"))
    print(f"\nPython {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {packages}")


if __name__ == "__main__":
    main()
