"""What the frameworks themselves sent, written down: the core suite needs none of them.

    python tests/parity/recorded.py strands          in the environment of that framework

writes `recorded/strands.json`: for each pair of its parity test and each of three bundled
conversations a line per request. A line names what is sent: a message's position where it is
the recorded one, role and digest where it is new or changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import chatmem_lab as cml
from chatmem_lab.messages import Conversation
from chatmem_lab.policies import Preset, split_preset
from parity import sent, shown

__all__ = ["FOLDER", "bundled", "lines", "parity_module", "written_down"]

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "recorded"


def bundled() -> list[Conversation]:
    """One agent run with parallel calls, one of research, one of support."""
    return [cml.datasets.load(name)[0] for name in ("coding", "research", "support")]


def parity_module(framework: str) -> ModuleType:
    """The parity test of `framework`, with its `PAIRS` and `COUNT`."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return import_module(f"test_{framework}")


def lines(conversation: Conversation, policy: object, module: ModuleType) -> list[str]:
    """A line per request under `policy`, counted as the parity test `module` does."""
    recorded = [sent(message) for message in conversation.messages]
    gives_up = getattr(module, "GIVES_UP", "")
    windows = shown(conversation, policy, count=module.COUNT, gives_up=gives_up)
    return [_line(recorded, window) for window in windows]


def _line(recorded: list[tuple[object, ...]], window: list[tuple[object, ...]]) -> str:
    items: list[str] = []
    runs: list[list[int]] = []
    for message in window:
        after = runs[-1][1] + 1 if runs else 0
        at = next((i for i in range(after, len(recorded)) if recorded[i] == message), None)
        if at is None and message in recorded:
            at = recorded.index(message)
        if at is None:
            digest = hashlib.sha256(repr(message).encode("utf-8", "backslashreplace"))
            items.append(f"{message[0]}:{digest.hexdigest()[:10]}")
            continue
        if runs and at == after and items[-1] == _span(runs[-1]):
            runs[-1][1] = at
            items[-1] = _span(runs[-1])
        else:
            runs.append([at, at])
            items.append(_span(runs[-1]))
    return " ".join(items)


def _span(run: list[int]) -> str:
    return f"{run[0]}-{run[1]}" if run[0] != run[1] else str(run[0])


def written_down(framework: str) -> dict[str, dict[str, list[str]]]:
    """What the adapters of `framework` send here and now."""
    module = parity_module(framework)
    return {
        name: {c.id: lines(c, Preset(adapter, split_preset(preset)[1]), module) for c in bundled()}
        for name, (preset, adapter) in module.PAIRS.items()
    }


def main(framework: str) -> None:
    """Write the file of `framework`."""
    adapters = [adapter for _, adapter in parity_module(framework).PAIRS.values()]
    packages = sorted({package for adapter in adapters for package in adapter.packages})
    facts = {
        "versions": {package: version(package) for package in packages},
        "sent": written_down(framework),
    }
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (FOLDER / f"{framework}.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
