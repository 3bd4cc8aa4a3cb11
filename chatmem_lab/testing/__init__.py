"""What our own tests and a user's tests share: the contracts, as checks. Only tests import it."""

from chatmem_lab.testing.counters import check_counter
from chatmem_lab.testing.length_counter import LengthCounter
from chatmem_lab.testing.local_server import openai_server
from chatmem_lab.testing.policies import check_policy, check_replay
from chatmem_lab.testing.served_reply import Reply
from chatmem_lab.testing.stores import check_store
from chatmem_lab.testing.strategies import conversations, message_lists
from chatmem_lab.testing.summarizers import check_summarizer

__all__ = [
    "LengthCounter",
    "Reply",
    "check_counter",
    "check_policy",
    "check_replay",
    "check_store",
    "check_summarizer",
    "conversations",
    "message_lists",
    "openai_server",
]
