import pytest

from chatmem_lab.messages import Usage
from chatmem_lab.transcripts.chat_usage import usage_of
from chatmem_lab.transcripts.fields import WrongField


@pytest.mark.parametrize(
    ("recorded", "usage", "rest"),
    [
        ({}, Usage(), {}),
        ({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}, Usage(3, 2), {}),
        (
            {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 9},
            Usage(3, 2),
            {"total_tokens": 9},
        ),
        (
            {
                "prompt_tokens": 30,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 16, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 12, "audio_tokens": 4},
            },
            Usage(30, 20, 16, None, 12),
            {"completion_tokens_details": {"audio_tokens": 4}},
        ),
        (
            {"input_tokens": 5, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 4}},
            Usage(5, 1, 4),
            {},
        ),
        (
            {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 100,
             "cache_creation_input_tokens": 20},
            Usage(125, 1, 100, 20),
            {},
        ),
        (
            {"prompt_tokens": 125, "completion_tokens": 1, "cache_read_input_tokens": 100,
             "cache_creation_input_tokens": 20, "prompt_tokens_details": {"cached_tokens": 100}},
            Usage(125, 1, 100, 20),
            {},
        ),
        (
            {"prompt_tokens": 125,
             "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 25}},
            Usage(125, None, 0, 25),
            {},
        ),
        ({"prompt_tokens": None, "prompt_tokens_details": None}, Usage(), {}),
        ({"prompt_tokens": None, "input_tokens": 5}, Usage(5), {}),
    ],
)  # fmt: skip
def test_spellings(recorded, usage, rest):
    assert usage_of(recorded) == (usage, rest)


@pytest.mark.parametrize("value", [True, "3", 3.5, -1, 2**64, [], {}])
def test_no_whole_number(value):
    with pytest.raises(WrongField, match="a whole number was expected"):
        usage_of({"prompt_tokens": value})
