"""Windows as frameworks have them that put all results of one answer into one message."""

from __future__ import annotations

from collections.abc import Sequence

from chatmem_lab.messages import INSTRUCTION_ROLES
from chatmem_lab.window import Unit, Window

__all__ = ["Group", "grouped_results", "is_result"]

#: One message of such a framework.
Group = tuple[Unit, ...]


def grouped_results(window: Window) -> list[Group]:
    """All but instructions, with results that follow one another together."""
    groups: list[list[Unit]] = []
    for unit in window.units:
        if unit.role in INSTRUCTION_ROLES:
            continue
        if unit.role == "tool" and groups and groups[-1][0].role == "tool":
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return [tuple(group) for group in groups]


def is_result(group: Sequence[Unit]) -> bool:
    """Whether it is results of an answer."""
    return group[0].role == "tool"
