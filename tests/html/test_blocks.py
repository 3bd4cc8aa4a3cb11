from chatmem_lab.html.blocks import Block, gaps, read_blocks, totals, turn_starts


def originals(*positions, kind="user"):
    return [Block(kind, 1, position=position) for position in positions]


def test_mappings_and_blocks_are_read_alike():
    mapping = {"kind": "tool result", "tokens": 5, "state": "cleared", "position": 3}
    assert read_blocks([mapping]) == read_blocks(read_blocks([mapping]))
    assert read_blocks([mapping])[0] == Block("tool result", 5, "cleared", position=3)


def test_a_made_message_is_made_even_if_its_state_is_not_said():
    assert read_blocks([{"kind": "made", "tokens": 5}])[0].state == "made"


def test_tokens_are_never_negative():
    assert read_blocks([{"kind": "user", "tokens": -5}])[0].tokens == 0


def test_totals_stand_in_the_order_of_the_roles():
    blocks = [Block("made", 1), Block("zeta", 2), Block("user", 4), Block("alpha", 8)]
    assert list(totals(blocks).items()) == [("user", 4), ("made", 1), ("alpha", 8), ("zeta", 2)]


def test_what_is_missing_between_and_before():
    assert gaps(originals(2, 3, 7, 8)) == {0: 2, 2: 3}


def test_a_system_message_in_front_hides_no_gap():
    system = originals(0, kind="system")
    assert gaps([*system, *originals(28, 29)]) == {1: 27}


def test_a_system_message_that_came_late_is_not_missing_where_it_was():
    system = originals(3, kind="system")
    assert gaps([*system, *originals(1, 2, 4)]) == {1: 1}


def test_what_a_summary_stands_for_is_not_gone():
    summary = Block("made", 9, "made", covers=4)
    assert gaps([*originals(0), summary, *originals(5)]) == {}
    assert gaps([*originals(0), summary, *originals(8)]) == {2: 3}


def test_a_summary_that_does_not_say_hides_the_gap_rather_than_invent_one():
    assert gaps([*originals(0), Block("made", 9, "made"), *originals(8)]) == {}


def test_messages_out_of_order_give_no_gap_below_zero():
    assert gaps(originals(4, 1, 0, 5)) == {0: 2}


def test_turns_are_counted_while_nothing_is_missing():
    blocks = [*originals(0), *originals(1, kind="assistant"), *originals(2)]
    assert turn_starts(blocks, {}) == {0: 1, 2: 2}


def test_after_a_gap_only_a_given_number_is_a_number():
    blocks = [*originals(7), Block("user", 1, position=9, turn=6), *originals(11)]
    assert turn_starts(blocks, {0: 7}) == {0: None, 1: 6, 2: 7}
