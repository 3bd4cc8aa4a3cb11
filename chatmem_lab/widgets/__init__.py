"""Widgets for notebooks: thin views over tables and pictures that work without them."""

from chatmem_lab.widgets.replay_player import ReplayPlayer
from chatmem_lab.widgets.session_browser import SessionBrowser

__all__ = ["ReplayPlayer", "SessionBrowser"]
