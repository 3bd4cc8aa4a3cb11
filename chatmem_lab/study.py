"""`replay` one conversation, `compare` policies on many, `grid` their parameters."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import islice, product
from typing import Any

import msgspec
import pandas as pd

from chatmem_lab.engine import Layout, Trace, trace_policies, trace_policy
from chatmem_lab.errors import PolicyError
from chatmem_lab.html.replay import replay_html
from chatmem_lab.html.study import study_html
from chatmem_lab.html.text import cut
from chatmem_lab.messages import Conversation
from chatmem_lab.metrics.events import events_table
from chatmem_lab.metrics.map import map_table
from chatmem_lab.metrics.requests import requests_table
from chatmem_lab.metrics.scores import scores_table, validity_table
from chatmem_lab.metrics.summaries import summaries_table
from chatmem_lab.metrics.summary import summary_table
from chatmem_lab.policies import Policy, Preset, split_preset
from chatmem_lab.tokens import COUNT_KINDS, Count, TokenCounter, default_counter, weakest
from chatmem_lab.tokens import counter as counter_for
from chatmem_lab.tokens.encodings import normalised
from chatmem_lab.window import Window

__all__ = ["Replay", "Study", "compare", "grid", "replay"]

AnyPolicy = Policy | Preset

#: Conversations whose texts are counted in one batch.
_BATCH = 64


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
    conversation = _with_whole_names(conversation)
    model = None if model is None else normalised(model)
    chosen = _counter(conversation, model, counter)
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
            f"<Replay of {_short(self.conversation.id)} under {self.policy!r}: "
            f"{self.trace.requests} requests, {int(self.trace.input_tokens.sum()):,} input tokens>"
        )


def compare(
    conversations: Conversation | Iterable[Conversation],
    policies: AnyPolicy | Sequence[AnyPolicy] | Mapping[str, AnyPolicy],
    *,
    model: str | None = None,
    counter: TokenCounter | None = None,
    progress: bool = True,
    seed: int = 0,
) -> Study:
    """Replay conversations under several policies.

    Each text is counted once, in batches, however many policies there are.

    Parameters
    ----------
    conversations : Conversation or iterable of them
    policies : policy, sequence of them, or mapping of label to policy
        Without labels, a policy's recipe is its label.
    model, counter
        As in `replay`.
    progress : bool
        A progress bar, once it has taken two seconds.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Study

    Raises
    ------
    PolicyError
        Without policies, with the same label twice, or with something that is no policy.
    """
    labelled = _labelled(policies)
    if isinstance(conversations, Conversation):
        conversations = [conversations]
    model = None if model is None else normalised(model)
    traces: dict[str, list[Trace]] = {label: [] for label in labelled}
    for layouts in _batches(_shown(conversations, progress), model, counter):
        for many in trace_policies(layouts, list(labelled.values()), model=model):
            for label, trace in zip(labelled, many):
                traces[label].append(trace)
    return Study(labelled, traces, model=model, seed=seed)


class Study:
    """Several conversations under several policies. The tables are made when asked for.

    Attributes
    ----------
    scores : DataFrame
        A row per conversation and policy.
    summary : DataFrame
        A row per policy, each figure x with x_low, x_high (95 %, bootstrap over
        conversations).
    requests, summaries, validity : DataFrame
        A row per request; per summary; per policy with a column per fault.
    policies : dict of label to policy
    traces : dict of label to list of Trace
    """

    def __init__(
        self,
        policies: Mapping[str, AnyPolicy],
        traces: Mapping[str, list[Trace]],
        *,
        model: str | None = None,
        seed: int = 0,
    ) -> None:
        self.policies = dict(policies)
        self.traces = dict(traces)
        self.model = model
        self.seed = seed

    @property
    def conversations(self) -> list[Conversation]:
        """The conversations, in the order in which they came."""
        return [trace.conversation for trace in next(iter(self.traces.values()))]

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row per conversation and policy; see `metrics.scores.scores_table`."""
        return scores_table(self.traces)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row per policy; see `metrics.summary.summary_table`."""
        return summary_table(self.scores, seed=self.seed)

    @cached_property
    def validity(self) -> pd.DataFrame:
        """A row per policy, a column per kind of fault."""
        return validity_table(self.traces)

    @cached_property
    def summaries(self) -> pd.DataFrame:
        """A row per summary that entered a window."""
        return summaries_table(self.traces)

    @cached_property
    def requests(self) -> pd.DataFrame:
        """A row per policy, conversation and request."""
        flat = [trace for many in self.traces.values() for trace in many]
        table = requests_table(flat)
        labels = [
            label
            for label, many in self.traces.items()
            for trace in many
            for _ in range(trace.requests)
        ]
        table.insert(0, "policy", labels)
        return table

    def run(self, conversation: str | int, policy: str) -> Replay:
        """The replay of one conversation under one policy, by id and label.

        Parameters
        ----------
        conversation : str or int
            Its id, or its place in `conversations`, from 0.
        policy : str
            The label.

        Raises
        ------
        KeyError
            Naming what there is; for an id of several conversations, their places.
        """
        label = normalised(policy) if isinstance(policy, str) else policy
        if label not in self.traces:
            raise KeyError(
                f"no policy is labelled {_short(policy)}: there are {_list(self.traces)}"
            )
        many = self.traces[label]
        if isinstance(conversation, int):
            if not 0 <= conversation < len(many):
                raise KeyError(f"no conversation {conversation}: there are {len(many)}, from 0")
            return Replay(many[conversation])
        id = normalised(conversation)
        places = [i for i, trace in enumerate(many) if trace.conversation.id == id]
        if len(places) == 1:
            return Replay(many[places[0]])
        if places:
            raise KeyError(
                f"the id {_short(id)} stands for {len(places)} conversations: take one by its "
                f"place, such as study.run({places[0]}, …) or study.run({places[1]}, …)"
            )
        some = _list(trace.conversation.id for trace in many[:5])
        raise KeyError(f"no conversation has the id {_short(id)}: the first ones are {some}")

    def worst(self, by: str = "evicted_messages", n: int = 5) -> pd.DataFrame:
        """The scores with the largest value of column `by`."""
        if by not in self.scores:
            raise KeyError(f"scores have no column {by!r}: there are {list(self.scores)}")
        return self.scores.sort_values(by, ascending=False, kind="stable").head(n)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What is needed to make the same study again."""
        digest = hashlib.sha256()
        for conversation in self.conversations:
            digest.update(msgspec.json.encode(conversation.messages))
            digest.update(msgspec.json.encode(conversation.tools))
        first = next(iter(self.traces.values()))
        return {
            "chatmem_lab": version("chatmem-lab"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "pandas", "tiktoken", "toktok-rs")},
            "model": self.model,
            "counter": sorted({trace.layout.counter.name for trace in first}),
            "policies": {label: repr(policy) for label, policy in self.policies.items()},
            "conversations": len(first),
            "seed": self.seed,
            "data_sha256": digest.hexdigest(),
        }

    @property
    def count_kind(self) -> str:
        """How sure the counts are: the weakest of all requests."""
        codes = [int(t.count_kind.max(initial=0)) for many in self.traces.values() for t in many]
        return COUNT_KINDS[max(codes, default=0)]

    def _repr_html_(self) -> str:
        rows: list[dict[str, Any]] = [
            {str(name): value for name, value in row.items()}
            for row in self.summary.reset_index().to_dict("records")
        ]
        return study_html(rows, model=self.model, count_kind=self.count_kind)

    def __repr__(self) -> str:
        return f"<Study of {len(self.conversations)} conversations, {len(self.policies)} policies>"


def grid(policy: Callable[..., AnyPolicy], **parameters: Iterable[object]) -> list[AnyPolicy]:
    """Every combination of a policy's parameters, the last one changing fastest.

    Examples
    --------
    >>> from chatmem_lab.policies import TokenWindow
    >>> grid(TokenWindow, max_tokens=[2_000, 4_000])
    [TokenWindow(2_000), TokenWindow(4_000)]
    """
    names = list(parameters)
    return [
        policy(**dict(zip(names, values)))
        for values in product(*(list(parameters[name]) for name in names))
    ]


def _labelled(
    policies: AnyPolicy | Sequence[AnyPolicy] | Mapping[str, AnyPolicy],
) -> dict[str, AnyPolicy]:
    if isinstance(policies, Mapping):
        labelled = {}
        for key, policy in policies.items():
            label = normalised(str(key))
            if label in labelled:
                raise PolicyError(
                    f"the same label twice: {_short(label)} (labels are compared as text)"
                )
            labelled[label] = policy
    else:
        many = [policies] if isinstance(policies, Policy | Preset) else list(policies)
        labelled = {}
        for policy in many:
            label = normalised(repr(policy))
            if label in labelled:
                raise PolicyError(
                    f"{policy!r} is there twice: give labels, {{'a': policy, 'b': policy}}"
                )
            labelled[label] = policy
    if not labelled:
        raise PolicyError("compare needs at least one policy")
    for policy in labelled.values():
        split_preset(policy)
    return labelled


def _with_whole_names(conversation: Conversation) -> Conversation:
    """The same conversation; no table holds the half of a surrogate pair in an id or a model."""
    changed: dict[str, Any] = {}
    for name in ("id", "model"):
        text = getattr(conversation, name)
        if text is not None and normalised(text) != text:
            changed[name] = normalised(text)
    models = {m.model for m in conversation.messages if m.model is not None}
    if any(normalised(model) != model for model in models):
        changed["messages"] = tuple(
            m if m.model is None else msgspec.structs.replace(m, model=normalised(m.model))
            for m in conversation.messages
        )
    return msgspec.structs.replace(conversation, **changed) if changed else conversation


def _short(name: object) -> str:
    return cut(repr(name), 80)


def _list(names: Iterable[str]) -> str:
    return f"[{', '.join(map(_short, names))}]"


def _counter(
    conversation: Conversation, model: str | None, counter: TokenCounter | None
) -> TokenCounter:
    if counter is not None:
        return counter
    name = model or conversation.model
    return default_counter() if name is None else counter_for(name)


def _batches(
    conversations: Iterable[Conversation], model: str | None, counter: TokenCounter | None
) -> Iterator[list[Layout]]:
    """Layouts in order, batch by batch; the texts of a batch are counted at once."""
    remaining = iter(conversations)
    counters: dict[str | None, TokenCounter] = {}
    while batch := [_with_whole_names(one) for one in islice(remaining, _BATCH)]:
        chosen = []
        for conversation in batch:
            name = model or conversation.model
            if name not in counters:
                counters[name] = _counter(conversation, model, counter)
            chosen.append(counters[name])
        counts: dict[int, list[Count]] = {}
        for one in {id(c): c for c in chosen}.values():
            members = [i for i, c in enumerate(chosen) if c is one]
            flat = one.count_messages([m for i in members for m in batch[i].messages])
            start = 0
            for i in members:
                counts[i] = flat[start : start + len(batch[i])]
                start += len(batch[i])
        yield [
            Layout(conversation, chosen[i], model=model, counts=counts[i])
            for i, conversation in enumerate(batch)
        ]


def _shown(conversations: Iterable[Conversation], progress: bool) -> Iterable[Conversation]:
    if not progress:
        return conversations
    from tqdm.auto import tqdm

    shown: Iterable[Conversation] = tqdm(
        conversations, desc="replaying", unit=" conversations", delay=2, leave=False
    )
    return shown
