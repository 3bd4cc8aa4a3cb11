"""The inventory of the field's policies: each is run on recorded conversations.

Native policies by the recounts of their own test files, which use the raw messages only;
presets by the windows that the frameworks themselves sent (or the seeds' recorded runs);
adapters in their frameworks' environments, by `make test-parity`. Nothing may be missing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

from recorded import FOLDER, parity_module

import chatmem_lab as cml
from chatmem_lab import adapters
from chatmem_lab.adapters import Adapter
from chatmem_lab.policies.presets import approximate
from chatmem_lab.policies.registry import in_python_only, policies_by_name, presets_by_name
from test_inventory import POLICIES
from test_inventory_chat_memory import PRESETS

HERE = Path(__file__).resolve().parent

#: Tests that hold a policy against a plain count on a recorded conversation.
RECOUNT = re.compile(r"test_(on_a_recorded_run|the_rule_of_swe_agent_on|what_a_memory_did)")
#: Where the test file has another name than the policy.
FILES = {
    "halve": "test_head_summary_tail",
    "Recall": "test_relevance_window",
}
#: No recording at hand has reasoning in it: by hand only.
BY_HAND = {"drop-reasoning"}
FRAMEWORKS = sorted(path.stem for path in FOLDER.glob("*.json"))


def has_recount(name):
    stem = FILES.get(name, "test_" + re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower())
    path = HERE / "policies" / f"{stem}.py"
    tree = ast.parse(path.read_text())
    tests = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return any(RECOUNT.match(test) for test in tests)


def test_every_policy_is_recounted_on_a_recorded_run():
    names = {*policies_by_name(), *in_python_only()} - set(POLICIES)
    assert len(names) >= 20
    assert {name for name in names if not has_recount(name)} == BY_HAND


def built_by_pairs():
    pairs = [pair for name in FRAMEWORKS for pair in parity_module(name).PAIRS.values()]
    presets = {repr(preset).partition("(")[0].replace("_", "-") for preset, _ in pairs}
    return presets, {type(adapter) for _, adapter in pairs}


def test_every_preset_is_held_against_what_was_recorded():
    approximated = {name.replace("_", "-") for name in approximate.__all__}  # test_approximate.py
    assert set(presets_by_name()) == {*PRESETS, *built_by_pairs()[0], *approximated}


def test_every_adapter_has_its_preset():
    classes = {
        value
        for value in vars(adapters).values()
        if isinstance(value, type) and issubclass(value, Adapter) and value is not Adapter
    }
    # Any object of a framework can be run: the adapter for it is a way in, not a policy.
    ways_in = {cls for cls in classes if fields(cls)[0].name in ("make", "function")}
    assert classes - ways_in == built_by_pairs()[1] - ways_in


def test_what_lints_is_there():
    assert callable(cml.lint)
    assert "policy_failed" in cml.compare(cml.datasets.load("planning"), [cml.KeepAll()]).validity
