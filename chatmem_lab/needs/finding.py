"""`find_items`: every detector is asked, and each span of a text is counted once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from chatmem_lab.messages import Message
from chatmem_lab.needs.addresses import EMAIL, URL
from chatmem_lab.needs.dates import DATE
from chatmem_lab.needs.detector import Detector
from chatmem_lab.needs.identifiers import IDENTIFIER
from chatmem_lab.needs.item import Item
from chatmem_lab.needs.noise import NOISE
from chatmem_lab.needs.numbers import NUMBER
from chatmem_lab.needs.paths import PATH
from chatmem_lab.needs.plain_text import PlainText
from chatmem_lab.needs.quoted import QUOTED
from chatmem_lab.needs.times import TIME

__all__ = ["DETECTORS", "find_items", "items_of", "searched_text"]

#: The built-in detectors. Of finds of equal length the one that stands first here wins.
DETECTORS: tuple[Detector, ...] = (
    NOISE,
    URL,
    EMAIL,
    PATH,
    DATE,
    TIME,
    IDENTIFIER,
    NUMBER,
    QUOTED,
)

#: Longer texts are searched anew each time: a cache must not hold on to many of them.
_CACHED_LENGTH = 20_000


def find_items(text: str, detectors: Sequence[Detector] = DETECTORS) -> list[Item]:
    """The salient items of a text, in order, without overlap.

    Where finds overlap the longest wins; a quotation gives way to whatever it holds.

    Parameters
    ----------
    text : str
        In any script. JSON is read as it is: keys are no items, escapes are undone.
    detectors : sequence of Detector
        ``(*DETECTORS, mine)`` adds one.

    Examples
    --------
    >>> for item in find_items("Order A-117 was paid on May 12: 20 EUR, see /tmp/log.txt"):
    ...     print(item.kind, item.text, item.value, sep=" | ")
    identifier | A-117 | A-117
    date | May 12 | --05-12
    number | 20 EUR | 20
    path | /tmp/log.txt | /tmp/log.txt
    """
    chosen = tuple(detectors)
    return list((_find_cached if len(text) <= _CACHED_LENGTH else _find)(text, chosen))


def items_of(
    messages: Iterable[Message], detectors: Sequence[Detector] = DETECTORS
) -> list[list[Item]]:
    """The items of each message, in its text or the arguments of its calls.

    The spans are those in `searched_text` of the message.

    Examples
    --------
    >>> from chatmem_lab.messages import ToolCall, assistant, tool_output, user
    >>> call = ToolCall("call_1", "find", '{"order_id": "A-117"}')
    >>> messages = [user("hi"), assistant(tool_calls=[call]), tool_output("call_1", "20 EUR")]
    >>> [[item.text for item in items] for items in items_of(messages)]
    [[], ['A-117'], ['20 EUR']]
    """
    return [find_items(searched_text(message), detectors) for message in messages]


def searched_text(message: Message) -> str:
    r"""What of a message is searched: its text, then the arguments of each call, a line each.

    >>> from chatmem_lab.messages import ToolCall, assistant
    >>> searched_text(assistant("Let me see.", tool_calls=[ToolCall("call_1", "find", "{}")]))
    'Let me see.\n{}'
    """
    texts = [message.text, *(call.arguments for call in message.tool_calls)]
    return "\n".join(text for text in texts if text)


def _find(text: str, detectors: tuple[Detector, ...]) -> tuple[Item, ...]:
    plain = PlainText.of(text)
    finds = [
        (detector.yields, found.start - found.stop, rank, found)
        for rank, detector in enumerate(detectors)
        for found in detector.find(plain.text)
        if found.start < found.stop
    ]
    # Longest first, and those that yield last. A detector's own finds do not overlap, so all
    # lengths together are at most the text times the detectors: marking is linear.
    finds.sort(key=lambda find: find[:3])
    taken = bytearray(len(plain.text))
    items = []
    for _, minus_length, rank, found in finds:
        if taken.find(1, found.start, found.stop) >= 0:
            continue
        taken[found.start : found.stop] = b"\1" * -minus_length
        if detectors[rank].name:
            start, stop = plain.source(found.start), plain.source(found.stop)
            items.append(Item(detectors[rank].name, text[start:stop], found.value, start, stop))
    return tuple(sorted(items, key=lambda item: item.start))


_find_cached = lru_cache(maxsize=4096)(_find)
