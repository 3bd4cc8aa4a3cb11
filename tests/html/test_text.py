from chatmem_lab.html.text import begins, cut, escape, text_width


def test_markup_is_escaped_in_elements_and_in_attributes():
    assert escape("""<a href='x' title="y">&</a>""") == (
        "&lt;a href=&#x27;x&#x27; title=&quot;y&quot;&gt;&amp;&lt;/a&gt;"
    )


def test_what_xml_forbids_is_replaced_and_the_rest_stays():
    assert escape("a\x00b\x1bc\ud83dd\ufffee") == "a\ufffdb\ufffdc\ufffdd\ufffde"
    assert escape("tab\tline\nthe é 中文 😀 ​") == "tab\tline\nthe é 中文 😀 ​"


def test_signs_that_turn_the_direction_do_not_get_out():
    assert "\u202e" not in escape("invoice\u202egpj.exe")


def test_cutting_counts_the_ellipsis():
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"


def test_an_emoji_is_not_cut_after_its_joiner():
    family = "👩‍👩‍👧"
    assert cut(family + "xxxx", 3) == "👩…"


def test_only_the_beginning_of_a_long_text_is_looked_at():
    text = "word " * 1_000_000
    assert begins(text, 12) == "word word w…"


def test_a_line_says_that_there_is_more():
    assert begins("one two", 160) == "one two"
    assert begins("x" * 641, 160) == "x" * 159 + "…"


def test_wide_signs_take_more_room():
    assert text_width("中文") > 1.5 * text_width("ab")
