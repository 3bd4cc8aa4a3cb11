"""A revision is checked whole before any of it is applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chatmem_lab.errors import PolicyError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import Message
from chatmem_lab.policies import Policy
from chatmem_lab.window import Insert, Revision, Slot, Unit, Window

__all__ = ["check_revision"]


def check_revision(
    stage: Policy, revision: object, window: Window
) -> tuple[tuple[Unit, ...], tuple[Unit, ...], tuple[Unit, ...]]:
    """The units to evict, to fold, and those that were repaired.

    What cannot be applied is refused whatever the contract: units and slots of another
    window, the same unit twice, things that are none of these. A strict policy may not
    touch what is pinned, nor insert calls or results.

    Raises
    ------
    PolicyError
    """
    if not isinstance(revision, Revision):
        raise PolicyError(
            f"{stage!r}.revise must return a Revision, or KEEP, not {_shown(revision)}"
        )
    evict = _units(stage, "evict", revision.evict, window)
    fold = _units(stage, "fold", revision.fold, window)
    repaired = _units(stage, "repaired", revision.repaired, window)
    leaving = (*evict, *fold)
    if len({id(unit) for unit in leaving}) < len(leaving):
        raise PolicyError(f"{stage!r} named the same unit twice")
    _check_replace(stage, revision.replace, window)
    _check_insert(stage, revision.insert, window, {id(unit) for unit in leaving})
    if revision.replaced_as not in ("clear", "clamp"):
        raise PolicyError(
            f"{stage!r}: replaced_as must be clear or clamp, not {revision.replaced_as!r}"
        )
    if stage.contract == "strict":
        for unit in leaving:
            if window.is_pinned(unit) and not unit.is_made:
                raise PolicyError(
                    f"{stage!r} would evict {unit!r}, which is pinned: system and developer "
                    "messages and the newest unit always stay"
                )
        for insert in revision.insert:
            if insert.message.tool_calls or insert.message.role == "tool":
                raise PolicyError(f"{stage!r} may not insert tool calls or results")
    return evict, fold, repaired


def _units(stage: Policy, name: str, given: object, window: Window) -> tuple[Unit, ...]:
    if not given:
        return ()
    if not isinstance(given, Iterable):
        raise PolicyError(f"{stage!r}: {name} must be units, not {_shown(given)}")
    units = tuple(given)
    for unit in units:
        if not isinstance(unit, Unit) or not window.holds(unit):
            raise PolicyError(
                f"{stage!r}: {name} must name units of the window that it was shown, "
                f"not {_shown(unit)}"
            )
    return units


def _check_replace(stage: Policy, given: object, window: Window) -> None:
    if not isinstance(given, Mapping):
        raise PolicyError(f"{stage!r}: replace must map slots to messages, not {_shown(given)}")
    for slot, message in given.items():
        if (
            not isinstance(slot, Slot)
            or not isinstance(message, Message)
            or not window.holds_slot(slot)
        ):
            raise PolicyError(
                f"{stage!r}: replace must map slots of the window that it was shown to messages"
            )


def _check_insert(stage: Policy, given: object, window: Window, leaving: set[int]) -> None:
    if not isinstance(given, tuple | list):
        raise PolicyError(f"{stage!r}: insert must be a tuple of Insert, not {_shown(given)}")
    for insert in given:
        if not isinstance(insert, Insert) or not isinstance(insert.message, Message):
            raise PolicyError(f"{stage!r}: insert must be a tuple of Insert, not {_shown(insert)}")
        before = insert.before
        if before is not None and (
            not isinstance(before, Unit) or id(before) in leaving or not window.holds(before)
        ):
            raise PolicyError(f"{stage!r} inserts before a unit that is not in the window")


def _shown(given: object) -> str:
    return cut(repr(given), 200)
