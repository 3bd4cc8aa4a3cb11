"""`AppendSegments` by hand."""

from __future__ import annotations

import pytest

import chatmem_lab as cml
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import assistant, system, user
from chatmem_lab.policies import AppendSegments, Messages, Share, Tokens
from recording_summarizer import Recording
from replaying import kept, trace_of


def talk(turns):
    return [
        system("S"),
        *(m for i in range(turns) for m in (user(f"q{i} " * 9), assistant(f"a{i} " * 9))),
    ]


def test_each_fold_is_a_segment_behind_the_ones_before():
    summarizer = Recording(lambda request: f"{len(request.messages)} messages")
    policy = AppendSegments(summarizer, segment=Messages(3), keep=Messages(2))
    assert kept(talk(5), policy) == [0, None, None, 7, 8, 9, 10]
    trace = trace_of(talk(5), policy)
    window = trace.window(-1)
    assert [s.message.summary.covered for s in window.slots if s.position is None] == [
        (1, 2, 3),
        (4, 5, 6),
    ]
    assert {s.message.summary.generation for s in window.slots if s.position is None} == {1}


def test_no_segment_is_ever_shown_to_the_summarizer():
    summarizer = Recording("s")
    trace_of(talk(12), AppendSegments(summarizer, segment=Messages(4), keep=Messages(2)))
    assert len(summarizer.requests) >= 4
    assert {request.previous for request in summarizer.requests} == {None}
    shown = [m for request in summarizer.requests for m in request.messages]
    assert shown == talk(12)[1 : 1 + len(shown)]


def test_a_failed_segment_changes_nothing():
    policy = AppendSegments(Recording(TimeoutError), segment=Messages(3), keep=Messages(2))
    trace = trace_of(talk(3), policy)
    assert [s.position for s in trace.window(-1).slots] == list(range(7))
    assert {e.kind for e in trace.events} == {"summarize_failed"}


def test_a_share_has_nothing_to_be_a_share_of():
    with pytest.raises(PolicyError, match="keep is a share"):
        AppendSegments(Recording(), keep=Share(0.5))


def test_on_a_recorded_run_the_prefix_up_to_the_newest_segment_never_breaks():
    conversation = cml.datasets.load("planning")[0]
    policies = {
        "segments": AppendSegments(cml.Truncate(200), segment=Tokens(1_200), keep=Tokens(1_000)),
        "rolling": cml.Summarize(cml.Truncate(200), trigger=Tokens(2_200), keep=Tokens(1_000)),
    }
    study = cml.compare([conversation], policies, model="gpt-4o")
    run = study.run(0, "segments")
    made = []
    for request in range(len(run.requests)):
        shown = [s.message for s in run.window(request).slots if s.position is None]
        assert shown[: len(made)] == made
        made = shown
    assert len(made) >= 3
    shares = study.summary["prefix_share"]
    assert shares["segments"] > shares["rolling"] - 0.05
