from chatmem_lab.html.page import page
from chatmem_lab.html.window import window_html


def test_a_page_holds_its_style_once_and_no_script(read):
    html = page("<Title>", window_html([], styled=False), window_html([], styled=False))
    assert html.startswith("<!doctype html>")
    found = read(html[len("<!doctype html>") :])
    assert found.tags.count("style") == 1
    assert found.tags.count("title") == 3
    assert "<Title>" in found.text


def test_it_fetches_nothing(read):
    found = read(page("t", "<p>x</p>")[len("<!doctype html>") :])
    assert not {name for _, name, _ in found.attributes} & {"src", "href"}
    assert "url(" not in found.source
    assert "@import" not in found.source
