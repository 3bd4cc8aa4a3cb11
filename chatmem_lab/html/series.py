"""The columns of a replay, read from plain values and binned to what a picture can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chatmem_lab.html.numbers import known

__all__ = ["LAYERS", "Series", "binned", "read_series"]

#: From the bottom of the stack to its top, as in the strip from left to right.
LAYERS = (
    "tool schemas, overhead",
    "system",
    "user",
    "assistant",
    "tool call",
    "tool result",
    "made",
)


@dataclass(frozen=True)
class Series:
    """A value per step: `size` requests, the last step perhaps fewer.

    `layers` add up to `tokens`. Of a step of several requests, `tokens` and `layers` are
    those of its largest request, `evicted` are sums, and `input` and `prefix` too, so that
    their ratio is the token-weighted mean.
    """

    requests: int
    size: int
    layers: Mapping[str, list[float]]
    tokens: list[float]
    evicted: list[float]
    evicted_messages: list[float]
    input: list[float]
    prefix: list[float]
    budget: list[float | None]
    over: list[float]

    def __len__(self) -> int:
        return len(self.tokens)

    def step_of(self, request: float) -> int:
        """The step that shows a request; the last one for what no request shows."""
        return min(max(int(request) // self.size, 0), len(self) - 1)

    def shares(self) -> list[float | None]:
        """The share of the input that is in the prefix; None where there is no input."""
        return [part / whole if whole else None for part, whole in zip(self.prefix, self.input)]


def read_series(columns: Mapping[str, Iterable[object]]) -> Series:
    """A step per request, from columns named as in `run.requests`.

    Columns that are not there count as 0, `budget` as unknown. `developer` messages are in
    the system's tokens, and `tool_call_tokens` are a part of `assistant_tokens`.

    Examples
    --------
    >>> series = read_series({"user_tokens": [5, 9], "assistant_tokens": [0, 4],
    ...                       "tool_call_tokens": [0, 1], "input_tokens": [5, 13]})
    >>> series.layers["assistant"], series.layers["tool call"], series.tokens
    ([0.0, 3.0], [0.0, 1.0], [5.0, 13.0])
    """
    read = {name: [known(value) for value in values] for name, values in columns.items()}
    n = max(map(len, read.values()), default=0)

    def column(name: str) -> list[float]:
        return [value or 0.0 for value in read.get(name, [])] or [0.0] * n

    calls = column("tool_call_tokens")
    layers = {
        LAYERS[0]: _sums(column("tool_schema_tokens"), column("overhead_tokens")),
        "system": column("system_tokens"),
        "user": column("user_tokens"),
        "assistant": [a - c for a, c in zip(column("assistant_tokens"), calls)],
        "tool call": calls,
        "tool result": column("tool_result_tokens"),
        "made": column("made_tokens"),
    }
    tokens = [sum(step) for step in zip(*layers.values())]
    return Series(
        n,
        1,
        layers,
        tokens,
        column("evicted_tokens"),
        column("evicted_messages"),
        column("input_tokens") if "input_tokens" in read else tokens,
        column("prefix_tokens"),
        read.get("budget") or [None] * n,
        column("over_budget"),
    )


def binned(series: Series, most: int) -> Series:
    """At most `most` steps.

    >>> series = read_series({"user_tokens": [5, 9, 2], "evicted_tokens": [1, 2, 4]})
    >>> binned(series, 2).tokens, binned(series, 2).evicted
    ([9.0, 2.0], [3.0, 4.0])
    """
    size = -(-series.requests // most)
    if size <= 1:
        return series
    bins = [range(i, min(i + size, series.requests)) for i in range(0, series.requests, size)]
    peaks = [max(steps, key=lambda i: series.tokens[i]) for steps in bins]

    def summed(values: Sequence[float]) -> list[float]:
        return [sum(values[i] for i in steps) for steps in bins]

    return Series(
        series.requests,
        size,
        {name: [values[i] for i in peaks] for name, values in series.layers.items()},
        [series.tokens[i] for i in peaks],
        summed(series.evicted),
        summed(series.evicted_messages),
        summed(series.input),
        summed(series.prefix),
        [series.budget[i] for i in peaks],
        summed(series.over),
    )


def _sums(*columns: Sequence[float]) -> list[float]:
    return [sum(values) for values in zip(*columns)]
