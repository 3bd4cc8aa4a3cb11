"""`replay` one conversation, `compare` policies on many, `grid` their parameters."""

from chatmem_lab.study.comparing import Study, compare, grid
from chatmem_lab.study.replaying import Replay, replay

__all__ = ["Replay", "Study", "compare", "grid", "replay"]
