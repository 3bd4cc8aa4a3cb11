"""Presets against what the frameworks themselves sent, as their parity tests wrote it down."""

import json

import pytest
from recorded import FOLDER, bundled, lines, parity_module

FRAMEWORKS = sorted(path.stem for path in FOLDER.glob("*.json"))
PAIRS = [(name, pair) for name in FRAMEWORKS for pair in parity_module(name).PAIRS]


@pytest.mark.parametrize(("framework", "pair"), PAIRS)
def test_a_preset_sends_what_the_framework_sent(framework, pair):
    module = parity_module(framework)
    sent = json.loads((FOLDER / f"{framework}.json").read_text())["sent"][pair]
    preset, _ = module.PAIRS[pair]
    assert {c.id: lines(c, preset, module) for c in bundled()} == sent
