"""The tables of `SQLStore`, and the steps that bring older ones up to date."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.schema import CreateTable

from chatmem_lab.errors import StoreError
from chatmem_lab.html.text import cut

__all__ = ["Tables", "prepare"]

_NAME = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*\.)?[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_NAME = 40

_Text = sa.Text().with_variant(LONGTEXT(charset="utf8mb4"), "mysql", "mariadb")


class Tables:
    """The three tables under one name.

    Parameters
    ----------
    name : str
        ``name`` or ``schema.name``: letters, digits and underscores, at most 40 characters.

    Raises
    ------
    StoreError
        For any other name.

    Examples
    --------
    >>> [table.fullname for table in Tables("app.chat")]
    ['app.chat_schema', 'app.chat_sessions', 'app.chat_commits']
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or len(name) > _LONGEST_NAME or _NAME.fullmatch(name) is None:
            raise StoreError(
                "a table is named by letters, digits and underscores, at most "
                f"{_LONGEST_NAME} of them, with its schema and a dot in front where it has one, "
                f"not {cut(repr(name), 60)}"
            )
        self.name = name
        schema, _, bare = name.rpartition(".")
        metadata = sa.MetaData(schema=schema or None)
        self.schema = sa.Table(
            f"{bare}_schema",
            metadata,
            sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("version", sa.Integer, nullable=False),
        )
        self.sessions = sa.Table(
            f"{bare}_sessions",
            metadata,
            sa.Column("key", sa.CHAR(64), primary_key=True),
            sa.Column("session_id", _Text, nullable=False),
            sa.Column("version", sa.BigInteger, nullable=False),
            sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
            sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        )
        self.commits = sa.Table(
            f"{bare}_commits",
            metadata,
            sa.Column("key", sa.CHAR(64), primary_key=True),
            sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
            sa.Column("body", _Text, nullable=False),
            sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        )

    def __iter__(self) -> Iterator[sa.Table]:
        return iter((self.schema, self.sessions, self.commits))


def _create_tables(connection: sa.Connection, tables: Tables) -> None:
    for table in (tables.sessions, tables.commits):
        connection.execute(CreateTable(table, if_not_exists=True))


#: The first makes version 1 out of an empty database, the second would make version 2 of that.
STEPS: list[Callable[[sa.Connection, Tables], None]] = [_create_tables]


def prepare(engine: sa.Engine, tables: Tables, *, create: bool) -> None:
    """See that the tables are there, of the newest version; make or change them if asked to.

    Raises
    ------
    StoreError
        If they are missing or too old and `create` is False, if a newer version of this
        package made them, or if other tables stand under their names.
    """
    newest = len(STEPS)
    version = _version(engine, tables)
    if version > newest:
        raise StoreError(
            f"the tables {tables.name}_… have schema version {version}, and this version of "
            f"chatmem-lab knows no newer one than {newest}: update it, or use another table name"
        )
    if version == 0:
        _check_shapes(engine, tables, may_miss=True)
    if version < newest:
        if not create:
            raise StoreError(
                f"there are no tables {tables.name}_…, and create=False forbids making them: "
                "open the store once with create=True, or give the right table name"
                if version == 0
                else f"the tables {tables.name}_… have schema version {version}, {newest} is "
                "wanted, and create=False forbids changing them: open the store once with "
                "create=True"
            )
        _migrate(engine, tables)
    _check_shapes(engine, tables, may_miss=False)


def _version(engine: sa.Engine, tables: Tables) -> int:
    """The schema version that is there; 0 for none."""
    if not sa.inspect(engine).has_table(tables.schema.name, tables.schema.schema):
        return 0
    _check_shape(sa.inspect(engine), tables.schema)
    with engine.connect() as connection:
        return connection.scalar(sa.select(tables.schema.c.version)) or 0


def _migrate(engine: sa.Engine, tables: Tables) -> None:
    """Take all steps that are missing; whoever else opens the store now waits for the end."""
    schema = tables.schema
    try:
        with engine.begin() as connection:
            connection.execute(CreateTable(schema, if_not_exists=True))
    except DBAPIError:
        # Two at a time: some databases let the second fail.
        if not sa.inspect(engine).has_table(schema.name, schema.schema):
            raise
    with suppress(IntegrityError), engine.begin() as connection:
        connection.execute(sa.insert(schema).values(id=1, version=0))
    with engine.begin() as connection:
        # A write comes first: it is what makes the others wait.
        connection.execute(sa.update(schema).values(version=schema.c.version))
        version = connection.scalar(sa.select(schema.c.version)) or 0
        for step in STEPS[version:]:
            step(connection, tables)
        connection.execute(sa.update(schema).values(version=max(version, len(STEPS))))


def _check_shapes(engine: sa.Engine, tables: Tables, *, may_miss: bool) -> None:
    inspector = sa.inspect(engine)
    for table in (tables.sessions, tables.commits):
        if inspector.has_table(table.name, table.schema):
            _check_shape(inspector, table)
        elif not may_miss:
            raise StoreError(
                f"the table {table.fullname} is missing beside the others of the store: bring it "
                f"back from a backup, or drop {tables.name}_schema, _sessions and _commits to "
                "begin anew"
            )


def _check_shape(inspector: sa.Inspector, table: sa.Table) -> None:
    columns = {column["name"] for column in inspector.get_columns(table.name, table.schema)}
    key = inspector.get_pk_constraint(table.name, table.schema)["constrained_columns"]
    wanted_columns = [column.name for column in table.columns]
    wanted_key = [column.name for column in table.primary_key]
    if not columns.issuperset(wanted_columns) or set(key) != set(wanted_key):
        raise StoreError(
            f"a table {table.fullname} is there already, and it is none of ours: it has the "
            f"columns {', '.join(sorted(columns))} with the key ({', '.join(key)}), and "
            f"{', '.join(wanted_columns)} with the key ({', '.join(wanted_key)}) are wanted; "
            "use another table name"
        )
