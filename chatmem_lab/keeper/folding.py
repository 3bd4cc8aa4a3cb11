"""Folding: a summarizer is called, and its answer judged, before anything changes."""

from __future__ import annotations

from dataclasses import dataclass

from chatmem_lab.messages import Message, SummaryOf, Text
from chatmem_lab.summarizers import Summary, SummaryRequest
from chatmem_lab.tokens import TokenCounter
from chatmem_lab.window import Revision, SummaryForm, Unit

__all__ = ["Folding", "fold"]


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


def fold(revision: Revision, counter: TokenCounter, session_id: str) -> Folding | None:
    """Call the revision's summarizer; None where there is nothing new to summarize.

    A failure of any kind changes nothing: an exception, an empty text, one that is longer
    than its limit or not smaller than what it replaces.
    """
    originals = [unit for unit in revision.fold if not unit.is_made]
    earlier = [unit for unit in revision.fold if unit.is_made]
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
        summary = revision.by.summarize(request)  # type: ignore[attr-defined]
        if not isinstance(summary, Summary):
            raise TypeError(f"summarize must return a Summary, not {type(summary).__name__}")
    except Exception as error:
        return Folding(originals, None, f"{type(error).__name__}: {error}", input_tokens, 0)
    text = (summary.text or "").strip()
    output_tokens = counter.count_text(text).tokens
    covered = _whole_units(originals, summary.covered)
    units = sorted([*earlier, *covered], key=lambda unit: unit.order)
    made = _message(form, text, summary, covered, earlier, repr(revision.by))
    failure = _failure(
        form, text, output_tokens, covered, units, counter.count_message(made).tokens
    )
    if summary.usage is not None:
        input_tokens = summary.usage.input_tokens or input_tokens
        output_tokens = summary.usage.output_tokens or output_tokens
    if failure:
        return Folding(originals, None, failure, input_tokens, output_tokens)
    return Folding(units, made, "", input_tokens, output_tokens)


def _failure(
    form: SummaryForm,
    text: str,
    tokens: int,
    covered: list[Unit],
    units: list[Unit],
    made_tokens: int,
) -> str:
    if not text:
        return "the summary is empty"
    if form.max_tokens is not None and tokens > form.max_tokens:
        return f"the summary has {tokens:,} tokens, the limit is {form.max_tokens:,}"
    if not covered:
        return "the summary covers no whole unit"
    replaced = sum(unit.tokens for unit in units)
    if made_tokens >= replaced:
        return f"the summary is not smaller: {made_tokens:,} tokens for {replaced:,}"
    return ""


def _message(
    form: SummaryForm,
    text: str,
    summary: Summary,
    covered: list[Unit],
    earlier: list[Unit],
    by: str,
) -> Message:
    before = [s for u in earlier if (s := u.slots[0].message.summary) is not None]
    positions = {p for unit in covered for p in unit.positions}
    positions.update(p for stands_for in before for p in stands_for.covered)
    return Message(
        form.role,
        (Text(text if text.startswith(form.prefix) else form.prefix + text),),
        summary=SummaryOf(
            covered=tuple(sorted(positions)),
            generation=1 + max((stands_for.generation for stands_for in before), default=0),
            by=by,
        ),
        generated=False,
        model=summary.model,
    )


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
