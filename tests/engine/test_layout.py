"""`Layout`: what is counted once for all policies."""

from __future__ import annotations

from chatmem_lab.engine import Layout
from chatmem_lab.messages import Conversation, tool_output, user
from chatmem_lab.testing import LengthCounter
from chatmem_lab.tokens import Count
from replaying import calls


def test_schemas_that_were_not_recorded_make_a_lower_bound():
    plain = Conversation("plain", (user("q"),))
    called = Conversation("called", (user("q"), calls("c1"), tool_output("c1", "r")))
    recorded = Conversation("recorded", called.messages, tools=({"name": "read"},))
    assert Layout(plain, LengthCounter()).tool_schemas == Count(0, "exact")
    assert Layout(called, LengthCounter()).tool_schemas == Count(0, "lower_bound")
    assert Layout(recorded, LengthCounter()).tool_schemas == Count(17, "estimate")
