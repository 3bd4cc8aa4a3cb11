"""`retention_of`: the share of the salient items of some texts that a summary still holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from chatmem_lab.needs import DETECTORS, Detector, Holder, Item, find_items

__all__ = ["Retention", "retention_of"]


@dataclass(frozen=True)
class Retention:
    """Which items of the source a summary kept, and which it lost.

    Parameters
    ----------
    kept, lost : tuple of Item
        Each distinct item once, in the order of the source, as it is first written there.
    """

    kept: tuple[Item, ...] = ()
    lost: tuple[Item, ...] = ()

    @property
    def share(self) -> float | None:
        """Kept items of all; None where the source has none."""
        items = len(self.kept) + len(self.lost)
        return len(self.kept) / items if items else None

    @cached_property
    def by_kind(self) -> dict[str, Retention]:
        """The same for each kind of item that the source has, by name.

        >>> found = retention_of(["Order A-117 costs 20 EUR."], "A-117")
        >>> {kind: part.share for kind, part in found.by_kind.items()}
        {'identifier': 1.0, 'number': 0.0}
        """
        kinds = sorted({item.kind for item in (*self.kept, *self.lost)})
        return {
            kind: Retention(
                tuple(item for item in self.kept if item.kind == kind),
                tuple(item for item in self.lost if item.kind == kind),
            )
            for kind in kinds
        }


def retention_of(
    source: str | Iterable[str],
    summary: str,
    *,
    detectors: Sequence[Detector] = DETECTORS,
) -> Retention:
    """What a summary keeps of the items of its source.

    Two spellings of the same thing are one item. An item is kept where the summary says the
    same value (``$1,200.00`` for ``1200``), or, unless it is a number, date or time, holds it
    as a whole word. A lexical measure: that an item is there does not show that it is said of
    the right thing.

    Parameters
    ----------
    source : str or iterable of str
        The texts that the summary stands for.
    summary : str
    detectors : sequence of Detector
        What counts as an item.

    Returns
    -------
    Retention
        Its `share` is None where the source has no items.

    Examples
    --------
    >>> source = ["Order A-117 costs 20 EUR.", "It left on May 12."]
    >>> found = retention_of(source, "A-117 left May 12")
    >>> found.share, [item.text for item in found.lost]
    (0.6666666666666666, ['20 EUR'])
    """
    texts = [source] if isinstance(source, str) else source
    distinct: dict[str, Item] = {}
    for text in texts:
        for item in find_items(text, detectors):
            distinct.setdefault(item.value, item)
    holder = Holder(summary, detectors)
    kept: list[Item] = []
    lost: list[Item] = []
    for item in distinct.values():
        (kept if holder.holds(item) else lost).append(item)
    return Retention(tuple(kept), tuple(lost))
