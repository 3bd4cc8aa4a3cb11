"""Pydantic AI's history processors and the compactions of its harness, before each request.

Read in pydantic-ai-slim 2.62.0 and pydantic-ai-harness 0.62.0. The agent's instructions are
not among its messages: they stay. All results of one answer are one message there. What they
leave is the run's history from then on.
"""

from __future__ import annotations

import inspect
import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar

from chatmem_lab.adapters.adapter import Adapter, Answer, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.exchange import Exchange, grouped_results, with_instructions
from chatmem_lab.adapters.waiting import wait_for
from chatmem_lab.errors import PolicyError
from chatmem_lab.messages import Message, ToolCall, assistant, tool_output, user
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.policies.presets.pydantic_ai import file_of
from chatmem_lab.summarizers import Summarizer, Truncate
from chatmem_lab.window import Window

__all__ = [
    "PydanticAICapability",
    "PydanticAIClampOversized",
    "PydanticAIClearToolResults",
    "PydanticAIDeduplicateFileReads",
    "PydanticAIHistoryProcessor",
    "PydanticAISlidingWindow",
]


class _Capability(Adapter):
    """A capability with a hook before each model request: what all of them have in common."""

    packages: ClassVar[tuple[str, ...]] = ("pydantic-ai-slim", "pydantic-ai-harness")
    extra = "pydantic-ai"

    @abstractmethod
    def capability(self, model: Any) -> Any:
        """A new capability, for one conversation; `model` answers with the summarizer."""
        raise NotImplementedError

    @property
    def answering(self) -> Summarizer:
        """Answers where the capability calls a model."""
        return Truncate()

    def open(self, calls: ModelCalls) -> Session:
        return _Run(self, calls)


@dataclass(frozen=True, repr=False)
class PydanticAICapability(_Capability):
    """Any capability that compacts: Pydantic AI's own, of its harness, or a user's.

    Parameters
    ----------
    make : callable
        Builds it from a model that answers with `summarizer`, a new one for each
        conversation.
    summarizer : Summarizer

    Examples
    --------
    >>> PydanticAICapability(dict).extra
    'pydantic-ai'
    """

    make: Callable[[Any], Any]
    _: KW_ONLY
    summarizer: Summarizer = field(default_factory=Truncate)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise PolicyError(f"PydanticAICapability needs a function, not {self.make!r}")

    @property
    def answering(self) -> Summarizer:
        return self.summarizer

    def capability(self, model: Any) -> Any:
        return self.make(model)


@dataclass(frozen=True, repr=False)
class PydanticAIHistoryProcessor(_Capability):
    """A history processor: a function from Pydantic AI's messages to those that stay.

    Examples
    --------
    >>> def last_two(messages):
    ...     return messages[-2:]
    >>> PydanticAIHistoryProcessor(last_two).packages
    ('pydantic-ai-slim',)
    """

    function: Callable[[list[Any]], Any]

    packages: ClassVar[tuple[str, ...]] = ("pydantic-ai-slim",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise PolicyError(
                f"PydanticAIHistoryProcessor needs a function, not {self.function!r}"
            )

    def capability(self, model: Any) -> Any:
        return None


@dataclass(frozen=True, repr=False)
class PydanticAISlidingWindow(_Capability):
    """``SlidingWindowCompaction`` of the harness, by messages.

    Examples
    --------
    >>> PydanticAISlidingWindow(80)
    PydanticAISlidingWindow(80)
    """

    max_messages: Annotated[int, Bounds(1)]
    _: KW_ONLY
    keep_messages: Annotated[int, Bounds(0)] = 40
    preserve_first_user_message: bool = True

    def capability(self, model: Any) -> Any:
        from pydantic_ai_harness.compaction import SlidingWindowCompaction

        return SlidingWindowCompaction(
            max_messages=self.max_messages,
            keep_messages=self.keep_messages,
            preserve_first_user_message=self.preserve_first_user_message,
        )


@dataclass(frozen=True, repr=False)
class PydanticAIClearToolResults(_Capability):
    """``ClearToolResults`` of the harness, by messages.

    Examples
    --------
    >>> PydanticAIClearToolResults(30)
    PydanticAIClearToolResults(30)
    """

    max_messages: Annotated[int, Bounds(1)]
    _: KW_ONLY
    keep_pairs: Annotated[int, Bounds(0)] = 3
    placeholder: str = "[tool result cleared]"
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False

    def capability(self, model: Any) -> Any:
        from pydantic_ai_harness.compaction import ClearToolResults

        return ClearToolResults(
            max_messages=self.max_messages,
            keep_pairs=self.keep_pairs,
            placeholder=self.placeholder,
            exclude_tools=frozenset(self.exclude_tools),
            clear_tool_inputs=self.clear_tool_inputs,
        )


@dataclass(frozen=True, repr=False)
class PydanticAIDeduplicateFileReads(_Capability):
    """``DeduplicateFileReads`` of the harness; names in the place of its function.

    Examples
    --------
    >>> PydanticAIDeduplicateFileReads(("open",))
    PydanticAIDeduplicateFileReads(('open',))
    """

    tools: tuple[str, ...] = ("read_file",)
    _: KW_ONLY
    path_argument: str = "path"
    placeholder: str = "[superseded file read]"

    def capability(self, model: Any) -> Any:
        from pydantic_ai_harness.compaction import DeduplicateFileReads

        def file_key(call: Any) -> str | None:
            written = call.args if isinstance(call.args, str) else json.dumps(call.args)
            return file_of(call.tool_name, written, self.tools, self.path_argument)

        return DeduplicateFileReads(file_key=file_key, placeholder=self.placeholder)


@dataclass(frozen=True, repr=False)
class PydanticAIClampOversized(_Capability):
    """``ClampOversizedMessages`` of the harness, by characters.

    Examples
    --------
    >>> PydanticAIClampOversized(20_000)
    PydanticAIClampOversized(20_000)
    """

    max_part_chars: Annotated[int, Bounds(1)]
    _: KW_ONLY
    keep_head_chars: Annotated[int, Bounds(0)] = 2_000
    keep_tail_chars: Annotated[int, Bounds(0)] = 2_000
    clamp_tool_call_args: bool = True

    def capability(self, model: Any) -> Any:
        from pydantic_ai_harness.compaction import ClampOversizedMessages

        return ClampOversizedMessages(
            max_part_chars=self.max_part_chars,
            keep_head_chars=self.keep_head_chars,
            keep_tail_chars=self.keep_tail_chars,
            clamp_tool_call_args=self.clamp_tool_call_args,
        )


class _Run:
    """An agent's run as far as a capability sees it: its messages and its model."""

    def __init__(self, adapter: _Capability, calls: ModelCalls) -> None:
        import pydantic_ai.messages  # noqa: F401  # a missing package is said at once

        self._adapter = adapter
        self._model = _model(adapter, calls)
        self._capability = adapter.capability(self._model)

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        groups = grouped_results(messages)
        theirs = [_theirs([messages[at] for at in members]) for members in groups]
        for place, one in enumerate(theirs):
            one.metadata = {"place": place}
        exchange = Exchange(messages, list(zip(theirs, groups)), _ours, _place)
        return with_instructions(messages, exchange.answers(self._left(list(theirs))))

    def _left(self, messages: list[Any]) -> list[Any]:
        if isinstance(self._adapter, PydanticAIHistoryProcessor):
            left = self._adapter.function(messages)
            return list(wait_for(left) if inspect.isawaitable(left) else left)  # type: ignore[arg-type]
        from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
        from pydantic_ai.tools import RunContext
        from pydantic_ai.usage import RunUsage

        context: Any = RunContext(
            deps=None, model=self._model, usage=RunUsage(), messages=list(messages)
        )
        request = ModelRequestContext(
            model=self._model,
            messages=messages,
            model_settings=None,
            model_request_parameters=ModelRequestParameters(),
        )
        return list(wait_for(self._capability.before_model_request(context, request)).messages)


def _model(adapter: _Capability, calls: ModelCalls) -> Any:
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    def answered(messages: list[Any], info: Any) -> Any:
        prompt = [message for theirs in messages for message in _ours(theirs)]
        return ModelResponse(parts=[TextPart(calls.answer(prompt, adapter.answering))])

    return FunctionModel(answered)


def _theirs(ours: Sequence[Message]) -> Any:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    first = ours[0]
    if first.role == "tool":
        return ModelRequest(
            parts=[
                ToolReturnPart(
                    tool_name=message.name or "tool",
                    content=message.text,
                    tool_call_id=message.tool_call_id or "",
                    outcome="failed" if message.is_error else "success",
                )
                for message in ours
            ]
        )
    if first.role == "user":
        return ModelRequest(parts=[UserPromptPart(first.text)])
    parts: list[Any] = [TextPart(first.text)] if first.text else []
    parts += [
        ToolCallPart(tool_name=call.name, args=call.arguments or "{}", tool_call_id=call.id)
        for call in first.tool_calls
    ]
    return ModelResponse(parts=parts)


def _ours(theirs: Any) -> list[Message]:
    if theirs.kind == "response":
        text = "".join(part.content for part in theirs.parts if part.part_kind == "text")
        calls = [
            ToolCall(part.tool_call_id, part.tool_name, _written(part.args))
            for part in theirs.parts
            if part.part_kind == "tool-call"
        ]
        return [assistant(text or None, tool_calls=calls)]
    results = [part for part in theirs.parts if part.part_kind == "tool-return"]
    if results:
        return [
            tool_output(part.tool_call_id, str(part.content), is_error=part.outcome == "failed")
            for part in results
        ]
    return [user("\n\n".join(str(part.content) for part in theirs.parts))]


def _place(theirs: Any) -> int | None:
    place = (theirs.metadata or {}).get("place")
    return place if isinstance(place, int) else None


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})
