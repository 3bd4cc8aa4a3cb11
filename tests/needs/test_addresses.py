import pytest

from chatmem_lab.needs import find_items


@pytest.mark.parametrize(
    ("text", "url", "value"),
    [
        ("see https://example.org/a?b=1#c.", "https://example.org/a?b=1#c", None),
        ("(see http://example.org/a)", "http://example.org/a", None),
        ("https://example.org/a_(b)!", "https://example.org/a_(b)", None),
        ("[x](https://Example.org/A/)", "https://Example.org/A/", "https://example.org/A"),
        ("看https://example.org/a谢谢", "https://example.org/a", None),
        ("www.example.org, yes", "www.example.org", "https://www.example.org"),
        ("postgresql://db:5432/x", "postgresql://db:5432/x", None),
        ("'http://127.0.0.1:8000/v1'", "http://127.0.0.1:8000/v1", None),
    ],
)
def test_urls(text, url, value):
    [item] = find_items(text)
    assert (item.kind, item.text, item.value) == ("url", url, value or url)


@pytest.mark.parametrize("text", ["http://", "a://", "://x", "www."])
def test_no_urls(text):
    assert [item for item in find_items(text) if item.kind == "url"] == []


def test_emails():
    items = find_items("Write to Ann.Lee+x@Example.org, or <bob@mail.example.co.uk>.")
    assert [(i.kind, i.value) for i in items] == [
        ("email", "ann.lee+x@example.org"),
        ("email", "bob@mail.example.co.uk"),
    ]
    assert find_items("a@b, @ann, x@y.") == []
