import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from chatmem_lab.needs import find_items
from chatmem_lab.needs.plain_text import PlainText


def test_digits_of_every_script():
    zeros = [c for c in map(chr, range(0x110000)) if unicodedata.decimal(c, None) == 0]
    assert len(zeros) > 60
    for zero in zeros:
        digits = "".join(chr(ord(zero) + n) for n in range(10))
        assert PlainText.of(digits).text == "0123456789"


def test_full_width():
    assert PlainText.of("Ａｚ０９＿．：，！").text == "Az09_.:，！"
    assert PlainText.of("３，２００，４５").text == "3,200，45"


@given(st.text())
def test_without_a_backslash_places_stay(text):
    text = text.replace("\\", "")
    plain = PlainText.of(text)
    assert len(plain.text) == len(text)
    assert [plain.source(at) for at in range(len(text) + 1)] == list(range(len(text) + 1))


@given(st.text(alphabet=st.characters(exclude_characters='"\\/', exclude_categories=["Cs", "Cc"])))
def test_json_reads_as_what_it_says(said):
    written = json.dumps(said)
    assert PlainText.of(written).text == PlainText.of(f'"{said}"').text


def test_escapes():
    assert PlainText.of('"a\\nb_1\\tc\\/d\\\\e"').text == '"a\nb_1\tc/d\\e"'
    assert PlainText.of('"caf\\u00e9 \\ud83d\\ude00"').text == '"café 😀"'
    assert PlainText.of('"\\d+"').text == '"\\d+"'


def test_a_string_that_holds_strings_is_no_quotation():
    written = json.dumps({"arguments": json.dumps({"name": "Ann Lee", "id": "A-117"})})
    assert [item.value for item in find_items(written)] == ["ann lee", "A-117"]


def test_outside_of_strings_only_characters_are_read():
    assert PlainText.of("C:\\new \\u00e9").text == "C:\\new é"
    assert PlainText.of('cut off: "a\\u2014b').text == 'cut off: "a—b'


def test_a_quoted_windows_path_is_not_escaped():
    assert PlainText.of('"C:\\new\\table"').text == '"C:\\new\\table"'


@given(
    st.lists(st.sampled_from(['"', "\\", "\\n", "\\u00e9", "é", "３", "A-1 ", " x_2", "\\ud83d"]))
)
def test_every_item_is_found_where_it_stands(pieces):
    text = "".join(pieces)
    for item in find_items(text):
        assert text[item.start : item.stop] == item.text
    plain = PlainText.of(text)
    places = [plain.source(at) for at in range(len(plain.text) + 1)]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[-1] == len(text)
