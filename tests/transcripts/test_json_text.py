import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.transcripts.json_text import BrokenJson, decode, mend_surrogates, split_values


@given(st.text(st.sampled_from(["\ud83d", "\ude00", "\\", "u", "d", "é", '"', "😀"]), max_size=12))
def test_mended_text_is_what_utf_16_says(text):
    # An independent way: through UTF-16, whose decoder replaces halves one by one.
    expected = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert decode(mend_surrogates(json.dumps(text).encode())) == expected


@given(st.lists(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3))))
def test_values_are_split_where_they_meet(values):
    line = " ".join(json.dumps(value, ensure_ascii=False) for value in values).encode()
    pieces = split_values(line)
    if len(values) < 2:
        assert pieces is None
    else:
        assert [json.loads(piece) for piece in pieces] == values


@pytest.mark.parametrize("line", [b"{} 3", b"{} x", b"{}{", b"\xff{}{}", b"[" * 9999])
def test_what_is_not_only_records_is_not_split(line):
    assert split_values(line) is None


def test_the_end_is_missing():
    for data in (b'{"a', b"[1,", b'{"a": 1'):
        with pytest.raises(BrokenJson) as caught:
            decode(data)
        assert caught.value.torn
    with pytest.raises(BrokenJson) as caught:
        decode(b"[1,}")
    assert not caught.value.torn
