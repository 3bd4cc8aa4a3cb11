"""The replay of one conversation under one policy: arrays in, arrays out."""

from chatmem_lab.engine.closed_form import has_closed_form, replay_closed_form
from chatmem_lab.engine.layout import CATEGORIES, Layout
from chatmem_lab.engine.replaying import trace_policies, trace_policy
from chatmem_lab.engine.stepwise import replay_stepwise
from chatmem_lab.engine.trace import Span, Trace

__all__ = [
    "CATEGORIES",
    "Layout",
    "Span",
    "Trace",
    "has_closed_form",
    "replay_closed_form",
    "replay_stepwise",
    "trace_policies",
    "trace_policy",
]
