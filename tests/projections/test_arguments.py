"""The object that arguments are."""

from __future__ import annotations

import pytest

from chatmem_lab.projections.arguments import arguments_object


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("{}", {}),
        (' {"a": [1, 2.5, null]} ', {"a": [1, 2.5, None]}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        (r'{"a": "\ud83d\ude00"}', {"a": "\U0001f600"}),
        (r'{"a": "x\uD800y", "\udfff": "\""}', {"a": "x\ufffdy", "\ufffd": '"'}),
        (r'{"a": "\\ud800"}', {"a": r"\ud800"}),
    ],
)
def test_an_object(text, value):
    assert arguments_object(text) == value


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "[]",
        "1",
        "null",
        '"{}"',
        '{"a": ',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": ' * 100_000,
    ],
)
def test_no_object(text):
    assert arguments_object(text) is None
