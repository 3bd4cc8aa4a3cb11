import pickle
import re

from chatmem_lab.needs import DETECTORS, Detector, Found, find_items


def shouts(text):
    for match in re.finditer("[A-Z]{3,}", text):
        yield Found(match.start(), match.end(), match[0].lower())


SHOUT = Detector("shout", shouts)


def test_a_user_adds_a_function():
    items = find_items("I WANT my 20 EUR", (*DETECTORS, SHOUT))
    assert [(i.kind, i.value) for i in items] == [("shout", "want"), ("number", "20")]


def test_of_equal_finds_the_first_detector_wins():
    mine = Detector.from_pattern("order", r"[A-Z]-[0-9]+", str.lower)
    assert [i.kind for i in find_items("A-117", (*DETECTORS, mine))] == ["identifier"]
    [item] = find_items("A-117", (mine, *DETECTORS))
    assert (item.kind, item.value) == ("order", "a-117")


def test_what_has_no_name_hides_what_lies_inside():
    private = Detector.from_pattern("", r"<secret>.*?</secret>")
    text = "<secret>A-117</secret> A-118"
    assert [i.text for i in find_items(text, (*DETECTORS, private))] == ["A-118"]


def test_what_yields_gives_way_to_something_shorter():
    line = Detector.from_pattern("line", r"(?m)^.+$", yields=True)
    found = find_items("all plain\nwith A-117 in it", (*DETECTORS, line))
    assert [(i.kind, i.text) for i in found] == [("line", "all plain"), ("identifier", "A-117")]


def test_finds_without_length_are_dropped():
    assert find_items("abc", (Detector.from_pattern("empty", ""),)) == []


def test_detectors_can_be_pickled_and_compared():
    for detector in (*DETECTORS, SHOUT, Detector.from_pattern("a", "b", str.lower)):
        again = pickle.loads(pickle.dumps(detector))
        assert again == detector
        assert hash(again) == hash(detector)
