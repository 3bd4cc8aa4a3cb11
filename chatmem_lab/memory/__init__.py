"""The chat memory: facts in, a window out."""

from chatmem_lab.memory.chat_memories import ChatMemories, SessionInfo
from chatmem_lab.memory.chat_memory import ChatMemory
from chatmem_lab.memory.snapshot import Snapshot

__all__ = ["ChatMemories", "ChatMemory", "SessionInfo", "Snapshot"]
