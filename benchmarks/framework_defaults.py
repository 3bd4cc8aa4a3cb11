"""Every preset and adapter at its defaults, on recorded conversations.

    python benchmarks/framework_defaults.py            (or make defaults)

writes docs/framework-defaults.md. Adapters run in their frameworks' environments, which are
those of the parity tests and are made where they are missing. The bundled conversations are
used, and, where they lie beside the project, every tenth tau-bench run and SWE-agent's.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import chatmem_lab as cml
from chatmem_lab.messages import FAULTS, Conversation
from chatmem_lab.policies.registry import parameters_of, presets_by_name
from chatmem_lab.summarizers import Summarizer, Truncate

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "framework-defaults.md"
BESIDE = Path(os.environ.get("CHATMEM_LAB_TRANSCRIPTS", ROOT.parent / "shared" / "transcripts"))
MODEL = "gpt-4o"

#: What has no default there, and is written beside the name here.
REQUIRED: dict[str, object] = {
    "compaction_interval": 3,
    "context_tokens": 32_000,
    "max_summary_tokens": 256,
    "num_invocations_to_keep": 4,
    "overlap_size": 1,
    "buffer_size": 20,
    "keep": cml.Tokens(2_000),
    "compact_to": 30,
    "head_size": 2,
    "keep_last_groups": 20,
    "max_context_window_tokens": 128_000,
    "max_messages": 60,
    "max_n": 60,
    "max_part_chars": 20_000,
    "max_output_tokens": 4_096,
    "max_tokens": 8_000,
    "strategies": (),
    "tail_size": 18,
    "target_count": 20,
    "token_budget": 8_000,
    "token_limit": 8_000,
}


def conversations() -> dict[str, list[Conversation]]:
    """The conversations by the public name of their source."""
    found = {"bundled": [c for name in cml.datasets.list() for c in cml.datasets.load(name)]}
    tau = BESIDE / "tau-bench" / "gpt-4o-airline.json"
    if tau.is_file():
        found["tau-bench (sierra-research/tau-bench @ 59a200c6d575, every tenth run)"] = cml.read(
            tau
        )[::10]
    swe = BESIDE / "swe-agent"
    if swe.is_dir():
        found["SWE-agent (SWE-agent/SWE-agent @ 3ea751c087f3, demonstrations and tests)"] = [
            conversation for path in sorted(swe.rglob("*.traj")) for conversation in cml.read(path)
        ]
    return found


def at_defaults(build: Callable[..., Any]) -> Any:
    """`build` with its own defaults, and with `REQUIRED` where there is none."""
    given: dict[str, object] = {}
    for parameter in parameters_of(build):
        if parameter.kind is Summarizer and parameter.default is None:
            given[parameter.name] = Truncate()
        elif parameter.default is None and not parameter.optional:
            given[parameter.name] = REQUIRED[parameter.name]
    return build(**given)


def row(name: str, policy: Any) -> dict[str, object]:
    """The figures of one policy over all conversations."""
    every = [c for many in conversations().values() for c in many]
    study = cml.compare(every, {name: policy}, model=MODEL, progress=False)
    traces = study.traces[name]
    validity = study.validity.loc[name]
    totals = [int(t) for trace in traces for t in trace.input_tokens]
    events = [e for trace in traces for e in trace.events if e.request < trace.requests]
    return {
        "name": name,
        "recipe": repr(policy),
        "requests": int(validity["requests"]),
        "over budget": int(validity["over_budget"]),
        "failed": int(validity["policy_failed"]),
        **{fault: int(validity[fault]) for fault in FAULTS},
        "peak": max(totals),
        "mean": sum(totals) / len(totals),
        "prefix": sum(int(t.prefix_tokens.sum()) for t in traces) / sum(totals),
        "summaries": sum(e.kind in ("fold", "summarize", "summarize_failed") for e in events),
        "summarizer tokens": sum(
            e.summarizer_input_tokens + e.summarizer_output_tokens for e in events
        ),
        "acts": any(e.kind not in ("over_budget", "policy_failed") for e in events),
    }


def adapters_here() -> Iterator[tuple[str, Any]]:
    """Each adapter of a framework that can be imported here, at its defaults."""
    from dataclasses import fields

    from chatmem_lab import adapters
    from chatmem_lab.adapters import Adapter

    for name in adapters.__all__:
        cls = getattr(adapters, name)
        if not (isinstance(cls, type) and issubclass(cls, Adapter)) or cls is Adapter:
            continue
        if fields(cls)[0].name in ("make", "function"):
            continue
        adapter = at_defaults(cls)
        try:
            adapter.begin(None)
        except cml.errors.PolicyError:
            continue
        yield name, adapter


def measure_adapters() -> None:
    """A JSON line for each adapter that can run here."""
    for name, adapter in adapters_here():
        facts = {**row(name, adapter), "versions": adapter.versions}
        print(json.dumps(facts), flush=True)


def in_environments() -> list[dict[str, Any]]:
    """The rows of all adapters, each from its framework's environment."""
    sys.path.insert(0, str(ROOT / "tests" / "parity"))
    from environments import ENVIRONMENTS, make, python
    from frameworks import FRAMEWORKS

    packages: dict[str, list[str]] = {}
    for name, framework in FRAMEWORKS.items():
        packages.setdefault(framework.get("beside", name), []).extend(framework["packages"])
    rows: list[dict[str, Any]] = []
    for name, wanted in packages.items():
        make(name, wanted)
        folder = ENVIRONMENTS / name
        done = subprocess.run(
            [python(folder), __file__, "--adapters"],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        rows += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        print(f"{name}: {len(rows)} adapters so far", flush=True)
    return rows


COLUMNS = {
    "requests over budget": "over budget",
    "orphan results": "orphan_result",
    "unanswered calls": "unanswered_call",
    "empty": "empty_window",
    "system lost": "lost_system",
    "failed": "failed",
    "peak tokens": "peak",
    "mean tokens": "mean",
    "prefix": "prefix",
    "summarizer calls": "summaries",
    "summarizer tokens": "summarizer tokens",
}


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table."""
    lines = [
        f"| {' | '.join(['what', *COLUMNS])} |",
        f"| --- |{' ---: |' * len(COLUMNS)}",
    ]
    for facts in rows:
        cells = [
            f"{facts[key]:.0%}" if key == "prefix" else f"{facts[key]:,.0f}"
            for key in COLUMNS.values()
        ]
        note = "" if facts["acts"] else " (never acts)"
        lines.append(f"| `{facts['recipe']}`{note} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(presets: list[dict[str, Any]], adapters: list[dict[str, Any]]) -> str:
    """The whole page."""
    used = conversations()
    sources = "\n".join(
        f"- {name}: {len(many)} conversations, {sum(len(c.requests) for c in many):,} requests"
        for name, many in used.items()
    )
    versions = {k: v for facts in adapters for k, v in facts["versions"].items()}
    return f"""# Framework defaults

What each system sends when nobody touches its parameters. Written on {date.today()} by
`python benchmarks/framework_defaults.py` (or `make defaults`) with chatmem_lab
{version("chatmem-lab")}, Python {platform.python_version()} and
{", ".join(f"{name} {number}" for name, number in sorted(versions.items()))}.

{sources}

Tokens are {MODEL}'s, counted exactly. A parameter that has no default in the framework is
written in the recipe. Faults are counted in all requests: one orphan that stays for ten
requests counts ten times. What the recordings broke themselves is in every row, as in the
first. *prefix* is the share of all input tokens that repeats what the request before began
with. Summaries here are the heads of what is folded (`Truncate`), so their number and what
their summarizer reads are those of the system, their length is not. *Failed* is how often
the framework raised an error. A replay is open loop: the recorded replies stay what they were.

## Unmodified: each framework's own objects

{table(adapters)}

## Presets

{table(presets)}
"""


def main_page() -> None:
    """Measure everything and write the page."""
    presets = [row("keep_all", cml.KeepAll())]
    presets += [row(name, at_defaults(build)) for name, build in sorted(presets_by_name().items())]
    adapters = [row("keep_all", cml.KeepAll()) | {"versions": {}}, *in_environments()]
    PAGE.write_text(page(presets, adapters))


if __name__ == "__main__":
    if sys.argv[1:] == ["--adapters"]:
        measure_adapters()
    else:
        main_page()
