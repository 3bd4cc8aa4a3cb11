"""Tool schemas: the published example, and whatever else may lie there."""

from __future__ import annotations

from chatmem_lab.messages import system, user
from chatmem_lab.tokens import Count, counter
from chatmem_lab.tokens.tool_schemas import tool_schema_pieces

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        },
    },
}


def pieces(*tools):
    return tool_schema_pieces(tools, function_tokens=7)


def test_the_cookbooks_example():
    """OpenAI Cookbook, "How to count tokens with tiktoken", section 7: what the API billed."""
    messages = [
        system("You are a helpful assistant that can answer to questions about the weather."),
        user("What's the weather like in San Francisco?"),
    ]
    billed = {"gpt-3.5-turbo": 105, "gpt-4": 105, "gpt-4o": 101, "gpt-4o-mini": 101}
    for model, tokens in billed.items():
        one = counter(model)
        counts = [*one.count_messages(messages), one.count_tools([WEATHER])]
        assert sum(count.tokens for count in counts) + one.request_tokens == tokens
        assert counts[-1].kind == "estimate"


def test_by_hand():
    tool = {
        "function": {
            "name": "f",
            "description": "Do it..",
            "parameters": {
                "properties": {
                    "a": {"type": ["string", "null"], "description": "An a."},
                    "b": {"type": "array", "items": {"enum": ["x", 2]}},
                    "c": {"type": "object", "properties": {"d": {}}},
                    "e": True,
                }
            },
        }
    }
    texts, fixed = pieces(tool)
    assert sorted(texts) == sorted(
        ["f:Do it.", "a:string, null:An a", "b:array:", "c:object:", "e::", "d::", "x", "2"]
    )
    # all 12, function 7, four properties 3 + 4 × 3, the enum −3 + 2 × 3, one property 3 + 3
    assert fixed == 12 + 7 + (3 + 12) + 3 + 6


def test_no_tools():
    assert pieces() == ([], 0)
    assert counter("gpt-4o").count_tools([]) == Count(0, "exact")


def test_the_form_of_responses_counts_alike():
    assert pieces({"type": "function", **WEATHER["function"]}) == pieces(WEATHER)


def test_schemas_inside_schemas_are_found():
    inner = {"properties": {"deep": {"type": "string"}}}
    for schema in (
        {"items": inner},
        {"anyOf": [{"type": "null"}, inner]},
        {"$defs": {"Inner": inner}},
        {"properties": {"outer": {"allOf": [inner]}}},
    ):
        texts, _ = pieces({"function": {"name": "f", "parameters": schema}})
        assert "deep:string:" in texts


def test_what_is_no_function_counts_as_its_text():
    texts, fixed = pieces({"type": "web_search", "filters": {"allowed": ["a.org", "b.org"]}})
    assert (texts, fixed) == (["type, web_search, filters, allowed, a.org, b.org"], 12)


def test_hostile_schemas_are_counted():
    nested = {"type": "object"}
    for _ in range(50_000):
        nested = {"type": "object", "properties": {"a": nested}}
    as_function = {"function": {"name": "f", "parameters": nested}}
    one = counter("gpt-4o")
    assert one.count_tools([as_function]).tokens > 50_000
    assert one.count_tools([{"type": "other", "x": nested}]).tokens > 50_000
    for odd in (
        {},
        {"function": None},
        {"function": {"parameters": [1]}},
        {"function": {"name": None, "description": {"a": 1}, "parameters": {"properties": []}}},
        {"function": {"name": "f", "parameters": {"enum": [nested], "$defs": 3, "items": [[]]}}},
        {"type": "x", "note": "a\ud800", "n": float("nan")},
    ):
        count = one.count_tools([odd])
        assert count.kind == "estimate"
        assert count.tokens >= 12
