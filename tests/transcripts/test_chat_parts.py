from chatmem_lab.messages import Audio, File, Image, Opaque, Refusal, Text
from chatmem_lab.transcripts.chat_parts import parts_of


def test_every_kind():
    parts, leftovers = parts_of(
        [
            {"type": "text", "text": ""},
            "plain",
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "image_url", "image_url": {"url": "data:,", "detail": "low"}},
            {"type": "image_url", "image_url": "https://example.org/b.png"},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
            {"type": "file", "file": {"file_id": "f1"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:,"}},
            {"type": "refusal", "refusal": "No."},
            {"type": "video_url", "video_url": {"url": "é"}},
        ]
    )
    assert parts == (
        Text(""),
        Text("plain"),
        Image("https://example.org/a.png"),
        Image("data:,", "low"),
        Image("https://example.org/b.png"),
        Audio("AA==", "wav"),
        File(file_id="f1"),
        File("a.pdf", "data:,"),
        Refusal("No."),
        Opaque("video_url", '{"type":"video_url","video_url":{"url":"é"}}'),
    )
    assert leftovers == {}


def test_what_is_not_modelled_is_left_over_by_place():
    item = {"type": "image_url", "image_url": {"url": "u", "size": 3}, "cache_control": {"a": 1}}
    parts, leftovers = parts_of(["x", item])
    assert parts == (Text("x"), Image("u"))
    assert leftovers == {"1": {"image_url": {"size": 3}, "cache_control": {"a": 1}}}
    assert item["cache_control"] == {"a": 1}
    assert "url" in item["image_url"]


def test_nothing_said():
    assert parts_of(None) == parts_of("") == parts_of([]) == ((), {})
