"""`KeyFields`: goal, done, pending, decisions, errors and files, without a model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message
from chatmem_lab.needs import find_items
from chatmem_lab.summarizers.cutting import cut
from chatmem_lab.summarizers.summarizer import Summary, SummaryRequest

__all__ = ["KeyFields"]

_ERROR = re.compile(r"^\s*(?:\w*(?:Error|Exception)\b|error\b|traceback\b|fatal\b|failed\b)", re.I)
_DECISION = re.compile(
    r"\b(?:decid\w+|chose|chosen|choose|will|going to|instead of|use|using|agreed)\b", re.I
)
_SENTENCE = re.compile(r"[^.!?\n。！？]+[.!?。！？]?")
#: The newest of a field; what is older makes room.
_MOST = 8


@dataclass(frozen=True, repr=False)
class KeyFields:
    """Fill the fields of a `StructuredSummary` by rules, without a model.

    goal: the first user message. pending: the latest one. done: calls whose result is no
    error. errors: results that are one, or begin like one. files: paths in the arguments of
    calls. decisions: sentences of the assistant with words such as "decide", "use", "will".
    Of done, decisions, errors and files the newest eight; those of the summary before count
    as older. The answer is a JSON object.

    Parameters
    ----------
    max_chars : int
        Of one item.

    Examples
    --------
    >>> from chatmem_lab.messages import assistant, user
    >>> talk = (user("Find the bug in app.py."), assistant("I will use the debugger."))
    >>> print(KeyFields().summarize(SummaryRequest(messages=talk)).text)
    {"goal": ["Find the bug in app.py."], "pending": ["Find the bug in app.py."],
     "decisions": ["I will use the debugger."]}
    """

    max_chars: int = 200

    def __post_init__(self) -> None:
        if type(self.max_chars) is not int or self.max_chars < 1:
            raise PolicyError(
                f"KeyFields: max_chars must be a whole number, at least 1, not {self.max_chars!r}"
            )

    def __repr__(self) -> str:
        return f"KeyFields({self.max_chars:_})"

    def summarize(self, request: SummaryRequest) -> Summary:
        """The fields of ``request.messages`` as a JSON object; failed where there are none."""
        messages = request.messages
        said = [m.text for m in messages if m.role == "user" and m.text.strip()]
        earlier = _earlier(request.previous)
        fields = {
            "goal": earlier.get("goal") or said[:1],
            "done": [*earlier.get("done", []), *_done(messages)],
            "pending": said[-1:] or earlier.get("pending", []),
            "decisions": [*earlier.get("decisions", []), *_decisions(messages)],
            "errors": [*earlier.get("errors", []), *_errors(messages)],
            "files": [*earlier.get("files", []), *_files(messages)],
        }
        found = {name: self._newest(items) for name, items in fields.items() if items}
        return Summary(text=json.dumps(found, ensure_ascii=False) if found else None)

    def _newest(self, items: Iterable[str]) -> list[str]:
        lines = [cut(" ".join(item.split()), self.max_chars) for item in items]
        return list(dict.fromkeys(reversed(lines)))[:_MOST][::-1]


def _earlier(previous: str | None) -> dict[str, list[str]]:
    """The fields of the summary before, in the form that `StructuredSummary` keeps them."""
    fields: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (previous or "").splitlines():
        if line.startswith("- "):
            current.append(line[2:])
        elif ":" in line:
            name, _, rest = line.partition(":")
            current = fields.setdefault(name.strip(), [])
            if rest.strip():
                current.append(rest.strip())
    return fields


def _results(messages: Sequence[Message]) -> Iterator[tuple[str, str, Message]]:
    """Each answered call: its name, its arguments and its result."""
    results = {m.tool_call_id: m for m in messages if m.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            if call.id in results:
                yield call.name, call.arguments, results[call.id]


def _is_error(message: Message) -> bool:
    return message.is_error or bool(_ERROR.match(message.text))


def _done(messages: Sequence[Message]) -> list[str]:
    return [
        f"{name}({arguments})"
        for name, arguments, result in _results(messages)
        if not _is_error(result)
    ]


def _errors(messages: Sequence[Message]) -> list[str]:
    return [
        f"{name}: {next(filter(str.strip, result.text.splitlines()), 'error')}"
        for name, _, result in _results(messages)
        if _is_error(result)
    ]


def _files(messages: Sequence[Message]) -> list[str]:
    return [
        item.text
        for message in messages
        for call in message.tool_calls
        for item in find_items(call.arguments)
        if item.kind == "path"
    ]


def _decisions(messages: Sequence[Message]) -> list[str]:
    return [
        sentence.strip()
        for message in messages
        if message.role == "assistant"
        for sentence in _SENTENCE.findall(message.text)
        if _DECISION.search(sentence)
    ]
