"""Widgets for notebooks: thin views over tables and pictures that work without them."""

from chatmem_lab.widgets.replay_player import ReplayPlayer

__all__ = ["ReplayPlayer"]
