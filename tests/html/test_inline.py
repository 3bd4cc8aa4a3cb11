from xml.etree import ElementTree

from chatmem_lab.html.inline import inline_svg, themed

DOCUMENT = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt" xmlns="http://www.w3.org/2000/svg">
 <metadata><title>somebody's page</title></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style>
  <clipPath id="p1"><rect/></clipPath></defs>
 <!-- a comment -->
 <g id="g"><use xlink:href="#p1"/></g><g clip-path="url(#p1)"/>
 <text style="font-size: 9px; font-family: 'Inter', 'X'; fill: #556071">a</text>
</svg>
"""


def test_ids_and_their_uses_get_the_name():
    svg = inline_svg(DOCUMENT, "map", "Window map")
    assert 'id="map-p1"' in svg
    assert "url(#map-p1)" in svg
    assert 'xlink:href="#map-p1"' in svg
    assert "#p1" not in svg


def test_nothing_reaches_outside():
    svg = inline_svg(DOCUMENT, "map", "Window map")
    for gone in ("<?xml", "DOCTYPE", "metadata", "<style", "comment", "font-family"):
        assert gone not in svg
    assert "font-size: 9px; fill: #556071" in svg


def test_it_has_an_alternative_in_words():
    root = ElementTree.fromstring(inline_svg(DOCUMENT, "map", "A <map>"))
    assert root.get("role") == "img"
    title = root[0]
    assert title.text == "A <map>"
    assert title.get("id") == root.get("aria-labelledby")


def test_two_themes_two_drawings():
    shown = themed("<svg>1</svg>", "<svg>2</svg>")
    assert shown.index('"light"') < shown.index("1") < shown.index('"dark"') < shown.index("2")
