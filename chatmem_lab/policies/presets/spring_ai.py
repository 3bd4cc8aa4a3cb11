"""Spring AI's chat memory: a message window of whole turns.

Source: Spring AI 2.0, read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.presets.naming import named_preset
from chatmem_lab.policies.rules import Preset, Rules
from chatmem_lab.window import KEEP, Revision, Window

__all__ = ["SpringAIMessageWindow", "spring_ai_message_window"]


@dataclass(frozen=True, repr=False)
class SpringAIMessageWindow(Policy):
    """Spring AI 2.0 ``MessageWindowChatMemory``: the cut moves on to the next user message."""

    max_messages: Annotated[int, Bounds(1)] = 20

    contract: ClassVar[Literal["strict", "loose"]] = "loose"
    segments: ClassVar[Literal["units", "messages"]] = "messages"
    asked_while_open: ClassVar[bool] = True

    def revise(self, window: Window) -> Revision:
        cut = len(window) - self.max_messages
        if cut <= 0:
            return KEEP
        others = [unit for unit in window.units if unit.role != "system"]
        while cut < len(others) and others[cut].role != "user":
            cut += 1
        return Revision(evict=tuple(others[:cut]), reason=f"over {self.max_messages:,} messages")


def spring_ai_message_window(
    max_messages: int = 20, *, first_request: Literal["window", "untrimmed"] = "window"
) -> Preset:
    """Spring AI's message window: whole turns leave, and all system messages stay.

    System messages count. One that is not there yet removes all others, an equal one is
    kept beside the first; `add_all` is one addition. A turn longer than the limit leaves
    nothing but the system messages until the next user message.

    Parameters
    ----------
    max_messages : int
    first_request : {"window", "untrimmed"}
        "untrimmed" as its advisor sends it: the window before, and the user message.

    Examples
    --------
    >>> spring_ai_message_window(10)
    spring_ai_message_window(10)
    """
    return named_preset(
        spring_ai_message_window,
        SpringAIMessageWindow(max_messages),
        Rules(
            blank="keep",
            orphan="keep",
            equal_system="keep",
            new_system="replace_all",
            batch="once",
            set_as="given",
            first_request=first_request,
        ),
        max_messages=max_messages,
        first_request=first_request,
    )
