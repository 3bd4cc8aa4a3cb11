"""How a command says what is wrong: one line on stderr, and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from chatmem_lab.cli.plain_text import printable
from chatmem_lab.errors import ChatMemLabError

__all__ = ["told_in_one_line"]


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Whatever is wrong with what the user gave: one line on stderr and exit code 2."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read has seen enough, as `head` does; what Python still holds goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except (ChatMemLabError, OSError) as error:
        line = printable(" ".join(str(error).split()))
        typer.echo(f"chatmem-lab: {line}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("chatmem-lab: stopped", err=True)
        raise typer.Exit(130) from None
