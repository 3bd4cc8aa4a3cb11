"""Salient items of a text (numbers, identifiers, paths, dates …), and the detectors of them."""

from chatmem_lab.needs.detector import Detector, Found
from chatmem_lab.needs.finding import DETECTORS, find_items, items_of, searched_text
from chatmem_lab.needs.holder import Holder
from chatmem_lab.needs.item import Item

__all__ = [
    "DETECTORS",
    "Detector",
    "Found",
    "Holder",
    "Item",
    "find_items",
    "items_of",
    "searched_text",
]
