"""All of tau-bench under six policies, beside tokenising it once with tiktoken.

    python benchmarks/tau_bench.py [FILE]

FILE is tau-bench's ``gpt-4o-airline.json``; without it, it is looked for in the folder that
CHATMEM_LAB_TRANSCRIPTS names. Both are timed in turn in one process; what counts is the ratio.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import tiktoken

import chatmem_lab as cml
from chatmem_lab.cli import DEFAULT_POLICIES
from chatmem_lab.policies.registry import parse_policy

ROUNDS = 5


def main() -> None:
    """Print the medians and their ratio."""
    folder = Path(os.environ.get("CHATMEM_LAB_TRANSCRIPTS", "../shared/transcripts"))
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "tau-bench" / "gpt-4o-airline.json"
    vocabulary = Path(__file__).parent.parent / ".cache" / "tiktoken"
    if vocabulary.is_dir():
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(vocabulary))
    conversations = cml.read(path)
    policies = [parse_policy(recipe) for recipe in DEFAULT_POLICIES]
    texts = [
        text
        for conversation in conversations
        for message in conversation.messages
        for text in [
            message.text,
            *(part for call in message.tool_calls for part in (call.name, call.arguments)),
        ]
    ]
    encode = tiktoken.get_encoding("o200k_base").encode_ordinary
    counter = cml.counter("gpt-4o")
    messages = [message for c in conversations for message in c.messages]
    for work in (lambda: [encode(text) for text in texts[:500]], lambda: counter.count_text("")):
        work()
    times: dict[str, list[float]] = {
        "tiktoken once": [],
        "our counts once": [],
        "six policies": [],
    }
    for _ in range(ROUNDS):
        start = perf_counter()
        for text in texts:
            encode(text)
        times["tiktoken once"].append(perf_counter() - start)
        start = perf_counter()
        counter.count_messages(messages)
        times["our counts once"].append(perf_counter() - start)
        start = perf_counter()
        study = cml.compare(conversations, policies, model="gpt-4o", progress=False)
        times["six policies"].append(perf_counter() - start)
    medians = {what: statistics.median(seconds) for what, seconds in times.items()}
    requests = int(study.scores["requests"].sum())
    print(f"{len(conversations)} conversations, {len(messages):,} messages, {requests:,} requests")
    for what, seconds in medians.items():
        ratio = seconds / medians["tiktoken once"]
        print(f"{what:<16} {seconds:.3f} s   {ratio:.2f} × tiktoken once")
    packages = ", ".join(f"{name} {version(name)}" for name in ("tiktoken", "toktok-rs", "numpy"))
    print(f"median of {ROUNDS} rounds, Python {platform.python_version()}, {packages}")


if __name__ == "__main__":
    main()
