"""What our own tests and a user's tests share: the contracts, as checks. Only tests import it."""

from chatmem_lab.testing.summarizers import check_summarizer

__all__ = ["check_summarizer"]
