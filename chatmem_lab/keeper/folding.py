"""Folding: a summarizer is called, and its answer judged, before anything changes."""

from __future__ import annotations

from dataclasses import dataclass

from chatmem_lab.keeper.field_list import FieldsMissing, field_list
from chatmem_lab.messages import Message, SummaryOf, Text, Usage
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.summarizers import Summary, SummaryRequest
from chatmem_lab.tokens import TokenCounter
from chatmem_lab.window import Revision, Slot, SummaryForm, Unit

__all__ = ["Folding", "Shortened", "fold", "shorten"]


@dataclass(frozen=True)
class Folding:
    """What a summarizer gave: the message and the units that it replaces, or why not.

    `units` are those that were to be folded where it failed. The tokens are what the call
    is charged for, in any case.
    """

    units: list[Unit]
    made: Message | None
    failure: str
    input_tokens: int
    output_tokens: int


def fold(
    revision: Revision, counter: TokenCounter, session_id: str, *, is_strict: bool = True
) -> Folding | None:
    """Call the revision's summarizer; None where there is nothing new to summarize.

    A failure of any kind changes nothing: an exception, an answer that is none, an empty
    text, one that is longer than its limit or, if `is_strict`, not smaller than what it
    replaces.
    """
    earlier = [unit for unit in revision.fold if unit.is_made or unit.is_summary]
    originals = [unit for unit in revision.fold if unit not in earlier]
    if not originals:
        return None
    form = revision.form
    texts = [unit.slots[0].message.text.removeprefix(form.prefix) for unit in earlier]
    request = SummaryRequest(
        session_id=session_id,
        previous="\n\n".join(texts) if texts else None,
        messages=tuple(message for unit in originals for message in unit.messages),
        max_tokens=form.max_tokens,
        instructions=form.instructions,
    )
    input_tokens = sum(unit.tokens for unit in revision.fold)
    try:
        summary = _checked(revision.by.summarize(request))  # type: ignore[attr-defined]
    except Exception as error:
        return Folding(originals, None, _said(error), input_tokens, 0)
    text = normalised((summary.text or "").strip())
    output_tokens = counter.count_text(text).tokens
    if form.fields and text:
        try:
            text = field_list(text, request.previous, form.fields)
        except FieldsMissing as missing:
            return Folding(originals, None, str(missing), input_tokens, output_tokens)
    covered = _whole_units(originals, summary.covered)
    units = sorted([*earlier, *covered], key=lambda unit: unit.order)
    made = _message(form, text, summary, covered, earlier, repr(revision.by))
    failure = _failure(form, text, output_tokens, covered)
    if not failure and is_strict:
        failure = _not_smaller(units, counter.count_message(made).tokens)
    input_tokens, output_tokens = _charged(summary, input_tokens, output_tokens)
    if failure:
        return Folding(originals, None, failure, input_tokens, output_tokens)
    return Folding(units, made, "", input_tokens, output_tokens)


@dataclass(frozen=True)
class Shortened:
    """What a summarizer made of one message, or why nothing; and what that is charged."""

    slot: Slot
    message: Message | None
    failure: str
    input_tokens: int
    output_tokens: int


def shorten(slot: Slot, revision: Revision, counter: TokenCounter, session_id: str) -> Shortened:
    """Call the revision's summarizer for the content of `slot`; it must be smaller."""
    form = revision.form
    request = SummaryRequest(
        session_id=session_id,
        messages=(slot.message,),
        max_tokens=form.max_tokens,
        instructions=form.instructions,
    )
    try:
        summary = _checked(revision.by.summarize(request))  # type: ignore[attr-defined]
    except Exception as error:
        return Shortened(slot, None, _said(error), slot.tokens, 0)
    text = normalised((summary.text or "").strip())
    tokens = counter.count_text(text).tokens
    message = slot.message.with_text(text)
    failure = "" if summary.covered in (None, 1) else "the summary covers no whole message"
    if not text:
        failure = "the summary is empty"
    elif form.max_tokens is not None and tokens > form.max_tokens:
        failure = f"the summary has {tokens:,} tokens, the limit is {form.max_tokens:,}"
    elif counter.count_message(message).tokens >= slot.tokens:
        made = counter.count_message(message).tokens
        failure = f"the summary is not smaller: {made:,} tokens for {slot.tokens:,}"
    input_tokens, output_tokens = _charged(summary, slot.tokens, tokens)
    return Shortened(slot, None if failure else message, failure, input_tokens, output_tokens)


def _charged(summary: Summary, input_tokens: int, output_tokens: int) -> tuple[int, int]:
    """What the summarizer says that it used; else what was counted."""
    if summary.usage is None:
        return input_tokens, output_tokens
    used = summary.usage.input_tokens, summary.usage.output_tokens
    return (
        input_tokens if used[0] is None else used[0],
        output_tokens if used[1] is None else used[1],
    )


def _checked(summary: object) -> Summary:
    """A summarizer is anybody's code: its answer is looked at before it is used."""
    if not isinstance(summary, Summary):
        raise TypeError(f"summarize must return a Summary, not {type(summary).__name__}")
    if not isinstance(summary.text, str | None):
        raise TypeError(f"a summary's text is a str or None, not {type(summary.text).__name__}")
    if not isinstance(summary.model, str | None):
        raise TypeError(f"a summary's model is a str or None, not {type(summary.model).__name__}")
    usage = summary.usage
    if not isinstance(usage, Usage | None):
        raise TypeError(f"a summary's usage is a Usage or None, not {type(usage).__name__}")
    numbers = [summary.covered]
    if usage is not None:
        numbers += [usage.input_tokens, usage.output_tokens]
    for number in numbers:
        if number is not None and (type(number) is not int or not 0 <= number < 2**53):
            raise ValueError(f"a summary counts in whole numbers from 0, not {number!r}")
    return summary


def _said(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _failure(form: SummaryForm, text: str, tokens: int, covered: list[Unit]) -> str:
    if not text:
        return "the summary is empty"
    if form.max_tokens is not None and tokens > form.max_tokens:
        return f"the summary has {tokens:,} tokens, the limit is {form.max_tokens:,}"
    return "" if covered else "the summary covers no whole unit"


def _not_smaller(units: list[Unit], made_tokens: int) -> str:
    replaced = sum(unit.tokens for unit in units)
    if made_tokens < replaced:
        return ""
    return f"the summary is not smaller: {made_tokens:,} tokens for {replaced:,}"


def _message(
    form: SummaryForm,
    text: str,
    summary: Summary,
    covered: list[Unit],
    earlier: list[Unit],
    by: str,
) -> Message:
    before = [s for u in earlier if (s := u.slots[0].message.summary) is not None]
    ranges = [(p, p + 1) for unit in (*covered, *earlier) for p in unit.positions]
    # One that was added as a message counts positions of another history.
    made = [u.slots[0].message.summary for u in earlier if u.is_made]
    ranges += [pair for stands_for in made if stands_for is not None for pair in stands_for.ranges]
    return Message(
        form.role,
        (Text(text if text.startswith(form.prefix) else form.prefix + text),),
        summary=SummaryOf(
            ranges=_merged(ranges),
            generation=1 + max((stands_for.generation for stands_for in before), default=0),
            by=by,
        ),
        generated=False,
        model=summary.model,
    )


def _merged(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same positions in as few ranges as there can be."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return tuple(merged)


def _whole_units(units: list[Unit], covered: int | None) -> list[Unit]:
    """The oldest of `units` whose messages are all among the first `covered`."""
    if covered is None:
        return units
    whole: list[Unit] = []
    for unit in units:
        covered -= len(unit)
        if covered < 0:
            break
        whole.append(unit)
    return whole
