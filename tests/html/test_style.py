import re
from itertools import combinations

import pytest

from chatmem_lab.html.style import GROUNDS, NEUTRAL, ROLES, figure, role_of, style


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", [*ROLES, "anything else"])
def test_blocks_and_their_labels_can_be_seen(kind, theme):
    shade = getattr(role_of(kind), theme)
    ground = GROUNDS[theme]["bg"]
    assert contrast(shade.on, shade.fill) >= 4.5
    assert contrast(shade.edge, ground) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("token", ["ink", "ink2", "alarm", "focus"])
def test_words_can_be_read(token, theme):
    assert contrast(GROUNDS[theme][token], GROUNDS[theme]["bg"]) >= 4.5


def test_roles_are_told_apart():
    for theme in ("light", "dark"):
        for one, other in combinations(ROLES.values(), 2):
            assert getattr(one, theme).fill != getattr(other, theme).fill
    assert ROLES["made"].pattern == "hatch"
    assert ROLES["developer"].pattern == "dots"


def test_the_rules_reach_nothing_outside():
    without_media = style().replace("@media (prefers-color-scheme:dark){", "")
    for selectors in re.findall(r"([^{}]+)\{", without_media):
        for selector in selectors.split(","):
            assert ".cml" in selector, selector


def test_the_notebook_theme_wins_over_the_reader_s():
    rules = style()
    media = rules.index("@media (prefers-color-scheme:dark)")
    assert media < rules.index('[data-jp-theme-light="true"] .cml')
    assert media < rules.index('[data-jp-theme-light="false"] .cml')


def test_each_used_variable_is_defined_in_each_theme():
    used = set(re.findall(r"var\((--[\w-]+)\)", style()))
    for block in re.findall(r"\.cml\{(--bg[^}]*)\}", style()):
        assert used <= set(re.findall(r"(--[\w-]+):", block))
    assert len(re.findall(r"\.cml\{--bg", style())) == 4


def test_a_page_can_hold_the_style_once():
    assert figure("x").count("<style>") == 1
    assert "<style>" not in figure("x", styled=False)


def test_formulas_are_not_looked_for():
    assert "mathjax_ignore" in figure("costs $5 or $6")


def test_what_is_no_role_is_neutral():
    assert role_of("tool schemas") is NEUTRAL
