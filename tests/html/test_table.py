from chatmem_lab.html.blocks import Block
from chatmem_lab.html.table import blocks_table, folded, plain_table


def test_bars_are_as_long_as_their_tokens(read):
    page = read(blocks_table([Block("user", 200), Block("user", 50)], [0, 1], "", "tokens"))
    widths = [float(v) for tag, name, v in page.attributes if tag == "rect" and name == "width"]
    bars = [width for width in widths if width not in (11, 12)]
    assert bars == [91.0, 22.8]


def test_a_row_can_say_what_is_left_out(read):
    page = read(blocks_table([Block("user", 1)], [0, "… 3 more"], "", "tokens"))
    assert page.rows()[1] == "… 3 more"


def test_cells_are_escaped(read):
    page = read(plain_table(["<a>"], [["<script>x</script>"]]))
    assert "<script>" in page.text


def test_folded_needs_no_script(read):
    assert read(folded("<more>", "<p>x</p>")).tags == ["details", "summary", "p"]
