"""``chatmem-lab sessions``: what an operator does with the sessions of a product."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chatmem_lab.cli.plain_text import columns_of, fitted, printable
from chatmem_lab.cli.telling import told_in_one_line

if TYPE_CHECKING:
    from chatmem_lab.messages import Conversation, Message
    from chatmem_lab.server.session_desk import SessionDesk
    from chatmem_lab.window import Window

__all__ = ["sessions_app"]

sessions_app = typer.Typer(
    help="Look at the sessions that a store holds, export, clear and delete them.",
    no_args_is_help=True,
)

Id = Annotated[str, typer.Argument(help="The session's id; after -- if it begins with a dash.")]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar="CHATMEM_LAB_STORE",
        help="Such as sqlite:///chat.db or redis://host:6379/0?ttl=30d.",
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--policy",
        "-p",
        help="The product's policy; without it the window is shown as the store holds it.",
    ),
]
Model = Annotated[
    str | None, typer.Option(help="Whose tokens are counted; without it they are estimates.")
]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]

#: The widest id in a table, and the narrowest room for a text.
WIDEST_ID, NARROWEST_TEXT = 40, 20


@sessions_app.command("list")
def list_sessions(store: StoreUrl = None, as_json: Json = False) -> None:
    """List the sessions: id, messages, time of the last write (UTC)."""
    with told_in_one_line(), _desk(store) as desk:
        from chatmem_lab.html.numbers import noun

        if as_json:
            import msgspec

            rows = msgspec.to_builtins(list(desk.overviews()))
            typer.echo(json.dumps(rows, indent=2))
            return
        ids = desk.ids()
        room = min(max(shutil.get_terminal_size().columns - 30, NARROWEST_TEXT), WIDEST_ID)
        width = min(max([columns_of(printable(id)) for id in ids] + [2]), room)
        if ids:
            typer.echo(f"{fitted('id', width)}  messages  updated")
        for row in desk.overviews():
            shown = fitted(printable(row.id), width)
            typer.echo(f"{shown}  {row.messages:>8,}  {_time(row.updated_at)}")
        typer.echo(f"\n{len(ids):,} {noun(len(ids), 'session')}" if ids else "no sessions")


@sessions_app.command()
def show(
    id: Id,
    store: StoreUrl = None,
    branches: Annotated[
        bool, typer.Option("--branches", help="Also the lines that were left.")
    ] = False,
    policy: Recipe = None,
    model: Model = None,
) -> None:
    """Show a session's messages, and which of them the model sees now."""
    with told_in_one_line(), _desk(store, policy, model) as desk:
        desk.check(id)
        memory = desk.memories.peek(id)
        window = memory.window
        typer.echo(f"{printable(memory.id)}: {_totals(len(memory), window)}\n")
        for line in _lines(memory.history, window):
            typer.echo(line)
        typer.echo("\n* in the window  ~ in it, cleared or cut  + made, such as a summary")
        for branch in memory.branches if branches else ():
            typer.echo(f"\nbranch {printable(branch.id)}\n")
            for line in _lines(branch.messages):
                typer.echo(line)


@sessions_app.command()
def info(
    id: Id,
    store: StoreUrl = None,
    as_json: Json = False,
    policy: Recipe = None,
    model: Model = None,
) -> None:
    """Say what there is to say of a session, in numbers."""
    with told_in_one_line(), _desk(store, policy, model) as desk:
        numbers = desk.info(id)
        if as_json:
            typer.echo(json.dumps(numbers, indent=2))
            return
        for name, value in numbers.items():
            if value is not None:
                typer.echo(f"{name.replace('_', ' '):<16}{printable(str(value))}")


@sessions_app.command()
def clear(
    id: Id,
    store: StoreUrl = None,
    keep_system: Annotated[
        bool, typer.Option("--keep-system", help="Keep the system messages.")
    ] = False,
) -> None:
    """Begin a session anew; what was there stays as a branch."""
    with told_in_one_line(), _desk(store) as desk:
        desk.check(id)
        desk.memories.clear(id, keep_system=keep_system)
        typer.echo(f"{printable(id)}: cleared; what was there is a branch")


@sessions_app.command()
def delete(
    id: Id,
    store: StoreUrl = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Erase a session for good, its branches too."""
    with told_in_one_line(), _desk(store) as desk:
        desk.check(id)
        if not yes and not typer.confirm(f"Erase session {printable(id)} for good?", err=True):
            typer.echo("chatmem-lab: nothing was erased", err=True)
            raise typer.Exit(1)
        answer = desk.delete(id)
        typer.echo(f"{printable(id)}: {answer['note']}")


@sessions_app.command()
def export(
    id: Id,
    store: StoreUrl = None,
    out: Annotated[
        Path | None, typer.Option(help="The file; without it, standard output.")
    ] = None,
    branches: Annotated[
        str, typer.Option(help='"active", or "all" for the lines that were left, too.')
    ] = "active",
    model: Annotated[
        str | None, typer.Option(help="Whose model the session was for; the store knows none.")
    ] = None,
) -> None:
    """Write a session as JSONL, which cml.read and the other commands read."""
    with told_in_one_line(), _desk(store, model=model) as desk:
        from chatmem_lab.corpora import write
        from chatmem_lab.html.numbers import plural
        from chatmem_lab.transcripts import encode_conversation

        desk.check(id)
        if branches == "all":
            lines: Sequence[Conversation] = desk.memories.conversation(id, "all")
        else:
            lines = [desk.memories.conversation(id, branches)]  # type: ignore[call-overload]
        if out is None:
            for line in lines:
                sys.stdout.buffer.write(encode_conversation(line))
            return
        messages = sum(len(line.messages) for line in lines)
        written = write(lines, out)
        typer.echo(
            f"{written}: {plural(len(lines), 'conversation')}, {plural(messages, 'message')}"
        )


@sessions_app.command()
def serve(
    store: StoreUrl = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 for any that is free.")] = 8_890,
    policy: Recipe = None,
    model: Model = None,
) -> None:
    """Answer on this machine under /chatmem-lab/memory, to whoever has the token."""
    with told_in_one_line(), _desk(store, policy, model) as desk:
        from chatmem_lab.server.serving import serve as serve_sessions

        serve_sessions(desk, port=port, tell=typer.echo)


@contextmanager
def _desk(
    store: str | None, policy: str | None = None, model: str | None = None
) -> Iterator[SessionDesk]:
    from chatmem_lab.policies.registry import parse_policy
    from chatmem_lab.server.session_desk import SessionDesk, open_existing_store

    chosen = parse_policy(policy) if policy else None
    desk = SessionDesk(open_existing_store(store), chosen, model)
    try:
        yield desk
    finally:
        desk.close()


def _totals(messages: int, window: Window) -> str:
    from chatmem_lab.html.numbers import counted, plural

    tokens = counted(f"{window.tokens:,}", window.count_kind)
    return f"{plural(messages, 'message')}; the model sees {len(window):,}, tokens: {tokens}"


def _lines(messages: Sequence[Message], window: Window | None = None) -> Iterator[str]:
    """A line for each message, and for what was made, where the window has it."""
    slots = () if window is None else window.slots
    state_at = {slot.position: slot.state for slot in slots}
    waiting: list[Message] = []
    made_before: dict[int, list[Message]] = {}
    for slot in slots:
        if slot.position is None:
            waiting.append(slot.message)
        else:
            made_before[slot.position], waiting = waiting, []
    for position, message in enumerate(messages):
        for made in made_before.get(position, ()):
            yield _line("", "+", made)
        state = state_at.get(position)
        mark = " " if state is None else "*" if state == "kept" else "~"
        yield _line(f"{position:,}", mark, message)
    for made in waiting:
        yield _line("", "+", made)


def _line(position: str, mark: str, message: Message) -> str:
    from chatmem_lab.html.text import begins

    room = max(shutil.get_terminal_size().columns - 23, NARROWEST_TEXT)
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    kinds = [type(part).__name__.lower() for part in message.parts]
    other = [f"[{kind}]" for kind in kinds if kind not in ("text", "refusal")]
    text = begins(" ".join(filter(None, [message.text, *calls, *other])), room)
    return f"{position:>6} {mark} {message.kind:<12} {fitted(printable(text), room)}".rstrip()


def _time(time: datetime | None) -> str:
    return "–" if time is None else f"{time:%Y-%m-%d %H:%M}"
