import re

import pytest

from chatmem_lab.html.panels import axis_panel, prefix_panel, tokens_panel
from chatmem_lab.html.series import read_series


@pytest.mark.parametrize("n", [1, 2, 8, 30, 200, 3_000])
def test_request_numbers_stand_under_their_requests(n):
    axis, _ = axis_panel(read_series({"user_tokens": [1] * n}), 0)
    found = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="middle">([\d,]+)<', axis)
    assert "request 0" in axis
    assert len(found) <= 11
    for x, words in found:
        request = int(words.replace(",", ""))
        assert float(x) == pytest.approx(48 + 820 * (request + 0.5) / n, abs=0.06)


def test_the_share_is_a_share_of_the_height():
    series = read_series({"user_tokens": [100, 100], "prefix_tokens": [0, 75]})
    body, _ = prefix_panel(series, 0, bars=True)
    heights = [float(h) for h in re.findall(r"v-([\d.]+)h", body)]
    assert heights == [0.0, 24.0]


def test_a_budget_that_changes_is_a_line_of_steps():
    series = read_series({"user_tokens": [40, 40, 40], "budget": [100, 50, 50]})
    body, _ = tokens_panel(series, 0, "u", bars=True)
    assert "budget up to 100" in body
    dashed = re.search(r'd="([^"]*)" class="s-ink" fill="none"', body)[1]
    assert dashed.count("V") == 1
