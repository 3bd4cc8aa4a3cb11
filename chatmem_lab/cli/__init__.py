"""The command line: ``chatmem-lab compare | replay | policies | lint | read | sessions``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chatmem_lab.cli.linting import lint
from chatmem_lab.cli.policy_list import policies
from chatmem_lab.cli.sessions import sessions_app
from chatmem_lab.cli.telling import told_in_one_line

if TYPE_CHECKING:
    from chatmem_lab.messages import Conversation
    from chatmem_lab.policies import Policy, Preset
    from chatmem_lab.study import Study
    from chatmem_lab.transcripts import Conversations

__all__ = ["app"]

app = typer.Typer(
    help="Replay recorded conversations under chat-memory policies.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(sessions_app, name="sessions")

#: What is compared when no policy is named.
DEFAULT_POLICIES = (
    "keep-all",
    "message-window:20",
    "token-window:4000",
    "token-window:4000,low=2500",
    "clear-tool-results:3",
    "summarize:trigger=tokens:4000,keep=tokens:2000",
)

Paths = Annotated[list[Path], typer.Argument(help="Transcripts, or folders of them.")]
Model = Annotated[
    str | None,
    typer.Option(help="Whose tokens are counted; without it each conversation's own model."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="The transcripts' format; detected without it."),
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Skip what cannot be read, and say so.")]


@app.command()
def compare(
    paths: Paths,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", "-p", help='Such as "clear-tool-results:3|token-window:8000"; repeat it.'
        ),
    ] = None,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where the report and the tables go.")] = Path("out"),
    format: Format = None,
    lenient: Lenient = False,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
) -> None:
    """Compare policies on recorded conversations: a table, a report, Parquet and CSV."""
    with told_in_one_line():
        from chatmem_lab.study import compare as compare_policies
        from chatmem_lab.tokens import counter

        policies = _policies(policy or list(DEFAULT_POLICIES))
        if model is not None:
            counter(model)  # an unknown one is said before the reading
        conversations = _read(paths, format, lenient)
        out.mkdir(parents=True, exist_ok=True)
        study = compare_policies(
            _with_bar(conversations), policies, model=model, progress=False, seed=seed
        )
        typer.echo(_summary_text(study))
        if skipped := _skipped_text(conversations):
            typer.echo(f"\n{skipped}")
        _write_tables(study, out)
        from chatmem_lab.report import write_report

        report = write_report(study, out)
        typer.echo(f"\n{report} and the tables beside it, as Parquet and CSV.")


@app.command()
def replay(
    path: Annotated[Path, typer.Argument(help="A transcript.")],
    policy: Annotated[str, typer.Option("--policy", "-p", help="Such as token-window:4000.")],
    model: Model = None,
    id: Annotated[
        str | None,
        typer.Option("--id", help="Which conversation, if there are several."),
    ] = None,
    format: Format = None,
    lenient: Lenient = False,
) -> None:
    """Replay one conversation under one policy: a row per request, then what happened."""
    with told_in_one_line():
        from chatmem_lab.errors import TranscriptError
        from chatmem_lab.study import replay as replay_policy

        chosen = _policies([policy])
        conversations = _read([path], format, lenient)
        ids = [conversation.id for conversation in conversations]
        if id is None and len(ids) > 1:
            raise TranscriptError(
                f"holds {len(ids):,} conversations: choose one with --id, such as {ids[0]!r}",
                source=str(path),
            )
        if id is not None and id not in ids:
            raise TranscriptError(
                f"holds no conversation {id!r}; the first ones are {ids[:3]}", source=str(path)
            )
        conversation = conversations[ids.index(id) if id is not None else 0]
        run = replay_policy(conversation, next(iter(chosen.values())), model=model)
        shown = [
            "request",
            "position",
            "input_tokens",
            "count_kind",
            "messages",
            "evicted_messages",
            "absent_messages",
            "prefix_tokens",
            "over_budget",
            "faults",
        ]
        typer.echo(f"{conversation.id} under {run.policy!r}\n")
        typer.echo(run.requests[shown].to_string(index=False))
        if len(run.events):
            events = run.events[
                [
                    "request",
                    "position",
                    "kind",
                    "messages",
                    "tokens_before",
                    "tokens_after",
                    "reason",
                ]
            ]
            typer.echo(f"\n{events.to_string(index=False)}")


app.command()(policies)
app.command()(lint)


@app.command()
def read(
    paths: Paths, model: Model = None, format: Format = None, lenient: Lenient = False
) -> None:
    """Say what transcripts hold: conversations, messages, tokens, models, tools, problems."""
    with told_in_one_line():
        from chatmem_lab.tokens import counter, default_counter, weakest

        conversations = _read(paths, format, lenient)
        chosen = counter(model) if model else default_counter()
        counts = chosen.count_messages([m for c in conversations for m in c.messages])
        kind = weakest(count.kind for count in counts)
        times = [m.created_at for c in conversations for m in c.messages if m.created_at]
        models = sorted({c.model for c in conversations if c.model})
        tools = sorted(
            {
                call.name
                for conversation in conversations
                for message in conversation.messages
                for call in message.tool_calls
            }
        )
        rows = [
            ("conversations", f"{len(conversations):,}"),
            ("messages", f"{sum(map(len, conversations)):,}"),
            ("requests", f"{sum(len(c.requests) for c in conversations):,}"),
            ("tokens", f"{sum(c.tokens for c in counts):,} ({kind}, {chosen.name})"),
            ("models", ", ".join(models) or "not recorded"),
            ("tools called", ", ".join(tools) or "none"),
            ("from", f"{min(times):%Y-%m-%d %H:%M}" if times else "not recorded"),
            ("to", f"{max(times):%Y-%m-%d %H:%M}" if times else "not recorded"),
        ]
        for name, value in rows:
            typer.echo(f"{name:<14} {value}")
        typer.echo(f"\n{conversations.report!r}")


def _policies(recipes: list[str]) -> dict[str, Policy | Preset]:
    from chatmem_lab.errors import PolicyError
    from chatmem_lab.policies.registry import parse_policy

    labelled: dict[str, Policy | Preset] = {}
    for recipe in recipes:
        built = parse_policy(recipe)
        if repr(built) in labelled:
            raise PolicyError(f"{recipe} is there twice")
        labelled[repr(built)] = built
    return labelled


def _read(paths: list[Path], format: str | None, lenient: bool) -> Conversations:
    from chatmem_lab.corpora import read as read_transcripts
    from chatmem_lab.errors import TranscriptError

    conversations = read_transcripts(paths, format=format, lenient=lenient)
    if not conversations:
        raise TranscriptError(
            f"no conversation could be read. {_skipped_text(conversations)}".strip()
        )
    return conversations


def _with_bar(conversations: Conversations) -> Iterator[Conversation]:
    from tqdm import tqdm

    # None: no bar where nobody watches, so that what is on stderr is what went wrong.
    bar = tqdm(
        conversations, desc="replaying", unit=" conversations", file=sys.stderr, disable=None
    )
    with bar:
        yield from bar


def _write_tables(study: Study, out: Path) -> None:
    tables = {
        "summary": study.summary.reset_index(),
        "scores": study.scores,
        "requests": study.requests,
        "summaries": study.summaries,
        "validity": study.validity.reset_index(),
    }
    for name, table in tables.items():
        table.to_parquet(out / f"{name}.parquet", index=False)
        table.to_csv(out / f"{name}.csv", index=False)


def _summary_text(study: Study) -> str:
    """The summary as text: figures as people write them; intervals are in the report."""
    import pandas as pd

    summary = study.summary
    figures = {
        "input": [f"{x:,.0f}" for x in summary["input_tokens"]],
        "not in prefix": [f"{x:,.0f}" for x in summary["uncached_tokens"]],
        "peak": [f"{x:,.0f}" for x in summary["peak_tokens"]],
        "evicted": [f"{x:,.1f}" for x in summary["evicted_messages"]],
        "cleared": [f"{x:,.1f}" for x in summary["cleared_messages"]],
        "over": [_share(x) for x in summary["over_budget"]],
        "kept": ["–" if pd.isna(x) else f"{x:.0%}" for x in summary["retention"]],
    }
    names = [name if len(name) <= 48 else f"{name[:47]}…" for name in summary.index]
    n, requests = len(study.conversations), int(summary["requests"].iloc[0])
    plural = "" if n == 1 else "s"
    head = f"{n:,} conversation{plural}, {requests:,} requests"
    return f"""{head}; tokens and messages per conversation

{pd.DataFrame(figures, index=names).to_string()}

not in prefix: input tokens that no prompt cache could have served; peak: 95th percentile of
the largest requests; over: requests over the limit; kept: salient items that summaries keep"""


def _share(x: float) -> str:
    """A share; what is more than nothing never reads as nothing."""
    return "<0.1%" if 0 < x < 0.0005 else f"{x:.1%}"


def _skipped_text(conversations: Conversations) -> str:
    skipped = conversations.report.skipped
    if not skipped:
        return ""
    first = skipped[0]
    more = f" and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
    return f"skipped {first.source}: {first.reason}{more} (chatmem-lab read tells all)"
