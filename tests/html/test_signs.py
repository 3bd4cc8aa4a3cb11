from chatmem_lab.html.signs import clusters, free_places, sign


def test_signs_differ():
    assert len({sign(state, 10, 10) for state in ("made", "cleared", "clamped")}) == 3


def test_close_ones_merge_at_their_mean():
    assert clusters([(0, 7), (10, 8), (20, 9), (80, 1)], 11) == [
        (0.0 + 5.0, [7, 8]),
        (20.0, [9]),
        (80.0, [1]),
    ]


def test_a_number_beside_a_sign_needs_room_too():
    close = clusters([(0, 1), (4, 1), (20, 1)], 11)
    named = clusters([(0, 1), (4, 1), (20, 1)], 11, named=True)
    assert [len(values) for _, values in close] == [2, 1]
    assert [len(values) for _, values in named] == [3]


def test_labels_keep_off_what_is_taken():
    assert free_places([(100, "turn 2")], [(60, 140)]) == []


def test_labels_do_not_run_out_of_the_picture():
    ((x, _),) = free_places([(865, "turn 1,000")], [])
    assert x < 810
