from __future__ import annotations

import ipywidgets
import pytest
import traitlets

from chatmem_lab.errors import StoreError
from chatmem_lab.memory import ChatMemories
from chatmem_lab.messages import assistant, system, user
from chatmem_lab.policies import MessageWindow
from chatmem_lab.stores import MemoryStore
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.widgets import SessionBrowser

HOSTILE = "<img src=x onerror=alert(1)>\x1b\u202e"


@pytest.fixture
def memories():
    memories = ChatMemories(MessageWindow(2), store=MemoryStore(), counter=LengthCounter())
    memories["ann"].add_all([system("Be brief."), user("one"), assistant("two"), user("three")])
    memories["bo"].add_user("the old line")
    memories["bo"].clear()
    memories["bo"].add_user("the new line")
    memories["Anton"].add_user("hello")
    return memories


@pytest.fixture
def browser(memories):
    return SessionBrowser(memories)


def parts(browser, kind):
    found, queue = [], [browser]
    while queue:
        widget = queue.pop(0)
        if isinstance(widget, kind):
            found.append(widget)
        queue.extend(getattr(widget, "children", ()))
    return found


def text_of(browser):
    return " ".join(html.value for html in parts(browser, ipywidgets.HTML))


def button(browser, words):
    (found,) = [b for b in parts(browser, ipywidgets.Button) if b.description == words]
    return found


def listed(browser):
    (select,) = [s for s in parts(browser, ipywidgets.Select) if type(s) is ipywidgets.Select]
    return select


def test_it_begins_with_no_session(browser):
    assert (browser.session, browser.pending, browser.branch) == ("", "", None)
    assert browser.matches == ("Anton", "ann", "bo")
    assert [id for _, id in listed(browser).options] == ["Anton", "ann", "bo"]
    assert listed(browser).value is None
    assert "No session is chosen." in text_of(browser)
    assert "3 sessions" in text_of(browser)
    assert button(browser, "delete …").disabled


def test_a_session_is_shown_with_its_window_and_history(browser):
    listed(browser).value = "ann"
    assert browser.session == "ann"
    text = text_of(browser)
    assert "Session ann" in text
    assert "<b>4</b> messages" in text
    assert "<b>3</b> messages" in text  # the window: the system message and two others
    assert "<b>1</b> absent" in text
    assert "MessageWindow(2)" in text
    for said in ("Be brief.", "one", "two", "three"):
        assert said in text
    assert not button(browser, "delete …").disabled
    browser.session = "bo"
    assert listed(browser).value == "bo"
    assert "the new line" in text_of(browser)
    assert "the old line" not in text_of(browser)
    assert SessionBrowser(browser.memories, session="bo").session == "bo"


def test_a_search_finds_ids_whatever_their_case(browser):
    (text,) = parts(browser, ipywidgets.Text)
    text.value = "AN"
    assert browser.search == "AN"
    assert browser.matches == ("Anton", "ann")
    assert "2 of 3 sessions" in text_of(browser)
    browser.session = "bo"  # not listed, and shown all the same
    assert listed(browser).value is None
    assert "Session bo" in text_of(browser)
    browser.search = "nobody"
    assert browser.matches == ()
    assert "0 of 3 sessions" in text_of(browser)
    assert browser.session == "bo"
    assert browser.exception is None


def test_branches(browser):
    browser.session = "bo"
    (line,) = parts(browser, ipywidgets.Dropdown)
    assert line.options == (("active line", -1), ("branch 0, 1 message", 0))
    line.value = 0
    assert browser.branch == 0
    assert "the old line" in text_of(browser)
    assert "the new line" not in text_of(browser)
    line.value = -1
    assert browser.branch is None
    assert "the new line" in text_of(browser)
    browser.branch = 0
    assert line.value == 0
    browser.session = "ann"
    assert (browser.branch, line.index) == (None, 0)
    assert line.options == (("active line", -1),)
    with pytest.raises(traitlets.TraitError, match="no branch 3: this session has 0"):
        browser.branch = 3


@pytest.mark.parametrize("words", ["clear …", "delete …"])
def test_nothing_is_done_before_it_is_confirmed(browser, memories, words):
    browser.session = "ann"
    (confirmation,) = [
        box
        for box in parts(browser, ipywidgets.HBox)
        if button(browser, "no, keep it") in box.children
    ]
    assert confirmation.layout.display == "none"
    for give_up in (
        button(browser, "no, keep it").click,
        lambda: browser.press("Escape"),
        lambda: setattr(browser, "session", "bo"),
        lambda: button(browser, "refresh").click(),
    ):
        browser.session = "ann"
        button(browser, words).click()
        assert browser.pending == words.split()[0]
        assert confirmation.layout.display == ""
        assert "&#x27;ann&#x27;" in text_of(browser)
        give_up()
        assert browser.pending == ""
        assert confirmation.layout.display == "none"
    browser.confirm()
    assert len(memories["ann"]) == 4
    assert memories.list() == ["Anton", "ann", "bo"]


def test_clear(browser, memories):
    browser.session = "ann"
    button(browser, "clear …").click()
    button(browser, "yes, clear it").click()
    assert memories["ann"].history == ()
    assert [len(branch.messages) for branch in browser.branches] == [4]
    assert (browser.session, browser.pending) == ("ann", "")
    assert "Its active line is empty" in text_of(browser)
    assert browser.exception is None


def test_delete(browser, memories):
    browser.session = "ann"
    button(browser, "delete …").click()
    button(browser, "yes, erase it").click()
    assert memories.list() == ["Anton", "bo"]
    assert (browser.session, browser.pending) == ("", "")
    assert browser.matches == ("Anton", "bo")
    assert [id for _, id in listed(browser).options] == ["Anton", "bo"]
    assert "No session is chosen." in text_of(browser)


def test_nothing_is_asked_without_a_session(browser):
    browser.ask("delete")
    assert browser.pending == ""
    with pytest.raises(traitlets.TraitError):
        browser.pending = "explode"


def test_refresh_shows_what_others_did(browser, memories):
    browser.session = "ann"
    elsewhere = ChatMemories(store=memories.store, counter=LengthCounter())
    elsewhere["cy"].add_user("new here")
    elsewhere["ann"].add_user("a late message")
    assert "cy" not in browser.matches
    button(browser, "refresh").click()
    assert browser.matches == ("Anton", "ann", "bo", "cy")
    assert "a late message" in text_of(browser)
    elsewhere.delete("ann")
    browser.press("r")
    assert browser.session == ""
    assert browser.matches == ("Anton", "bo", "cy")


def test_a_session_that_is_gone_meanwhile(browser, memories):
    browser.session = "bo"
    memories.delete("bo")
    browser.branch = None
    html = browser._repr_mimebundle_()["text/html"]
    assert "There is no such session" in html
    with pytest.raises(traitlets.TraitError, match="there is no session 'bo'"):
        SessionBrowser(memories, session="bo")


def test_keys(browser):
    for key, session in [
        ("ArrowDown", "Anton"),
        ("ArrowDown", "ann"),
        ("ArrowDown", "bo"),
        ("ArrowDown", "bo"),
        ("ArrowUp", "ann"),
        ("x", "ann"),
        ("/", "ann"),
        ("ArrowUp", "Anton"),
        ("ArrowUp", "Anton"),
    ]:
        browser.children[-1]._handle_custom_msg({"key": key}, [])
        assert browser.session == session, key
    assert browser.exception is None
    assert set(browser.children[-1].names) == {"ArrowDown", "ArrowUp", "/", "r", "Escape"}
    assert all(b.tooltip for b in parts(browser, ipywidgets.Button))


def test_an_empty_store_has_no_keys_to_follow():
    browser = SessionBrowser(ChatMemories(store=MemoryStore()))
    for key in ("ArrowDown", "ArrowUp", "r", "Escape"):
        browser.press(key)
    assert browser.session == ""
    assert "0 sessions" in text_of(browser)


def test_what_is_shown_is_said_for_those_who_do_not_see_it(browser):
    browser.session = "ann"
    assert browser.children[-1].says == "Session ann"
    browser.ask("delete")
    assert browser.children[-1].says == "Erase 'ann' for good, with its branches?"
    browser.press("Escape")
    assert browser.children[-1].says == "Session ann"


def test_hostile_ids_and_texts_are_data(memories):
    memories[HOSTILE].add_user("<script>alert(2)</script>")
    memories[HOSTILE].clear()
    memories[HOSTILE].add_user("<b>bold</b>")
    browser = SessionBrowser(memories, session=HOSTILE)
    for branch in (None, 0):
        browser.branch = branch
        browser.ask("delete")
        for html in (text_of(browser), browser._repr_mimebundle_()["text/html"]):
            assert "<img" not in html
            assert "<script" not in html
            assert "<b>bold" not in html
            assert "&lt;img" in html
            assert not {"\x1b", "\u202e"} & set(html)
    assert r"<img src=x onerror=alert(1)>\x1b\u202e" in [
        label for label, _ in listed(browser).options
    ]
    browser.confirm()
    assert HOSTILE not in memories


def test_an_error_shows_and_the_browser_goes_on(browser, memories, monkeypatch):
    def fails(*_, **__):
        raise StoreError("the server went away <b>")

    with monkeypatch.context() as patched:
        patched.setattr(memories.store, "read", fails)
        patched.setattr(memories.store, "sessions", fails)
        for do in (
            button(browser, "refresh").click,
            lambda: setattr(listed(browser), "value", "ann"),
            lambda: browser.children[-1]._handle_custom_msg({"key": "ArrowDown"}, []),
        ):
            do()
            assert isinstance(browser.exception, StoreError)
            assert "StoreError: the server went away &lt;b&gt;" in text_of(browser)
        assert "StoreError" in browser._repr_mimebundle_()["text/html"]
    button(browser, "refresh").click()
    assert browser.exception is None
    assert "went away" not in text_of(browser)


def test_the_picture_stays_where_no_kernel_runs(browser):
    browser.session = "ann"
    bundle = browser._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(browser)
    assert "'ann'" in data["text/plain"]
    assert "Session ann" in data["text/html"]
    assert "three" in data["text/html"]
    assert "<style>" in data["text/html"]
    assert "<script" not in data["text/html"]


def test_ten_thousand_sessions_are_searched_and_listed_in_part():
    memories = ChatMemories(store=MemoryStore(), counter=LengthCounter())
    for n in range(10_000):
        memories[f"user-{n:05}"].add_user("hi")
        memories.evict(f"user-{n:05}")
    browser = SessionBrowser(memories)
    browser.search = "user-0999"
    assert browser.matches == tuple(f"user-0999{n}" for n in range(10))
    browser.search = ""
    browser.press("ArrowDown")
    assert browser.session == "user-00000"
    assert len(listed(browser).options) == 200
    assert "10.0k sessions, the first 200 listed" in text_of(browser)
    browser.session = "user-09999"
    assert "Session user-09999" in text_of(browser)


def test_nothing_is_printed(browser, capsys):
    browser.session = "ann"
    browser.press("ArrowDown")
    browser._repr_mimebundle_()
    assert capsys.readouterr() == ("", "")
