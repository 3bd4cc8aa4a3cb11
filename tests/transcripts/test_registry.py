"""Which formats there are, and how one is told from the content."""

import json

import pytest

import chatmem_lab as cml
from chatmem_lab.corpora import read
from chatmem_lab.errors import TranscriptError
from chatmem_lab.transcripts.registry import FORMATS

SAMPLES = {
    "openai_chat": b'[{"role": "user", "content": "hi"}]',
    "own": b'{"format":1,"id":"c"}\n',
    "recorded": b'{"recorded":1,"id":"a","at":"2026-03-01T09:30:00Z",'
    b'"new":[{"role":"assistant"}]}',
    "swe_agent": b'{"history": [{"role": "user", "content": "hi", "agent": "main"}]}',
    "tau_bench": b'[{"task_id": 1, "traj": [{"role": "user", "content": "hi"}]}]',
}


def test_the_formats():
    assert list(cml.formats()) == ["openai_chat", "own", "recorded", "swe_agent", "tau_bench"]
    assert all(cml.formats().values())
    assert {format.name for format in FORMATS} == set(SAMPLES)


@pytest.mark.parametrize("name", SAMPLES)
def test_content_tells_the_format_whatever_the_file_is_called(name, tmp_path):
    for called in ("own.jsonl", "x.traj", "tau.csv", "noending"):
        path = tmp_path / called
        path.write_bytes(SAMPLES[name])
        assert [r.format for r in read(path).report.read] == [name]


def test_none_says_what_was_looked_for():
    with pytest.raises(TranscriptError) as caught:
        read(b'{"a": 1}')
    assert "has no format that is known" in str(caught.value)
    for format in FORMATS:
        assert format.looks_for in str(caught.value)


def test_two_candidates_are_no_guess_and_format_decides():
    messages = [{"role": "user", "content": "hi"}]
    data = json.dumps({"messages": messages * 2, "history": messages}).encode()
    with pytest.raises(TranscriptError, match="could be openai_chat and swe_agent: say which"):
        read(data)
    assert [len(c) for c in read(data, format="openai_chat")] == [2]
    assert [len(c) for c in read(data, format="swe_agent")] == [1]


@pytest.mark.parametrize("lenient", [False, True])
def test_an_unknown_format(lenient):
    with pytest.raises(TranscriptError) as caught:
        read(SAMPLES["own"], format="openai-chat", lenient=lenient)
    assert str(caught.value) == (
        "there is no format 'openai-chat'. Did you mean 'openai_chat'? "
        "There are: openai_chat, own, recorded, swe_agent, tau_bench"
    )


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_wrong_format_is_an_error_or_a_reading_and_nothing_else(format, sample):
    for lenient in (False, True):
        try:
            read(SAMPLES[sample], format=format, lenient=lenient)
        except TranscriptError:
            assert format != sample


def test_other_real_files_are_not_recognised(transcripts):
    others = ["fastchat", "claude-code", "cline", "inspect-ai", "crosswoz", "openai-agents"]
    files = [path for name in others for path in (transcripts / name).rglob("*") if path.is_file()]
    assert len(files) > 15
    for path in files:
        with pytest.raises(TranscriptError):
            read(path)


@pytest.mark.parametrize("name", ["openai_chat", "swe_agent", "tau_bench"])
def test_a_format_that_is_named_reads_a_document_over_many_lines(name):
    data = json.dumps(json.loads(SAMPLES[name]), indent=2).encode()
    assert data.count(b"\n") > 3
    assert list(read(data, format=name)) == list(read(SAMPLES[name], format=name))
    assert [len(c) for c in read(data, format=name)] == [1]


def test_a_yaml_demonstration_whose_format_is_named():
    data = b"history:\n- role: user\n  content: hi\n"
    assert [m.text for c in read(data, format="swe_agent") for m in c.messages] == ["hi"]


@pytest.mark.parametrize(
    ("second", "what"),
    [
        ({"content": "x"}, "[1].role: one of"),
        ({"role": "owl", "content": "x"}, "[1].role: one of"),
        (5, "[1]: an object was expected, not a number"),
    ],
)
def test_a_list_stays_chat_when_one_message_is_wrong(second, what):
    messages = [{"role": "user", "content": "x"}, second]
    for record, path in ((messages, ""), ({"messages": messages}, "messages")):
        with pytest.raises(TranscriptError) as caught:
            read(json.dumps(record).encode())
        assert caught.value.what.startswith(path + what)


def test_items_of_other_providers_among_messages_are_no_chat():
    messages = [{"role": "user", "content": "x"}, {"type": "function_call", "call_id": "c"}]
    with pytest.raises(TranscriptError, match="has no format that is known"):
        read(json.dumps(messages).encode())
