"""Write docs/policies.md: every policy and preset, what it keeps, what it breaks.

    python docs/generate_policies.py            (or make docs)

What it keeps is the first paragraph of its docstring. What it does to tool pairs, to the
system message and to the prefix is measured: on three bundled conversations, under
parameters that make it act.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import chatmem_lab as cml
from chatmem_lab.cli.policy_list import default_text
from chatmem_lab.policies import Policy, Preset
from chatmem_lab.policies.amounts import Amount, Messages
from chatmem_lab.policies.registry import (
    in_python_only,
    parameters_of,
    policies_by_name,
    presets_by_name,
)
from chatmem_lab.summarizers import KeyFields, Summarizer, Truncate

PAGE = Path(__file__).resolve().parent / "policies.md"

#: Small enough that each policy acts on conversations of fifty to a hundred messages.
SMALL: dict[str, object] = {
    "keep_messages": 8,
    "max_part_chars": 800,
    "attention_window": 6,
    "compaction_interval": 2,
    "max_events": 24,
    "max_size": 24,
    "num_invocations_to_keep": 2,
    "overlap_size": 1,
    "buffer_size": 12,
    "clear_at_least": 0,
    "compact_to": 12,
    "context_tokens": 4_000,
    "context_window": 4_000,
    "head": 2,
    "head_size": 2,
    "keep_last_groups": 8,
    "keep_recent": 2,
    "limit": 12,
    "max_chars": 4_000,
    "max_context_window_tokens": 6_000,
    "max_items": 12,
    "max_messages": 12,
    "max_n": 16,
    "max_output_tokens": 1_000,
    "max_output_chars": 400,
    "max_recent": 6,
    "max_tokens": 2_500,
    "max_turns": 2,
    "pinned_prefix_items": 0,
    "tail": 10,
    "tail_size": 10,
    "target_count": 10,
    "target_tokens": 1_500,
    "token_budget": 2_500,
    "token_limit": 2_500,
    "window_size": 12,
}
#: Where the same word means something else.
OWN: dict[str, dict[str, object]] = {
    "ai4j-tool-result-stub": {"max_tokens": 50},
    "ai4j-summary": {"trigger": 12},
    "aider-chat-history": {"context_tokens": 32_000},
    "anthropic-compaction": {"trigger": 3_000},
    "anthropic-context-editing": {"trigger": 3_000},
    "clamp-tool-results": {"head": 200, "tail": 200},
    "pydantic-ai-clamp-oversized": {"keep_head_chars": 200, "keep_tail_chars": 200},
    "langchain-context-editing": {"trigger": 1_500},
    "summarize-in-place": {"max_tokens": 300},
}


def small(name: str, build: Callable[..., Policy | Preset]) -> Policy | Preset:
    """`build` with parameters that make it act."""
    given: dict[str, object] = {}
    for parameter in parameters_of(build):
        own = OWN.get(name, {})
        if parameter.name in own:
            given[parameter.name] = own[parameter.name]
        elif parameter.kind is Summarizer:
            given[parameter.name] = (
                KeyFields(60) if name == "structured-summary" else Truncate(400)
            )
        elif parameter.kind == Amount:
            is_kept = parameter.name in ("keep", "segment")
            given[parameter.name] = Messages(8 if is_kept else 14)
        elif parameter.name in SMALL:
            given[parameter.name] = SMALL[parameter.name]
    if name == "drop-reasoning":
        given = {}
    if name in ("user-messages-and-summary", "codex-compaction"):
        given["user_tokens"] = 600
    return build(**given)


def measured(policy: Policy | Preset) -> dict[str, str]:
    """What it does to pairs, system message and prefix on the three conversations."""
    conversations = [cml.datasets.load(name)[0] for name in ("coding", "research", "support")]
    study = cml.compare(conversations, {"it": policy}, model="gpt-4o", progress=False)
    faults = study.validity.loc["it"]
    requests = int(faults["requests"])
    torn = int(faults["orphan_result"] + faults["unanswered_call"])
    lost = int(faults["lost_system"])
    traces = study.traces["it"]
    broken = changed = 0
    for trace in traces:
        fixed = trace.overhead_tokens
        before = trace.input_tokens[:-1] - fixed
        broken += int((trace.prefix_tokens[1:] < before).sum())
        changed += len([e for e in trace.events if e.kind not in ("over_budget", "summarize")])
    share = float(study.summary.loc["it", "prefix_share"])
    return {
        "Tool pairs": "whole" if not torn else f"torn: {torn:,} halves in {requests} requests",
        "System message": "kept" if not lost else f"lost in {lost:,} of {requests} requests",
        "Prefix": (
            f"breaks at {broken:,} of {requests - len(traces)} requests; "
            f"{share:.0%} of all input tokens could come from a cache"
        ),
        "Acts": "" if changed else "not on these conversations",
    }


def section(name: str, build: Callable[..., Policy | Preset], *, is_measured: bool) -> str:
    """One policy or preset as Markdown."""
    document = re.split(r"\n\s*(?:Parameters|Examples)\n", build.__doc__ or "")[0]
    text = "\n".join(line.strip() for line in document.strip().splitlines())
    lines = [f"### `{name}`", "", text.replace("``", "`"), ""]
    parameters = parameters_of(build)
    if parameters:
        lines += ["| parameter | default | bounds |", "| --- | --- | --- |"]
        for parameter in parameters:
            bounds = parameter.bounds.describe() if parameter.bounds else ""
            default = default_text(parameter) or "(empty)"
            lines.append(f"| `{parameter.name}` | {default} | {bounds} |")
        lines.append("")
    if is_measured:
        policy = small(name, build)
        facts = {what: said for what, said in measured(policy).items() if said}
        lines.append(f"Measured with `{policy!r}`:")
        lines += ["", *(f"- {what}: {said}" for what, said in facts.items()), ""]
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    parts = [
        "# Policies\n",
        "Written by `python docs/generate_policies.py`; do not edit. What a policy does to tool "
        "pairs, to the system message and to the prefix is measured on three bundled "
        "conversations (108 requests), with parameters so small that it acts; a prefix *breaks* "
        "where a request does not begin with all that the one before it sent. The words are "
        "explained in the [glossary](glossary.md). On the command line: `chatmem-lab policies`.\n",
        "## Policies\n",
        *(section(n, b, is_measured=True) for n, b in sorted(policies_by_name().items())),
        "## Around other policies, or with a function (in Python)\n",
        *(section(n, b, is_measured=False) for n, b in sorted(in_python_only().items())),
        "## Presets: other systems by name\n",
        *(section(n, b, is_measured=True) for n, b in sorted(presets_by_name().items())),
    ]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
