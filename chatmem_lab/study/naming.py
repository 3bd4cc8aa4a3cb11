"""Labels and ids: none is lost, none is endless, each holds whole characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from chatmem_lab.errors import PolicyError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import Conversation
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.policies import Policy, Preset, split_preset

__all__ = ["AnyPolicy", "labelled", "listed", "short", "with_whole_names"]

AnyPolicy = Policy | Preset


def labelled(
    policies: AnyPolicy | Sequence[AnyPolicy] | Mapping[str, AnyPolicy],
) -> dict[str, AnyPolicy]:
    """Each policy by its label; its recipe where none was given.

    Raises
    ------
    PolicyError
        Without policies, with the same label twice, or with something that is no policy.
    """
    if isinstance(policies, Mapping):
        found = {}
        for key, policy in policies.items():
            label = normalised(str(key))
            if label in found:
                raise PolicyError(
                    f"the same label twice: {short(label)} (labels are compared as text)"
                )
            found[label] = policy
    else:
        many = [policies] if isinstance(policies, Policy | Preset) else list(policies)
        found = {}
        for policy in many:
            label = normalised(repr(policy))
            if label in found:
                raise PolicyError(
                    f"{policy!r} is there twice: give labels, {{'a': policy, 'b': policy}}"
                )
            found[label] = policy
    if not found:
        raise PolicyError("compare needs at least one policy")
    for policy in found.values():
        split_preset(policy)
    return found


def with_whole_names(conversation: Conversation) -> Conversation:
    """The same conversation; no table holds the half of a surrogate pair in an id or a model."""
    changed: dict[str, Any] = {}
    for name in ("id", "model"):
        text = getattr(conversation, name)
        if text is not None and normalised(text) != text:
            changed[name] = normalised(text)
    models = {m.model for m in conversation.messages if m.model is not None}
    if any(normalised(model) != model for model in models):
        changed["messages"] = tuple(
            m if m.model is None else msgspec.structs.replace(m, model=normalised(m.model))
            for m in conversation.messages
        )
    return msgspec.structs.replace(conversation, **changed) if changed else conversation


def short(name: object) -> str:
    """A name for an error: quoted, and cut where it is endless."""
    return cut(repr(name), 80)


def listed(names: Iterable[str]) -> str:
    """Names for an error."""
    return f"[{', '.join(map(short, names))}]"
