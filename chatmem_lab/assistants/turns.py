"""`Turns`: question, tools, answer, and what a turn leaves that does not come to its end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import Any, Literal
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from chatmem_lab.assistants.apis import Api
from chatmem_lab.assistants.replies import StreamedReply
from chatmem_lab.assistants.streaming import Listener
from chatmem_lab.assistants.tools import Toolbox
from chatmem_lab.errors import AssistantError
from chatmem_lab.html.text import cut
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import INSTRUCTION_ROLES, Message, Reasoning, Text, system, tool_output
from chatmem_lab.projections.repair import ProjectedList

__all__ = ["OnError", "Turns"]

_log = logging.getLogger("chatmem_lab.assistants")

#: Seconds that a turn waits for another one of its session before that is logged.
PATIENCE = 30.0

OnError = Literal["rollback", "keep_user"]

_BROKEN_OFF = "Error: the reply broke off before this call was complete"


class Queues:
    """A lock for each memory: a second turn waits until the first is over."""

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[ChatMemory, RLock] = WeakKeyDictionary()
        self._lock = Lock()

    @contextmanager
    def turn_of(self, memory: ChatMemory) -> Iterator[None]:
        """Inside, no other turn is taken; a long wait for that is logged."""
        with self._lock:
            lock = self._locks.setdefault(memory, RLock())
        if not lock.acquire(timeout=PATIENCE):
            _log.warning(
                "a turn of %s waits for another one to end: is there a stream that was neither "
                "read to its end nor closed?",
                cut(repr(memory.id), 80),
            )
            lock.acquire()
        try:
            yield
        finally:
            lock.release()


@dataclass(frozen=True)
class Turns:
    """How turns are taken: whom to ask, with which tools, how often, and after a failure."""

    client: Any
    model: str
    api: Api
    toolbox: Toolbox
    request: Mapping[str, Any]
    augment: Callable[[str], str] | None
    max_rounds: int
    on_error: OnError
    queues: Queues = field(default_factory=Queues)

    def take(
        self,
        memory: ChatMemory,
        instruction: str | None,
        question: Message,
        listener: Listener | None = None,
    ) -> Message:
        """Ask `question` and add all that follows, or nothing; the final message."""
        with self.queues.turn_of(memory):
            return self._take(memory, instruction, question, listener)

    def _take(
        self,
        memory: ChatMemory,
        instruction: str | None,
        question: Message,
        listener: Listener | None,
    ) -> Message:
        was_asked = False
        failure = None
        try:
            with memory.turn():
                _ask(memory, instruction, question)
                was_asked = True
                try:
                    reply = self._answer(memory, question, listener)
                except BaseException as error:
                    if listener is None or not _keep_partial(memory, listener, error):
                        raise
                    failure = error
                else:
                    if listener is not None:
                        listener.wait_until_read()
        except BaseException as error:
            if was_asked and self.on_error == "keep_user":
                _keep_question(memory, instruction, question, error)
            raise
        if failure is not None:
            raise failure
        return reply

    def _answer(self, memory: ChatMemory, question: Message, listener: Listener | None) -> Message:
        sent = self._augmented(question)
        for round in range(self.max_rounds + 1):
            reply = self._reply(_with_question(memory.request(), question, sent), listener)
            reply = _with_own_id(reply, memory)
            if not reply.tool_calls:
                memory.add(reply)
                return reply
            if round < self.max_rounds:
                memory.add(reply)
                for call in reply.tool_calls:
                    memory.add(self.toolbox.answer(call))
        names = ", ".join(cut(call.name, 80) for call in reply.tool_calls)
        raise AssistantError(
            f"after {self.max_rounds} rounds of tool calls the model still calls {names}: "
            "give the assistant a higher max_rounds, or the model a tool that answers it"
        )

    def _augmented(self, question: Message) -> Message:
        if self.augment is None:
            return question
        text = self.augment(question.text)
        if not isinstance(text, str):
            raise AssistantError(
                f"augment gives the text to send, a str, not {type(text).__name__}"
            )
        others = tuple(part for part in question.parts if not isinstance(part, Text))
        return replace(question, parts=(Text(text), *others))

    def _projected(self, messages: list[Message]) -> ProjectedList:
        sent = self.api.projected(messages)
        if not sent:
            raise AssistantError(
                "the memory's policy left nothing to send: give it room for a question with "
                "its tool calls and their results"
            )
        return sent

    def _reply(self, messages: list[Message], listener: Listener | None) -> Message:
        own = [self.api.tool(tool["function"]) for tool in self.toolbox.schemas]
        tools = [*own, *self.request.get("tools", ())]
        options: dict[str, Any] = {
            **self.request,
            "model": self.model,
            self.api.messages_name: self._projected(messages),
            **({"tools": tools} if tools else {}),
        }
        create = self.api.create(self.client)
        if listener is None:
            return _checked(self.api.reply(create(**options)))
        listener.partial = self.api.stream()
        options = {**self.api.stream_options, **options, "stream": True}
        reply = _checked(_heard(create(**options), listener.partial, listener))
        listener.partial = None
        return reply


def _ask(memory: ChatMemory, instruction: str | None, question: Message) -> None:
    """Instruction and question, each unless it stands there already."""
    if instruction is not None and instruction != _current_instruction(memory):
        memory.add(system(instruction))
    last = memory.history[-1:]
    if not last or not last[0].same_as(question):
        memory.add(question)


def _current_instruction(memory: ChatMemory) -> str | None:
    for message in reversed(memory.messages):
        if message.role in INSTRUCTION_ROLES and message.summary is None:
            return message.text
    return None


def _keep_question(
    memory: ChatMemory, instruction: str | None, question: Message, error: BaseException
) -> None:
    try:
        with memory.turn():
            _ask(memory, instruction, question)
    except Exception as second:
        error.add_note(f"the question could not be kept: {type(second).__name__}: {second}")


def _keep_partial(memory: ChatMemory, listener: Listener, error: BaseException) -> bool:
    """Add what had come of the reply, marked; whether there was anything to keep."""
    if not listener.keeps_partial or listener.partial is None:
        return False
    reply = _with_own_id(listener.partial.message, memory)
    if _says_nothing(reply):
        return False
    why = cut(f"{type(error).__name__}: {error}", 200)
    memory.add(replace(reply, finish_reason="incomplete", metadata={"incomplete": why}))
    for call in reply.tool_calls:
        memory.add(tool_output(call.id, _BROKEN_OFF, is_error=True))
    return True


def _with_question(
    messages: tuple[Message, ...], question: Message, sent: Message
) -> list[Message]:
    """The messages with `sent` where the question stands, if the window still holds it."""
    given = list(messages)
    for index in range(len(given) - 1, -1, -1):
        if given[index].same_as(question):
            given[index] = sent
            break
    return given


def _with_own_id(reply: Message, memory: ChatMemory) -> Message:
    """Without an id that an earlier message has: some servers give every reply the same."""
    if reply.id is not None and any(reply.id == message.id for message in memory.history):
        return replace(reply, id=None)
    return reply


def _heard(events: Any, streamed: StreamedReply, listener: Listener) -> Message:
    with events:
        listener.listen_to(events)
        for event in events:
            listener.hear(streamed.add(event))
    if not streamed.is_complete:
        raise AssistantError(
            "the stream ended before the reply was complete: ask again, the memory is as it "
            "was or holds the question once"
        )
    return streamed.message


def _says_nothing(reply: Message) -> bool:
    """Whether it is blank, or only reasons."""
    said = tuple(part for part in reply.parts if not isinstance(part, Reasoning))
    return replace(reply, parts=said).is_blank


def _checked(reply: Message) -> Message:
    if reply.finish_reason in ("failed", "cancelled", "queued", "in_progress"):
        error = (reply.extra or {}).get("error") or {}
        what = f": {error['message']}" if error.get("message") else ""
        raise AssistantError(f"the model's response is {reply.finish_reason}{what}")
    if _says_nothing(reply):
        raise AssistantError(
            f"the model's reply says nothing (finish_reason {reply.finish_reason!r}): where it "
            'is "length", allow a longer reply in request={…}'
        )
    return reply
