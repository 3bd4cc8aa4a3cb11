"""Rules and presets as values."""

from __future__ import annotations

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies import KeepAll, Preset, Rules, chain
from chatmem_lab.policies.presets import ai4j_message_window

CHOICES = {
    "blank": ("error", "ignore", "keep"),
    "orphan": ("error", "keep"),
    "duplicate_call": ("keep", "error"),
    "equal_system": ("ignore", "keep"),
    "new_system": ("front", "append", "append_front", "replace_all", "keep"),
    "oversize": ("keep", "error", "evict"),
    "batch": ("each", "once"),
    "set_as": ("added", "given"),
    "read": ("window", "policy"),
    "first_request": ("window", "untrimmed"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_each_rule_has_its_choices_and_the_first_is_the_default(name):
    default, *others = CHOICES[name]
    assert Rules(**{name: default}) == Rules()
    for choice in others:
        assert repr(Rules(**{name: choice})) == f"Rules({name}={choice!r})"
    for wrong in ("", "yes", None, 1):
        with pytest.raises(PolicyError) as error:
            Rules(**{name: wrong})
        assert str(error.value) == (
            f"Rules: {name} must be one of {', '.join(CHOICES[name])}, not {wrong!r}"
        )


def test_a_presets_name_is_a_str():
    with pytest.raises(PolicyError, match="Preset: name must be a str, not 5"):
        Preset(KeepAll(), name=5)


@pytest.mark.parametrize(
    "build",
    [
        lambda: KeepAll() | ai4j_message_window(8),
        lambda: ai4j_message_window(8) | KeepAll(),
        lambda: ai4j_message_window(8) | ai4j_message_window(8),
        lambda: chain(KeepAll(), ai4j_message_window(8)),
    ],
)
def test_a_preset_stands_alone(build):
    with pytest.raises(PolicyError, match="a preset stands alone") as error:
        build()
    assert "ai4j_message_window(8)" in str(error.value)
    assert "policy_from" not in str(error.value)
