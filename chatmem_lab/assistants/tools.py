"""Python functions as tools: schemas from their type hints, calls with checked arguments."""

from __future__ import annotations

import inspect
import json
import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, get_origin, get_type_hints

import msgspec

from chatmem_lab.assistants.docstrings import description_of, parameter_descriptions
from chatmem_lab.errors import AssistantError
from chatmem_lab.html.text import cut
from chatmem_lab.messages import Message, ToolCall, tool_output
from chatmem_lab.projections.arguments import arguments_object

__all__ = ["Allow", "Toolbox", "tool_schemas"]

_log = logging.getLogger("chatmem_lab.assistants")

#: Whether a call that a model makes may be done.
Allow = Callable[[ToolCall], bool]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class _CannotDo(Exception):
    """What the model is told instead of a result."""


def tool_schemas(functions: Iterable[Callable[..., Any]]) -> list[dict[str, Any]]:
    """The schemas of Python functions, in the form of Chat Completions.

    A memory counts them with every request: ``ChatMemories(…, tools=tool_schemas([lookup]))``.

    Parameters
    ----------
    functions : iterable of callable
        Each parameter with a type hint; descriptions are taken from the docstring (numpy's
        or Google's way) or from ``Annotated[str, "what it is"]``.

    Raises
    ------
    AssistantError
        If a function cannot be a tool, and why.

    Examples
    --------
    >>> def lookup(isbn: str, copies: int = 1) -> str:
    ...     "Find a book."
    >>> schema = tool_schemas([lookup])[0]["function"]
    >>> schema["name"], schema["description"]
    ('lookup', 'Find a book.')
    >>> schema["parameters"]["properties"]
    {'isbn': {'type': 'string'}, 'copies': {'default': 1, 'type': 'integer'}}
    >>> schema["parameters"]["required"]
    ['isbn']
    """
    return Toolbox(functions).schemas


class Tool:
    """A Python function that a model may call.

    Attributes
    ----------
    name, description : str
    parameters : dict
        The JSON schema of its arguments.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = _checked_name(function)
        self.description = description_of(function)
        self._function = function
        self._arguments = _arguments_type(self.name, function)
        self.parameters = _schema_of(self.name, self._arguments)

    @property
    def schema(self) -> dict[str, Any]:
        """What a model is told of it."""
        described = {"description": self.description} if self.description else {}
        return {"name": self.name, **described, "parameters": self.parameters}

    def read(self, arguments: str) -> inspect.BoundArguments:
        """The arguments, checked against the type hints."""
        given = arguments_object(arguments)
        if given is None:
            raise _CannotDo(f"the arguments are no JSON object: {cut(arguments, 200)}")
        try:
            values = msgspec.convert(given, self._arguments, strict=False)
        except Exception as wrong:  # a parameter's own class may raise anything
            raise _CannotDo(f"the arguments do not fit: {_said(wrong)}") from None
        bound = inspect.signature(self._function).bind_partial()
        for name in self._arguments.__struct_fields__:
            if (value := getattr(values, name)) is not msgspec.UNSET:
                bound.arguments[name] = value
        return bound

    def result_of(self, arguments: inspect.BoundArguments) -> str:
        """Call the function; a str as it is, anything else as JSON."""
        try:
            result = self._function(*arguments.args, **arguments.kwargs)
        except Exception as error:
            _log.warning("the tool %r raised an error", self.name, exc_info=True)
            raise _CannotDo(f"{type(error).__name__}: {_said(error)}") from error
        if isinstance(result, str):
            return result
        try:
            return json.dumps(
                msgspec.to_builtins(result, str_keys=True), ensure_ascii=False, allow_nan=False
            )
        except (TypeError, ValueError, RecursionError) as wrong:
            _log.warning("the tool %r gave no JSON", self.name, exc_info=True)
            raise _CannotDo(
                f"the result, {type(result).__name__}, cannot be written as JSON: {wrong}"
            ) from wrong


class Toolbox:
    """The tools of an assistant.

    Examples
    --------
    >>> def now() -> str:
    ...     return "noon"
    >>> Toolbox([now]).answer(ToolCall("c1", "now", "{}")).text
    'noon'
    >>> Toolbox([now]).answer(ToolCall("c2", "later")).text
    'Error: there is no tool "later": there are now'
    """

    def __init__(self, functions: Iterable[Callable[..., Any]], allow: Allow | None = None):
        self._tools: dict[str, Tool] = {}
        self._allow = allow
        if callable(functions) or isinstance(functions, str | Mapping):
            raise AssistantError(
                f"tools is a list of functions, not {cut(repr(functions), 80)}: write tools=[f]"
            )
        for tool in map(Tool, functions):
            if tool.name in self._tools:
                raise AssistantError(f"there are two tools {tool.name!r}: rename one of them")
            self._tools[tool.name] = tool

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """As Chat Completions take them."""
        return [{"type": "function", "function": tool.schema} for tool in self._tools.values()]

    def answer(self, call: ToolCall) -> Message:
        """The result of a call, or what the model is told of why there is none."""
        try:
            output, is_error = self._done(call), False
        except _CannotDo as why:
            output, is_error = f"Error: {why}", True
        return tool_output(call.id, output, is_error=is_error)

    def _done(self, call: ToolCall) -> str:
        tool = self._tools.get(call.name)
        if tool is None:
            known = f"there are {', '.join(self._tools)}" if self._tools else "there are none"
            raise _CannotDo(f'there is no tool "{cut(call.name, 80)}": {known}')
        arguments = tool.read(call.arguments)
        if self._allow is not None and not self._allow(call):
            raise _CannotDo("this call was not allowed")
        return tool.result_of(arguments)


def _checked_name(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if not callable(function) or not isinstance(name, str):
        raise AssistantError(
            f"a tool is a function with a name, not {cut(repr(function), 80)}: write it with def"
        )
    if not _NAME.fullmatch(name):
        raise AssistantError(
            f"no tool can be called {name!r}: a name has 1 to 64 letters a to z, digits, _ and -"
        )
    if inspect.iscoroutinefunction(function):
        raise AssistantError(f"the tool {name!r} is async: a tool is a plain function")
    return name


def _arguments_type(name: str, function: Callable[..., Any]) -> type[msgspec.Struct]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as unresolved:
        raise AssistantError(
            f"the type hints of the tool {name!r} cannot be read: {unresolved}"
        ) from unresolved
    said = parameter_descriptions(function)
    fields = [
        _field(name, parameter, hints, said)
        for parameter in inspect.signature(function).parameters.values()
    ]
    try:
        return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
    except (TypeError, ValueError) as wrong:
        raise AssistantError(f"the tool {name!r} cannot be described: {wrong}") from wrong


def _field(
    tool: str, parameter: inspect.Parameter, hints: Mapping[str, Any], said: Mapping[str, str]
) -> tuple[str, Any] | tuple[str, Any, Any]:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise AssistantError(
            f"the tool {tool!r} takes {parameter}: a model needs each parameter by name"
        )
    if name not in hints:
        raise AssistantError(
            f"the parameter {name!r} of the tool {tool!r} has no type hint: write {name}: str, "
            "or what it is"
        )
    hint, described = hints[name], said.get(name)
    if get_origin(hint) is Annotated:
        texts = [note for note in hint.__metadata__ if isinstance(note, str)]
        described = texts[0] if texts else described
    if parameter.default is parameter.empty:
        return name, _with_meta(hint, {"description": described} if described else {})
    facts: dict[str, Any] = {"description": described} if described else {}
    if isinstance(parameter.default, str | int) or _is_finite(parameter.default):
        facts["default"] = parameter.default
    return name, _with_meta(hint | msgspec.UnsetType, facts), msgspec.UNSET


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _with_meta(hint: Any, facts: dict[str, Any]) -> Any:
    return Annotated[hint, msgspec.Meta(extra_json_schema=facts)] if facts else hint


def _schema_of(name: str, arguments: type[msgspec.Struct]) -> dict[str, Any]:
    try:
        (top,), parts = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    except TypeError as unknown:
        reason = str(unknown).strip().splitlines()[-1]
        raise AssistantError(
            f"the type hints of the tool {name!r} have no JSON schema: {reason}. Use str, int, "
            "float, bool, list, dict, Literal, an Enum, a dataclass or a TypedDict"
        ) from unknown
    own = top["$ref"].removeprefix("#/$defs/")
    schema = {key: value for key, value in parts.pop(own).items() if key != "title"}
    return {**schema, "$defs": parts} if parts else schema


def _said(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        return "it does not say what is wrong"
