"""`replay`: one conversation under one policy."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from chatmem_lab.engine import Layout, Trace, trace_policy
from chatmem_lab.html.replay import replay_html
from chatmem_lab.messages import Conversation
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.metrics.events import events_table
from chatmem_lab.metrics.map import map_table
from chatmem_lab.metrics.requests import requests_table
from chatmem_lab.metrics.summaries import summaries_table
from chatmem_lab.policies import split_preset
from chatmem_lab.study.counting import counter_of
from chatmem_lab.study.naming import AnyPolicy, short, with_whole_names
from chatmem_lab.tokens import TokenCounter, weakest
from chatmem_lab.window import Window

__all__ = ["Replay", "replay"]


def replay(
    conversation: Conversation,
    policy: AnyPolicy,
    *,
    model: str | None = None,
    counter: TokenCounter | None = None,
) -> Replay:
    """Replay a recorded conversation under a policy.

    The replay is open loop: the recorded replies were produced with the recorded context.

    Parameters
    ----------
    conversation : Conversation
    policy : Policy or Preset
    model : str, optional
        Whose tokens are counted; without it the conversation's own. A conversation without
        a model is counted with o200k_base, as an estimate.
    counter : TokenCounter, optional
        Counts instead.

    Returns
    -------
    Replay

    Raises
    ------
    UnknownModelError
        For a model, given or recorded, that the model table does not have.

    Examples
    --------
    >>> import chatmem_lab as cml
    >>> conversation = cml.Conversation(
    ...     "chat",
    ...     (cml.user("Hi, I am Ada."), cml.assistant("Hello!"), cml.user("Who am I?"),
    ...      cml.assistant("Ada.")),
    ... )
    >>> run = cml.replay(conversation, cml.MessageWindow(1), model="gpt-4o")
    >>> run.requests[["messages", "input_tokens", "absent_messages"]].values.tolist()
    [[1, 13, 0], [1, 11, 2]]
    """
    if not isinstance(conversation, Conversation):
        raise TypeError(
            f"replay wants one Conversation, not {type(conversation).__name__}: "
            "cml.read(path) returns several, take one with [0], or use compare"
        )
    split_preset(policy)
    conversation = with_whole_names(conversation)
    model = None if model is None else normalised(model)
    chosen = counter_of(conversation, model, counter)
    return Replay(trace_policy(Layout(conversation, chosen, model=model), policy, model=model))


class Replay:
    """One conversation under one policy. The tables are made when asked for.

    Attributes
    ----------
    requests, events, map : DataFrame
        A row per request; per event; per slot and span of requests.
    conversation : Conversation
    policy : Policy or Preset
    model : str or None
    budget : int or None
    trace : Trace
        The same as arrays.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @property
    def conversation(self) -> Conversation:
        return self.trace.conversation

    @property
    def policy(self) -> AnyPolicy:
        return self.trace.policy

    @property
    def model(self) -> str | None:
        return self.trace.model or self.conversation.model

    @property
    def budget(self) -> int | None:
        return self.trace.budget

    @cached_property
    def requests(self) -> pd.DataFrame:
        """A row per request; see `metrics.requests.requests_table`."""
        return requests_table(self.trace)

    @cached_property
    def events(self) -> pd.DataFrame:
        """A row per event; see `metrics.events.events_table`."""
        return events_table(self.trace)

    @cached_property
    def map(self) -> pd.DataFrame:
        """A row per slot and span of requests; see `metrics.map.map_table`."""
        return map_table(self.trace)

    @cached_property
    def summaries(self) -> pd.DataFrame:
        """A row per summary that entered the window."""
        return summaries_table({normalised(repr(self.policy)): [self.trace]})

    def window(self, request: int) -> Window:
        """The window at `request`; draws itself in a notebook."""
        return self.trace.window(request)

    @property
    def final(self) -> Window:
        """The window after the last message; it counts in no total."""
        return self.trace.window(-1)

    def _repr_html_(self) -> str:
        columns: dict[str, list[object]] = {
            str(name): self.requests[name].tolist() for name in self.requests
        }
        events: dict[str, list[object]] = {}
        for event in self.trace.events:
            events.setdefault(event.kind, []).append(event.request)
        return replay_html(
            self.conversation.id,
            columns,
            policy=repr(self.policy),
            model=self.model,
            count_kind=weakest(self.requests["count_kind"]),
            events=events,
        )

    def __repr__(self) -> str:
        return (
            f"<Replay of {short(self.conversation.id)} under {self.policy!r}: "
            f"{self.trace.requests} requests, {int(self.trace.input_tokens.sum()):,} input tokens>"
        )
