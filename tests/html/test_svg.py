from chatmem_lab.html.svg import block, defs, number, paint, text


def test_coordinates_are_short():
    assert [number(x) for x in (1, 1.04, 1.06, -0.04, 100.0)] == ["1", "1", "1.1", "0", "100"]


def test_a_pattern_falls_back_on_its_colour():
    assert 'fill="url(#p-made) #b5419f"' in paint("made", "p")
    assert 'id="p-made"' in defs("p", {"made"})
    assert defs("p", {"user"}) == ""


def test_a_block_carries_class_and_colour():
    assert block(0, 0, 10, 40, "user", "p") == (
        '<rect x="0" y="0" width="10" height="40" class="f-user e-user" fill="#1a4f9c"'
        ' stroke="#1a4f9c"'
    )


def test_words_are_escaped():
    assert "&lt;b&gt;" in text(0, 0, "<b>")
