"""`replay`, `compare` and `grid`, by hand and against each other."""

from __future__ import annotations

from html.parser import HTMLParser

import msgspec
import pandas as pd
import pytest

from chatmem_lab.engine import Trace
from chatmem_lab.errors import PolicyError, UnknownModelError
from chatmem_lab.messages import Conversation, assistant, user
from chatmem_lab.policies import (
    KeepAll,
    Messages,
    MessageWindow,
    Preset,
    Rules,
    Summarize,
    TokenWindow,
    presets,
)
from chatmem_lab.study import compare, grid, replay
from chatmem_lab.summarizers import Truncate
from chatmem_lab.testing.length_counter import LengthCounter
from replaying import chat


class CountingCounter(LengthCounter):
    """Says how often each text was counted."""

    def __init__(self):
        super().__init__()
        self.counted = []

    def count_messages(self, messages):
        self.counted.extend(messages)
        return super().count_messages(messages)


def short(id="short", letters="suaua"):
    return Conversation(id, tuple(chat(letters)))


@pytest.fixture
def study():
    conversations = [short(f"c{i}", "s" + "ua" * (i + 1)) for i in range(100)]
    policies = [
        KeepAll(),
        MessageWindow(3),
        Summarize(Truncate(40), trigger=Messages(6), keep=Messages(2)),
    ]
    return compare(conversations, policies, counter=LengthCounter(), progress=False)


def test_a_study_holds_the_same_replays_as_replay(study):
    run = study.run("c7", "MessageWindow(3)")
    alone = replay(run.conversation, MessageWindow(3), counter=LengthCounter())
    pd.testing.assert_frame_equal(run.requests, alone.requests)
    pd.testing.assert_frame_equal(run.events, alone.events)
    pd.testing.assert_frame_equal(run.map, alone.map)


def test_each_message_is_counted_once_whatever_the_number_of_policies():
    counter = CountingCounter()
    conversations = [short(f"c{i}") for i in range(70)]
    compare(conversations, grid(MessageWindow, max_messages=[1, 2, 3]), counter=counter)
    assert len(counter.counted) == 70 * 5


def test_scores_have_a_row_per_conversation_and_policy(study):
    assert len(study.scores) == 100 * 3
    by_hand = study.requests.groupby(["policy", "conversation"], sort=False)
    sums = by_hand["input_tokens"].sum().reset_index(drop=True)
    assert study.scores["input_tokens"].tolist() == sums.tolist()
    peaks = by_hand["input_tokens"].max().reset_index(drop=True)
    assert study.scores["peak_tokens"].tolist() == peaks.tolist()


def test_summary_worst_validity_and_manifest(study):
    assert study.summary.index.tolist() == list(study.policies)
    assert study.summary.loc["KeepAll()", "evicted_messages"] == 0
    worst = study.worst("evicted_messages", n=1)
    assert worst["conversation"].tolist() == ["c99"]
    assert study.validity["requests"].tolist() == [5050] * 3
    manifest = study.manifest
    assert manifest["conversations"] == 100
    assert manifest["counter"] == ["one token a character"]
    assert len(manifest["data_sha256"]) == 64
    with pytest.raises(KeyError, match="scores have no column 'cost'"):
        study.worst("cost")


def test_what_is_not_there_is_named(study):
    with pytest.raises(KeyError, match="no conversation has the id 'x': the first ones are"):
        study.run("x", "KeepAll()")
    with pytest.raises(KeyError, match=r"no policy is labelled 'x': there are \['KeepAll"):
        study.run("c1", "x")


def test_labels():
    study = compare(short(), {"all": KeepAll(), "two": MessageWindow(2)}, counter=LengthCounter())
    assert study.scores["policy"].tolist() == ["all", "two"]
    with pytest.raises(PolicyError, match="is there twice: give labels"):
        compare(short(), [KeepAll(), KeepAll()])
    with pytest.raises(PolicyError, match="needs at least one policy"):
        compare(short(), [])
    with pytest.raises(PolicyError, match="policy_from"):
        compare(short(), [lambda messages: messages])


def test_labels_that_are_one_as_text_lose_no_policy():
    with pytest.raises(PolicyError, match="the same label twice: '1'"):
        compare(short(), {1: KeepAll(), "1": MessageWindow(2)}, counter=LengthCounter())


def test_conversations_with_one_id_are_both_kept_and_taken_by_their_place():
    twins = [short("x", "sua"), short("y", "sua"), short("x", "suauaua")]
    study = compare(twins, KeepAll(), counter=LengthCounter(), progress=False)
    assert study.scores["requests"].tolist() == [1, 1, 3]
    assert study.run("y", "KeepAll()").conversation == twins[1]
    assert study.run(2, "KeepAll()").conversation == twins[2]
    with pytest.raises(KeyError, match=r"'x' stands for 2 conversations.*run\(0, .*run\(2, "):
        study.run("x", "KeepAll()")
    for place in (3, -1):
        with pytest.raises(KeyError, match=f"no conversation {place}: there are 3"):
            study.run(place, "KeepAll()")


def test_halves_of_surrogate_pairs_in_names_crash_nothing():
    half, whole = "a\ud800b", "a\ufffdb"
    messages = (user("hi"), msgspec.structs.replace(assistant("ho"), model=half))
    conversation = Conversation(half, messages, model=half)
    study = compare(
        conversation, {half: MessageWindow(1)}, model=half, counter=LengthCounter(), progress=False
    )
    assert study.scores[["conversation", "policy"]].values.tolist() == [[whole, whole]]
    assert study.summary.index.tolist() == study.validity.index.tolist() == [whole]
    assert len(study.summaries) == 0
    run = study.run(half, half)
    assert study.run(whole, whole).conversation == run.conversation
    alone = replay(conversation, MessageWindow(1), counter=LengthCounter())
    for made in (study, run, alone):
        assert set(made.requests["conversation"]) == {whole}
        assert whole in made.requests["model"].tolist()
        made._repr_html_().encode()
        repr(made).encode()
    for made in (run, alone):
        assert set(made.map["conversation"]) == {whole}
        made.window(0)._repr_html_().encode()
    assert conversation.id == half


def test_long_ids_are_cut_where_they_are_shown():
    long = "x" * 10_000
    study = compare(short(long), {long: KeepAll()}, counter=LengthCounter(), progress=False)
    run = study.run(long, long)
    assert repr(run).startswith(f"<Replay of '{'x' * 78}… under KeepAll(): 2 requests")
    for wrong in ((long + "y", long), (long, long + "y"), (long, "z"), ("z", long)):
        with pytest.raises(KeyError) as error:
            study.run(*wrong)
        assert len(str(error.value)) < 300


def test_no_conversations_is_an_empty_study():
    study = compare([], KeepAll(), counter=LengthCounter())
    assert len(study.scores) == 0
    assert len(study.summary) == 0
    assert len(study.requests) == 0


def test_models():
    plain = Conversation("x", (user("hi"), assistant("ho")))
    assert replay(plain, KeepAll()).requests["count_kind"].tolist() == ["estimate"]
    assert replay(plain, KeepAll(), model="gpt-5").requests["count_kind"].tolist() == ["exact"]
    unknown = Conversation("x", plain.messages, model="no-such-model")
    with pytest.raises(UnknownModelError, match="no-such-model"):
        replay(unknown, KeepAll())
    assert replay(unknown, KeepAll(), model="gpt-5").model == "gpt-5"


def test_one_conversation_is_wanted_by_replay():
    with pytest.raises(TypeError, match="one Conversation, not list"):
        replay([short()], KeepAll())


def test_presets_go_wherever_a_policy_goes():
    study = compare(
        short(),
        [presets.langchain4j_message_window(2), Preset(KeepAll(), Rules(new_system="keep"))],
        counter=LengthCounter(),
    )
    assert study.scores["peak_tokens"].tolist() == [2 * 2 + 3, 4 * 2 + 3]


def test_grid():
    assert grid(TokenWindow, max_tokens=[10, 20], low=[5, None]) == [
        TokenWindow(10, low=5),
        TokenWindow(10),
        TokenWindow(20, low=5),
        TokenWindow(20),
    ]


def test_windows_of_a_run():
    run = replay(short(), MessageWindow(2), counter=LengthCounter())
    assert [m.text for m in run.window(1).messages] == ["0", "2", "3"]
    assert run.window(1).absent_messages == 1
    assert run.window(1).prefix_tokens == 2
    assert [m.text for m in run.final.messages] == ["0", "3", "4"]
    with pytest.raises(IndexError, match="no request 9: 'short' has 2 requests, 0 to 1"):
        run.window(9)


class Texts(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def test_everything_draws_itself_escaped(study):
    hostile = Conversation("<script>alert(1)</script>", tuple(chat("sua")))
    run = replay(hostile, MessageWindow(2), counter=LengthCounter())
    for shown in (run, run.window(0), hostile, study):
        page = Texts(shown._repr_html_())
        assert "script" not in page.tags
        assert page.text.strip()
    assert "<script>alert(1)" in Texts(run._repr_html_()).text


def test_the_trace_has_a_column_for_each_figure():
    assert {"prefix_tokens", "faults", "over_budget"} <= {*Trace.__struct_fields__}


def test_a_manifest_of_halves_of_characters():
    broken = Conversation("x", (user("a\ud800"), assistant("b")))
    study = compare(broken, KeepAll(), counter=LengthCounter())
    whole = compare(
        Conversation("x", (user("a"), assistant("b"))), KeepAll(), counter=LengthCounter()
    )
    assert len(study.manifest["data_sha256"]) == 64
    assert study.manifest["data_sha256"] != whole.manifest["data_sha256"]
