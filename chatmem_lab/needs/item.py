"""`Item`: something in a text that a later reply may need word for word."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Item"]


class Item(Struct, frozen=True, gc=False):
    """A salient item, and where it stands.

    Parameters
    ----------
    kind : str
        The name of the detector that found it: ``number``, ``identifier``, ``path``, ``url``,
        ``email``, ``date``, ``time``, ``quoted``, or a name of the user's own.
    text : str
        As it is written.
    value : str
        As it is compared: two spellings of the same thing have the same value.
    start, stop : int
        Its span: ``searched[start:stop] == item.text``.

    Examples
    --------
    >>> from chatmem_lab.needs import find_items
    >>> [item] = find_items("It costs $1,200.00.")
    >>> item.kind, item.text, item.value
    ('number', '$1,200.00', '1200')
    """

    kind: str
    text: str
    value: str
    start: int
    stop: int
