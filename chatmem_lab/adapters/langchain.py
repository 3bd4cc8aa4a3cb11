"""LangChain's `trim_messages` and the middleware of its agents, before each model call.

Read in langchain 1.5.2 and langchain-core 1.8.3. An agent's system prompt is not among the
messages of its state: the middleware is not shown it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal

from chatmem_lab.adapters.langchain_runtime import (
    LangChainAdapter,
    LangChainRuntime,
    answering_model,
    our_message,
)
from chatmem_lab.errors import PolicyError
from chatmem_lab.policies.amounts import Amount, Messages, Share, Turns
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.summarizers import Summarizer, Truncate

__all__ = [
    "LangChainContextEditing",
    "LangChainMiddleware",
    "LangChainSummarization",
    "LangChainTrimMessages",
]


@dataclass(frozen=True, repr=False)
class LangChainTrimMessages(LangChainAdapter):
    """``trim_messages``, with all messages, as a view of the history.

    Examples
    --------
    >>> LangChainTrimMessages(4_000, start_on=("human",))
    LangChainTrimMessages(4_000, start_on=('human',))
    """

    max_tokens: Annotated[int, Bounds(0)]
    _: KW_ONLY
    strategy: str = "last"
    allow_partial: bool = False
    include_system: bool = False
    start_on: tuple[str, ...] = ()
    end_on: tuple[str, ...] = ()
    token_counter: str = "approximate"

    packages: ClassVar[tuple[str, ...]] = ("langchain-core",)
    sees: ClassVar[Literal["window", "history"]] = "history"

    @property
    def is_given_instructions(self) -> bool:
        return True

    def left(self, messages: list[Any], runtime: LangChainRuntime) -> Any:
        from langchain_core.messages import trim_messages

        return trim_messages(
            messages,
            max_tokens=self.max_tokens,
            token_counter="approximate" if self.token_counter == "approximate" else runtime.count,
            strategy=self.strategy,
            allow_partial=self.allow_partial,
            include_system=self.include_system,
            start_on=self.start_on or None,
            end_on=self.end_on or None,
        )


@dataclass(frozen=True, repr=False)
class LangChainContextEditing(LangChainAdapter):
    """``ContextEditingMiddleware`` with one ``ClearToolUsesEdit``: a view of the state.

    Examples
    --------
    >>> LangChainContextEditing(20_000)
    LangChainContextEditing(20_000)
    """

    trigger: Annotated[int, Bounds(0)] = 100_000
    _: KW_ONLY
    keep: Annotated[int, Bounds(0)] = 3
    clear_at_least: Annotated[int, Bounds(0)] = 0
    clear_tool_inputs: bool = False
    exclude_tools: tuple[str, ...] = ()
    placeholder: str = "[cleared]"
    token_counter: str = "approximate"

    sees: ClassVar[Literal["window", "history"]] = "history"

    def left(self, messages: list[Any], runtime: LangChainRuntime) -> Any:
        from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware

        edit = ClearToolUsesEdit(
            trigger=self.trigger,
            clear_at_least=self.clear_at_least,
            keep=self.keep,
            clear_tool_inputs=self.clear_tool_inputs,
            exclude_tools=self.exclude_tools,
            placeholder=self.placeholder,
        )

        middleware = ContextEditingMiddleware(
            edits=[edit],
            token_counter=None if self.token_counter == "approximate" else runtime.count,
        )
        request = SimpleNamespace(messages=messages, system_message=None, tools=[])
        request.override = lambda *, messages: SimpleNamespace(messages=messages)
        sent: list[Any] = []
        middleware.wrap_model_call(request, lambda given: sent.extend(given.messages))
        return sent


@dataclass(frozen=True, repr=False)
class LangChainSummarization(LangChainAdapter):
    """``SummarizationMiddleware``: what it leaves is the agent's state from then on.

    The summarizer is shown the messages alone, and charged for them. With
    `LangChainMiddleware` it is given, and charged for, LangChain's whole prompt.

    Examples
    --------
    >>> LangChainSummarization(Messages(40), summarizer=Truncate(500))
    LangChainSummarization(Messages(40), summarizer=Truncate(500))
    """

    trigger: Amount | None = None
    _: KW_ONLY
    keep: Amount = Messages(20)
    trim_tokens_to_summarize: Annotated[int, Bounds(1)] | None = 4_000
    context_tokens: Annotated[int, Bounds(1)] | None = None
    token_counter: str = "approximate"
    summarizer: Summarizer = field(default_factory=Truncate)

    def left(self, messages: list[Any], runtime: LangChainRuntime) -> Any:
        from langchain.agents.middleware import SummarizationMiddleware

        def summarize(shown: Sequence[Any]) -> str:
            return runtime.calls.answer(list(map(our_message, shown)), self.summarizer)

        counter = {} if self.token_counter == "approximate" else {"token_counter": runtime.count}
        middleware = SummarizationMiddleware(
            answering_model(runtime, self.summarizer, self.context_tokens),
            trigger=None if self.trigger is None else _size(self.trigger),
            keep=_size(self.keep),
            trim_tokens_to_summarize=self.trim_tokens_to_summarize,
            summarizer=summarize,
            **counter,
        )
        update = middleware.before_model({"messages": messages}, runtime=None)  # type: ignore[typeddict-item, arg-type]
        return None if update is None else update["messages"][1:]


@dataclass(frozen=True, repr=False)
class LangChainMiddleware(LangChainAdapter):
    """Any middleware of LangChain's agents, by its ``before_model`` and ``wrap_model_call``.

    What the first returns is the agent's state from then on, what the second sends is a view
    of it.

    Parameters
    ----------
    make : callable
        Builds a middleware from a chat model that answers with `summarizer`, a new one for
        each conversation.
    context_tokens : int, optional
        The model's context window.
    summarizer : Summarizer

    Examples
    --------
    >>> LangChainMiddleware(dict, context_tokens=8_000).context_tokens
    8000
    """

    make: Callable[[Any], Any]
    _: KW_ONLY
    context_tokens: Annotated[int, Bounds(1)] | None = None
    summarizer: Summarizer = field(default_factory=Truncate)

    sees: ClassVar[Literal["window", "history"]] = "history"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.make):
            raise PolicyError(f"LangChainMiddleware needs a function, not {self.make!r}")

    def left(self, messages: list[Any], runtime: LangChainRuntime) -> Any:
        from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
        from langchain_core.messages import AIMessage
        from langgraph.graph.message import add_messages

        state = runtime.state
        if not state:
            model = answering_model(runtime, self.summarizer, self.context_tokens)
            state.update(model=model, middleware=self.make(model), messages=[], arrived=set())
        arrived = [one for one in messages if one.id not in state["arrived"]]
        state["arrived"].update(one.id for one in arrived)
        state["messages"] = add_messages(state["messages"], arrived)
        agent = {"messages": list(state["messages"])}
        update = state["middleware"].before_model(agent, runtime=None) or {}
        if "messages" in update:
            state["messages"] = add_messages(state["messages"], update["messages"])
        if type(state["middleware"]).wrap_model_call is AgentMiddleware.wrap_model_call:
            return state["messages"]
        sent: list[Any] = []

        def model_call(request: Any) -> Any:
            sent[:] = request.messages
            return ModelResponse(result=[AIMessage("")])

        request = ModelRequest(
            model=state["model"],
            messages=list(state["messages"]),
            system_message=runtime.system,
            state={"messages": list(state["messages"])},
        )
        state["middleware"].wrap_model_call(request, model_call)
        return sent


def _size(amount: Amount) -> Any:
    match amount:
        case Turns():
            raise PolicyError("LangChain counts messages, tokens or a fraction, not turns")
        case Messages(n):
            return "messages", n
        case Share(x):
            return "fraction", x
    return "tokens", amount.n
