"""`Pinned`: what a user's rule says never leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Conversation, Message
from chatmem_lab.policies.policy import Policy
from chatmem_lab.policies.wrapped import Wrapped, check_inner

__all__ = ["Pinned"]


@dataclass(frozen=True, repr=False)
class Pinned(Wrapped):
    """`policy`, with units pinned that hold a message for which `when` is true.

    They are never evicted nor folded, by no stage of a chain; `policy` makes room among the
    others. A message is judged by what the window shows of it. Strands' and Letta's pinned
    messages, by a rule in the place of a list.

    Parameters
    ----------
    policy : Policy
    when : callable
        From a `Message` to whether it is pinned.

    Examples
    --------
    >>> from chatmem_lab.policies import TokenWindow
    >>> def is_wish(message):
    ...     return message.role == "user" and "always" in message.text
    >>> Pinned(TokenWindow(8_000), when=is_wish)
    Pinned(TokenWindow(8_000), when=is_wish)
    """

    policy: Policy
    _: KW_ONLY
    when: Callable[[Message], bool]

    exported = False

    def __post_init__(self) -> None:
        check_inner("Pinned", self.policy)
        if not callable(self.when):
            raise PolicyError(f"Pinned: when must be a function of a message, not {self.when!r}")

    @property
    def pins(self) -> Callable[[Message], bool]:
        inner = self.policy.pins

        def rule(message: Message) -> bool:
            return self._is_pinned(message) or (inner is not None and inner(message))

        return rule

    def _is_pinned(self, message: Message) -> bool:
        try:
            return bool(self.when(message))
        except Exception as error:
            raise PolicyError(
                f"{self!r}: {type(error).__name__} for the message {message.text[:60]!r}: {error}"
            ) from error

    @property
    def stages(self) -> tuple[Policy, ...]:
        return self.policy.stages

    def begin(self, conversation: Conversation | None) -> Policy:
        return Pinned(self.policy.begin(conversation), when=self.when)

    def __repr__(self) -> str:
        name = getattr(self.when, "__qualname__", repr(self.when)).rpartition(".")[2]
        return f"Pinned({self.policy!r}, when={name})"
