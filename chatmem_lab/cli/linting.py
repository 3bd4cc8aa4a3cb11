"""``chatmem-lab lint``: what a provider would refuse or misread in transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chatmem_lab.cli.telling import told_in_one_line

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["lint"]

#: So many findings of a rule are told one by one.
_SHOWN = 5


def _rank(severities: pd.Series[str]) -> pd.Series[int]:
    return severities.map({"refused": 0, "misread": 1, "advice": 2})


def lint(
    paths: Annotated[list[Path], typer.Argument(help="Transcripts, or folders of them.")],
    target: Annotated[str, typer.Option(help="chat, responses or anthropic.")] = "chat",
    policy: Annotated[
        str | None,
        typer.Option("--policy", "-p", help="Lint each request under it, not the recording."),
    ] = None,
    budget: Annotated[int | None, typer.Option(help="Tokens that a request may have.")] = None,
    model: Annotated[str | None, typer.Option(help="Whose tokens are counted.")] = None,
    format: Annotated[
        str | None, typer.Option("--format", help="The transcripts' format.")
    ] = None,
    lenient: Annotated[bool, typer.Option("--lenient", help="Skip what cannot be read.")] = False,
) -> None:
    """Say what a provider would refuse or misread; exit code 1 if anything is refused."""
    with told_in_one_line():
        import pandas as pd

        from chatmem_lab.corpora import read
        from chatmem_lab.metrics import lint as lint_one
        from chatmem_lab.policies.registry import parse_policy
        from chatmem_lab.study import replay

        conversations = read(paths, format=format, lenient=lenient)
        chosen = None if policy is None else parse_policy(policy)
        tables = [
            lint_one(
                conversation if chosen is None else replay(conversation, chosen, model=model),
                target,
                budget=budget,
                model=model,
            )
            for conversation in conversations
        ]
        found = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
        plural = "" if len(conversations) == 1 else "s"
        typer.echo(f"{len(conversations):,} conversation{plural}, target {target}")
        if found.empty:
            typer.echo("nothing found")
            return
        worst_first = found.sort_values("severity", key=_rank, kind="stable")
        for (severity, rule), group in worst_first.groupby(["severity", "rule"], sort=False):
            typer.echo(f"\n{severity}  {rule}  {len(group):,}: {group['remedy'].iloc[0]}")
            for row in group.head(_SHOWN).itertuples():
                typer.echo(f"    {row.conversation}: {row.what}")
            if len(group) > _SHOWN:
                typer.echo(f"    … and {len(group) - _SHOWN:,} more")
        if (found["severity"] == "refused").any():
            raise typer.Exit(1)
