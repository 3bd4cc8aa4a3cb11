from chatmem_lab.needs import find_items


def test_keys_of_objects_are_no_items():
    text = '{"user_id": "sofia_kim_7287", "address1": "Laurel Lane",\n  "zip_code" : "07724"}'
    assert [item.value for item in find_items(text)] == ["sofia_kim_7287", "laurel lane", "07724"]
    assert [item.value for item in find_items("{'user_id': 'Ann Lee'}")] == ["ann lee"]


def test_keys_that_are_facts_are():
    items = find_items('{"HAT163": {"credit_card_4421486": true}}')
    assert [item.text for item in items] == ["HAT163", "credit_card_4421486"]


def test_what_is_quoted_before_a_colon_is_no_key():
    assert [i.value for i in find_items('He read "The Hobbit": a review')] == ["the hobbit"]


def test_markers_of_lists():
    assert [i.value for i in find_items("1. first\n 2) second\n10. 3 of them")] == ["3"]
    assert [i.value for i in find_items("It was 2. Then 3.")] == ["2", "3"]


def test_entities_of_html():
    assert [i.value for i in find_items("it&#39;s&nbsp;&#x2014; 5&amp;")] == ["5"]
