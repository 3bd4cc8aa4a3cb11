"""The frameworks of the parity tests, and which of them are here."""

from __future__ import annotations

import tomllib
from importlib.util import find_spec
from pathlib import Path

__all__ = ["FRAMEWORKS", "here"]

with (Path(__file__).resolve().parent / "frameworks.toml").open("rb") as file:
    FRAMEWORKS: dict[str, dict[str, object]] = tomllib.load(file)


def here() -> list[str]:
    """The frameworks that can be imported in this environment."""
    return [name for name, f in FRAMEWORKS.items() if find_spec(str(f["imports"])) is not None]
