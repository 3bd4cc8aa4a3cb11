from __future__ import annotations

from chatmem_lab.assistants.docstrings import description_of, parameter_descriptions


def numpy_way(a, b, c, *, d=1):
    """Add numbers.

    All of them: nothing is left out.

    Parameters
    ----------
    a, b : int
        What is
        added.
    c: int
        More.

        And a paragraph.
    d : int, optional

    Returns
    -------
    int
        The sum.
    """


def google_way(a, b):
    """Add numbers.

    Args:
        a (int): The first: a number.
        b: The second,
            on two lines.

    Returns:
        The sum.
    """


def without(a):
    pass


def one_line(a):
    """Parameters are not described here."""


def test_the_description_ends_where_the_sections_begin():
    assert description_of(numpy_way) == "Add numbers.\n\nAll of them: nothing is left out."
    assert description_of(google_way) == "Add numbers."
    assert description_of(without) == ""


def test_parameters_the_way_of_numpy():
    assert parameter_descriptions(numpy_way) == {
        "a": "What is added.",
        "b": "What is added.",
        "c": "More. And a paragraph.",
    }


def test_parameters_the_way_of_google():
    assert parameter_descriptions(google_way) == {
        "a": "The first: a number.",
        "b": "The second, on two lines.",
    }


def test_no_parameters_are_described():
    assert parameter_descriptions(without) == parameter_descriptions(one_line) == {}
