"""The report: read as a browser would, with every number found again in the tables."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from chatmem_lab.messages import Conversation, assistant, system, tool_output, user
from chatmem_lab.messages.parts import ToolCall
from chatmem_lab.policies import KeepAll, Messages, MessageWindow, Summarize, TokenWindow
from chatmem_lab.report import report_html, write_report
from chatmem_lab.study import compare
from chatmem_lab.summarizers import Summary
from chatmem_lab.testing.length_counter import LengthCounter

EVIL = '"><script>alert(1)</script>'
VOID = {"br", "wbr", "meta"}


class First:
    """A summarizer that keeps how it began."""

    def summarize(self, request):
        return Summary(text=" ".join(m.text for m in request.messages)[:20])

    def __repr__(self):
        return "First()"


class Reader(HTMLParser):
    def __init__(self, source):
        super().__init__()
        self.open, self.tags, self.names, self.ids, self.texts = [], [], set(), [], []
        self.feed(source)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def conversation(id, turns, text="please look again"):
    messages = [system("Be brief and kind.")]
    for i in range(turns):
        messages += [
            user(f"{text} at order A-{i:03d}"),
            assistant(tool_calls=[ToolCall(f"c{i}", "lookup", f'{{"id": "A-{i:03d}"}}')]),
            tool_output(f"c{i}", f"A-{i:03d} was shipped on 2024-05-{i % 28 + 1:02d}" * 3),
            assistant("It is on its way."),
        ]
    return Conversation(id, tuple(messages))


def study_of(conversations, policies, **more):
    return compare(conversations, policies, counter=LengthCounter(), progress=False, **more)


@pytest.fixture(scope="module")
def study():
    conversations = [conversation(f"support-{i}", i + 2) for i in range(6)]
    conversations.append(conversation(f"long {EVIL}", 12, f"{EVIL} 中文 😀 $x$"))
    policies = {
        "KeepAll()": KeepAll(),
        f"tight {EVIL}": MessageWindow(4),
        "TokenWindow(900)": TokenWindow(900),
        "Summarize": Summarize(First(), trigger=Messages(8), keep=Messages(4)),
    }
    return study_of(conversations, policies)


@pytest.fixture(scope="module")
def source(study):
    return report_html(study)


@pytest.fixture(scope="module")
def report(source):
    return Reader(source)


def test_it_is_written_where_it_is_wanted(study, tmp_path):
    path = write_report(study, tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "report.html"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_it_works_offline_and_runs_nothing(report, source):
    assert not set(report.tags) & {"script", "img", "link", "iframe", "object", "foreignobject"}
    assert not report.names & {"src", "href"}
    assert not {name for name in report.names if name.startswith("on")}
    addresses = set(re.findall(r"https?://[^\"<> ]*", source))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)", source))


def test_hostile_text_stays_text(report):
    assert "<script>alert(1)</script>" in report.text


def test_ids_are_unique(report):
    assert len(report.ids) == len(set(report.ids))


def test_the_summary_is_that_of_the_study(report, study):
    for label, row in study.summary.iterrows():
        assert str(label) in report.text
        share = f"{row['prefix_share'] * 100:.0f} %"
        assert share in report.text
    assert f"{int(study.summary['requests'].iloc[0])} requests" in report.text


def test_the_conversation_with_most_evictions_is_shown_closely(report, study):
    worst = study.worst(n=1).iloc[0]
    assert worst["conversation"] == f"long {EVIL}"
    assert f"{worst['conversation']} under {worst['policy']}" in report.text
    assert f"Replay of {worst['conversation']}" in report.text
    heaviest = study.run(worst["conversation"], worst["policy"]).requests
    request = heaviest.loc[heaviest["evicted_tokens"].idxmax(), "request"]
    assert f"Window at request {request}" in report.text


def test_charts_are_there_for_both_themes(report):
    for name in ("quality", "map", "tokens"):
        for theme in ("light", "dark"):
            assert f"{name}-{theme}-t" in report.ids
    for words in (
        "What summaries keep, and what they cost",
        "Window map: messages by request",
        "Tokens per request, by role",
    ):
        assert words in report.text


def test_charts_leave_no_figure_behind(study):
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    report_html(study)
    assert plt.get_fignums() == before


def test_method_caveats_and_manifest(report, study):
    for words in ("Open loop", "Counts are lower bounds", "bootstrap", "prompt cache"):
        assert words in report.text
    manifest = study.manifest
    assert manifest["data_sha256"] in report.text
    assert manifest["pandas"] in report.text
    for label, policy in manifest["policies"].items():
        assert label in report.text
        assert policy in report.text


def test_scores_are_cut_and_it_says_so():
    many = study_of([conversation(f"c{i}", 1) for i in range(120)], [KeepAll(), MessageWindow(3)])
    found = Reader(report_html(many))
    assert "Left out here: 40 rows." in found.text


def test_counts_that_are_not_exact_say_so(study):
    one = Conversation("image", (user("what is it?", images=["https://x.test/a.png"]),
                                 assistant("a cat")))  # fmt: skip
    found = Reader(report_html(study_of(one, KeepAll())))
    assert "Counts are upper bounds" in found.text
    assert found.text.count("Counts are upper bounds") == 3


@pytest.mark.parametrize(
    "conversations",
    [
        [],
        [Conversation("empty")],
        [Conversation("no requests", (user("hi"),))],
        [Conversation("one", (user("hi"), assistant("Hello!")))],
    ],
)
def test_little_or_nothing_is_no_error(conversations):
    found = Reader(report_html(study_of(conversations, [KeepAll(), MessageWindow(2)])))
    assert "Method and caveats" in found.text


def test_a_title_of_one_s_own(study):
    assert "Mine &lt;b&gt;" in report_html(study, title="Mine <b>")


def test_the_same_study_gives_the_same_report(study, source):
    day = r"written on \d{4}-\d\d-\d\d"
    assert re.sub(day, "", report_html(study)) == re.sub(day, "", source)
