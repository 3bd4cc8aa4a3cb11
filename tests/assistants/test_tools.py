from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict

import pytest

from chatmem_lab.assistants import tool_schemas
from chatmem_lab.assistants.tools import Toolbox
from chatmem_lab.errors import AssistantError
from chatmem_lab.messages import ToolCall


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A place."""

    x: int
    y: int = 0


class Span(TypedDict):
    start: int
    stop: int


def every_kind(
    text: str,
    colour: Colour,
    unit: Literal["C", "F"],
    places: list[Point],
    span: Span,
    city: Annotated[str, "where it is"],
    rest: dict[str, Any],
    count: int = 3,
    share: float = float("inf"),
    day: date | None = None,
    tags: tuple[str, ...] = ("a",),
) -> str:
    """Take everything.

    Parameters
    ----------
    text : str
        What to take.
    count : int
        How often.
    """
    return repr((text, colour, unit, places, span, city, rest, count, share, day, tags))


def answer(function, arguments, **options):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Toolbox([function], **options).answer(ToolCall("c1", function.__name__, text))


def test_a_schema_of_every_kind_of_hint():
    (schema,) = tool_schemas([every_kind])
    assert schema["type"] == "function"
    function = schema["function"]
    assert (function["name"], function["description"]) == ("every_kind", "Take everything.")
    parameters = function["parameters"]
    properties = parameters["properties"]
    assert properties["text"] == {"type": "string", "description": "What to take."}
    assert properties["count"] == {"type": "integer", "description": "How often.", "default": 3}
    assert properties["unit"] == {"enum": ["C", "F"]}
    assert properties["city"] == {"type": "string", "description": "where it is"}
    assert properties["places"] == {"type": "array", "items": {"$ref": "#/$defs/Point"}}
    assert "default" not in properties["share"]
    assert parameters["required"] == ["text", "colour", "unit", "places", "span", "city", "rest"]
    assert parameters["additionalProperties"] is False
    assert parameters["$defs"]["Colour"]["enum"] == ["blue", "red"]
    assert parameters["$defs"]["Point"]["required"] == ["x"]
    assert "title" not in parameters
    assert json.loads(json.dumps(schema, allow_nan=False)) == schema


def test_arguments_become_what_the_hints_say():
    given = {
        "text": "t",
        "colour": "red",
        "unit": "C",
        "places": [{"x": 1}],
        "span": {"start": 1, "stop": 2},
        "city": "Oslo",
        "rest": {"a": [1]},
        "count": "7",
        "day": "2026-03-10",
    }
    span = {"start": 1, "stop": 2}
    expected = ("t", Colour.RED, "C", [Point(1)], span, "Oslo", {"a": [1]}, 7, float("inf"))
    assert answer(every_kind, given).text == repr((*expected, date(2026, 3, 10), ("a",)))


def test_positional_only_and_bound_methods():
    class Shop:
        def price(self, item: str, /, *, pieces: int = 1) -> str:
            return f"{pieces} {item}"

    assert answer(Shop().price, {"item": "book", "pieces": 2}).text == "2 book"
    assert answer(Shop().price, {"item": "book"}).text == "1 book"


def test_no_arguments_may_be_an_empty_text():
    def now() -> str:
        return "noon"

    assert answer(now, "").text == "noon"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "null"),
        (12, "12"),
        ({"a": "é"}, '{"a": "é"}'),
        ([Point(1, 2)], '[{"x": 1, "y": 2}]'),
        (date(2026, 3, 10), '"2026-03-10"'),
        ({1: 2}, '{"1": 2}'),
    ],
)
def test_results(result, text):
    def give() -> Any:
        return result

    given = answer(give, {})
    assert (given.text, given.is_error, given.tool_call_id) == (text, False, "c1")


@pytest.mark.parametrize("result", [float("nan"), {"a": [float("inf")]}, object()])
def test_a_result_that_is_no_json_is_an_error(result):
    def give() -> Any:
        return result

    given = answer(give, {})
    assert given.is_error
    assert "cannot be written as JSON" in given.text


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"city": "Os', 'no JSON object: {"city": "Os'),
        ("[1]", "no JSON object"),
        ('{"city": "Oslo", "days": NaN}', "no JSON object"),
        ("{}", "missing required field `city`"),
        ('{"city": 3}', "Expected `str`, got `int` - at `$.city`"),
        ('{"city": "Oslo", "days": "two"}', "at `$.days`"),
        ('{"city": "Oslo", "when": "now"}', "unknown field `when`"),
        ("__import__('os')", "no JSON object"),
    ],
)
def test_bad_arguments_are_an_error_and_nothing_is_called(arguments, why):
    called = []

    def weather(city: str, days: int = 1) -> str:
        called.append(city)
        return "fine"

    given = answer(weather, arguments)
    assert given.is_error
    assert given.text.startswith("Error: the arguments")
    assert why in given.text
    assert called == []


def test_an_exception_is_an_error_and_is_logged(caplog):
    def fail() -> str:
        raise KeyError("no such city")

    given = answer(fail, {})
    assert (given.is_error, given.text) == (True, "Error: KeyError: 'no such city'")
    assert "the tool 'fail' raised an error" in caplog.text


def test_an_interrupt_is_no_result():
    def stop() -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer(stop, {})


def test_an_unknown_tool():
    def one() -> str:
        return ""

    def two() -> str:
        return ""

    given = Toolbox([one, two]).answer(ToolCall("c9", "three", "{}"))
    assert (given.is_error, given.tool_call_id) == (True, "c9")
    assert given.text == 'Error: there is no tool "three": there are one, two'
    assert Toolbox([]).answer(ToolCall("c9", "f")).text.endswith("there are none")


def test_allow_sees_calls_that_could_be_done_and_may_refuse_them():
    seen, done = [], []

    def delete(name: str) -> str:
        done.append(name)
        return "gone"

    def allow(call):
        seen.append(call)
        return call.arguments != '{"name": "all"}'

    box = Toolbox([delete], allow)
    refused = box.answer(ToolCall("c1", "delete", '{"name": "all"}'))
    assert (refused.is_error, refused.text) == (True, "Error: this call was not allowed")
    assert box.answer(ToolCall("c2", "delete", '{"name": "one"}')).text == "gone"
    assert box.answer(ToolCall("c3", "delete", "{}")).is_error
    assert [call.id for call in seen] == ["c1", "c2"]
    assert done == ["one"]


def no_hint(city) -> str:
    return city


def many(*cities: str) -> str:
    return ""


def named(**cities: str) -> str:
    return ""


def unknown(city: object) -> str:
    return ""


def lost(city: Nowhere) -> str:  # noqa: F821
    return ""


async def later(city: str) -> str:
    return ""


def größe() -> str:
    return ""


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (no_hint, "'city' of the tool 'no_hint' has no type hint"),
        (many, r"takes \*cities"),
        (named, r"takes \*\*cities"),
        (unknown, "have no JSON schema"),
        (lost, "cannot be read: name 'Nowhere'"),
        (later, "'later' is async"),
        (größe, "no tool can be called 'größe'"),
        (lambda: "", "no tool can be called '<lambda>'"),
        (functools.partial(no_hint, "a"), "a function with a name"),
        ("lookup", "a function with a name"),
    ],
)
def test_what_cannot_be_a_tool(function, why):
    with pytest.raises(AssistantError, match=why):
        tool_schemas([function])


def test_tools_are_a_list_of_functions_with_names_of_their_own():
    with pytest.raises(AssistantError, match=r"write tools=\[f\]"):
        tool_schemas(every_kind)
    with pytest.raises(AssistantError, match="two tools 'every_kind'"):
        tool_schemas([every_kind, every_kind])
