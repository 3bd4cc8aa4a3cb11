"""A summarizer for tests: it answers as told and keeps what it was asked."""

from __future__ import annotations

from chatmem_lab.summarizers import Summary

__all__ = ["Recording"]


class Recording:
    """Answers as told and keeps what it was asked."""

    def __init__(self, answer="s", covered=None, usage=None):
        self.answer, self.covered, self.usage = answer, covered, usage
        self.requests = []

    def summarize(self, request):
        self.requests.append(request)
        answer = self.answer
        if isinstance(answer, type) and issubclass(answer, Exception):
            raise answer("too slow")
        if callable(answer):
            answer = answer(request)
        return Summary(text=answer, covered=self.covered, usage=self.usage)

    def __repr__(self):
        return "Recording()"
