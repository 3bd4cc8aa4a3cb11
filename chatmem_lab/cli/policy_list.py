"""``chatmem-lab policies``: all of them, with parameters and bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from chatmem_lab.cli.telling import told_in_one_line

if TYPE_CHECKING:
    from chatmem_lab.policies import Policy, Preset
    from chatmem_lab.policies.registry import Parameter

__all__ = ["policies"]


def policies() -> None:
    """List the policies, presets and what is built in Python only, with parameters and bounds."""
    with told_in_one_line():
        from chatmem_lab.policies.registry import (
            in_python_only,
            policies_by_name,
            presets_by_name,
        )

        _show("policies", {**policies_by_name()})
        _show("presets", {**presets_by_name()})
        _show("in Python only: around other policies, or with a function", {**in_python_only()})
        typer.echo("Write a recipe as name:value,key=value and part the stages of a chain by |.")


def _show(title: str, builders: dict[str, Callable[..., Policy | Preset]]) -> None:
    from chatmem_lab.policies.registry import parameters_of

    typer.echo(f"{title}\n")
    for name, build in sorted(builders.items()):
        about = (build.__doc__ or "").strip().splitlines()[0]
        typer.echo(f"  {name}\n      {about}")
        for parameter in parameters_of(build):
            bounds = f"  ({parameter.bounds.describe()})" if parameter.bounds else ""
            typer.echo(f"      {parameter.name} = {default_text(parameter)}{bounds}")
    typer.echo("")


def default_text(parameter: Parameter) -> str:
    """A default as it is written in a recipe."""
    if parameter.kind is not bool and parameter.default is None and not parameter.optional:
        return "required"
    amount = getattr(parameter.default, "n", getattr(parameter.default, "x", None))
    if amount is not None:
        return f"{type(parameter.default).__name__.lower()}:{amount}"
    return str(parameter.default).lower()
