"""`compare`: many conversations under several policies; `grid`: a policy's parameters."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import product
from typing import Any

import pandas as pd

from chatmem_lab.adapters import adapters_in
from chatmem_lab.engine import Trace, trace_policies
from chatmem_lab.html.study import study_html
from chatmem_lab.messages import Conversation
from chatmem_lab.messages.surrogates import normalised
from chatmem_lab.metrics.requests import requests_table
from chatmem_lab.metrics.scores import scores_table, validity_table
from chatmem_lab.metrics.summaries import summaries_table
from chatmem_lab.metrics.summary import summary_table
from chatmem_lab.study.counting import batches
from chatmem_lab.study.naming import AnyPolicy, labelled, listed, short
from chatmem_lab.study.replaying import Replay
from chatmem_lab.tokens import COUNT_KINDS, TokenCounter

__all__ = ["Study", "compare", "grid"]


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
    chosen = labelled(policies)
    if isinstance(conversations, Conversation):
        conversations = [conversations]
    model = None if model is None else normalised(model)
    traces: dict[str, list[Trace]] = {label: [] for label in chosen}
    for layouts in batches(_shown(conversations, progress), model, counter):
        for many in trace_policies(layouts, list(chosen.values()), model=model):
            for label, trace in zip(chosen, many):
                traces[label].append(trace)
    return Study(chosen, traces, model=model, seed=seed)


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
                f"no policy is labelled {short(policy)}: there are {listed(self.traces)}"
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
                f"the id {short(id)} stands for {len(places)} conversations: take one by its "
                f"place, such as study.run({places[0]}, …) or study.run({places[1]}, …)"
            )
        some = listed(trace.conversation.id for trace in many[:5])
        raise KeyError(f"no conversation has the id {short(id)}: the first ones are {some}")

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
            facts = repr((conversation.messages, conversation.tools))
            digest.update(facts.encode("utf-8", "backslashreplace"))
        first = next(iter(self.traces.values()))
        return {
            "chatmem_lab": version("chatmem-lab"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "pandas", "tiktoken", "toktok-rs")},
            "model": self.model,
            "counter": sorted({trace.layout.counter.name for trace in first}),
            "policies": {label: repr(policy) for label, policy in self.policies.items()},
            "frameworks": {
                package: number
                for policy in self.policies.values()
                for adapter in adapters_in(policy)
                for package, number in adapter.versions.items()
            },
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


def _shown(conversations: Iterable[Conversation], progress: bool) -> Iterable[Conversation]:
    if not progress:
        return conversations
    from tqdm.auto import tqdm

    shown: Iterable[Conversation] = tqdm(
        conversations, desc="replaying", unit=" conversations", delay=2, leave=False
    )
    return shown
