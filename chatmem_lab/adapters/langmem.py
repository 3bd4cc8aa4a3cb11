"""langmem's running summary, brought up to date before each model call.

Read in langmem 0.0.30. It is given all messages of an agent's state, which keeps them; the
summary and the messages that it stands for are kept beside them.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.adapters.langchain_runtime import (
    LangChainAdapter,
    LangChainRuntime,
    answering_model,
)
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.summarizers import Summarizer, Truncate

__all__ = ["LangMemSummarizeMessages"]


@dataclass(frozen=True, repr=False)
class LangMemSummarizeMessages(LangChainAdapter):
    """``summarize_messages`` with the running summary that it returned the last time.

    Examples
    --------
    >>> LangMemSummarizeMessages(4_000, max_summary_tokens=128)
    LangMemSummarizeMessages(4_000, max_summary_tokens=128, summarizer=Truncate(2_000))
    """

    max_tokens: Annotated[int, Bounds(1)]
    _: KW_ONLY
    max_tokens_before_summary: Annotated[int, Bounds(1)] | None = None
    max_summary_tokens: Annotated[int, Bounds(0)] = 256
    token_counter: str = "approximate"
    summarizer: Summarizer = field(default_factory=Truncate)

    packages: ClassVar[tuple[str, ...]] = ("langmem", "langchain-core")
    extra = "langmem"
    sees: ClassVar[Literal["window", "history"]] = "history"

    @property
    def is_given_instructions(self) -> bool:
        return True

    def open(self, calls: ModelCalls) -> LangChainRuntime:
        import langmem.short_term  # noqa: F401  # a missing package is said at once

        return LangChainRuntime(self, calls)

    def left(self, messages: list[Any], runtime: LangChainRuntime) -> Any:
        from langchain_core.messages.utils import count_tokens_approximately
        from langmem.short_term import summarize_messages

        is_approximate = self.token_counter == "approximate"
        result = summarize_messages(
            messages,
            running_summary=runtime.state.get("summary"),
            model=answering_model(runtime, self.summarizer),
            max_tokens=self.max_tokens,
            max_tokens_before_summary=self.max_tokens_before_summary,
            max_summary_tokens=self.max_summary_tokens,
            token_counter=count_tokens_approximately if is_approximate else runtime.count,
        )
        runtime.state["summary"] = result.running_summary
        return result.messages
