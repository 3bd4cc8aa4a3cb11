"""What a policy's fields may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import pytest

from chatmem_lab.errors import PolicyError
from chatmem_lab.policies import ClearToolResults, Messages, MessageWindow, Share, Tokens
from chatmem_lab.policies.bounds import Bounds, check_fields


class Speaks(Protocol):
    def speak(self) -> str: ...


ONE = Tokens(1)


@dataclass(frozen=True)
class Everything:
    amount: Tokens | None = None
    noted: Annotated[Tokens, "a note"] = ONE
    speaker: Speaks | None = None
    call: Callable[[], int] | None = None
    bare: Callable | None = None
    anything: Any = None
    either: Tokens | Messages = ONE
    number: Annotated[int, Bounds(0)] = 0
    letters: frozenset = frozenset()

    def __post_init__(self) -> None:
        check_fields(self)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: ClearToolResults(trigger=5), "trigger must be Tokens(…), not 5"),
        (lambda: ClearToolResults(trigger=Messages(5)), "must be Tokens(…), not Messages(5)"),
        (lambda: ClearToolResults(at_least="x"), "at_least must be Tokens(…), not 'x'"),
        (lambda: Everything(noted=3), "noted must be Tokens(…), not 3"),
        (lambda: Everything(letters="ab"), "letters must be of type frozenset, not 'ab'"),
    ],
)
def test_a_field_of_a_plain_class_holds_nothing_else(wrong, words):
    with pytest.raises(PolicyError) as error:
        wrong()
    assert words in str(error.value)


def test_protocols_callables_and_unions_are_not_checked():
    given = Everything(speaker=3, call=3, bare=3, anything=3, either=3)
    assert (given.speaker, given.call, given.bare, given.anything, given.either) == (3,) * 5
    assert ClearToolResults(trigger=Tokens(5), at_least=None).trigger == Tokens(5)


@pytest.mark.parametrize(
    "number", [2**62 + 1, 2**63, 10**40, 10**5000], ids=["one more", "2**63", "10**40", "long"]
)
@pytest.mark.parametrize("policy", [MessageWindow, Tokens, Share])
def test_a_limit_that_no_window_could_reach_is_refused(policy, number):
    with pytest.raises(PolicyError, match="at most 4_611_686_018_427_387_904"):
        policy(number)
    assert MessageWindow(2**62).max_messages == 4_611_686_018_427_387_904
