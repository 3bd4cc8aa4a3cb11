"""`Assistant`: chat with a model on OpenAI's APIs, with a memory for each session."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, get_args
from uuid import UUID

from chatmem_lab.assistants.apis import APIS
from chatmem_lab.assistants.streaming import AnswerStream
from chatmem_lab.assistants.tools import Allow, Toolbox
from chatmem_lab.assistants.turns import OnError, Turns
from chatmem_lab.errors import AssistantError
from chatmem_lab.html.text import cut
from chatmem_lab.memory import ChatMemory
from chatmem_lab.messages import Message, user

__all__ = ["Assistant", "Memories"]

#: What the assistant itself says in a request.
_OWN = ("messages", "input", "model", "stream")


class Memories(Protocol):
    """Memories by id: `ChatMemories`, or a dict that makes them."""

    def __getitem__(self, id: Any, /) -> ChatMemory:
        """The memory of a session."""


class Assistant:
    """Answers with a model and tools, and remembers each session.

    A turn is kept as a whole, at its end. After a failure, a timeout or a stream that broke
    off, the session is as it was before the turn, or holds the question once; asking the same
    again never doubles it.

    Parameters
    ----------
    client : openai.OpenAI
        Any that speaks the API: its base URL, key, timeout and retries are its own.
    model : str
    memories : Memories
        By session id, as `ChatMemories` is: one memory for all would be shared by all users.
    system : str, Path or callable, optional
        The system message, a file that holds it, or a function of the session's id; looked
        at in each turn, sent first, kept once.
    tools : iterable of callable
        Python functions, as `tool_schemas` takes them. What goes wrong with a call goes back
        to the model as an error.
    api : {"chat", "responses"}
    request : mapping, optional
        What else each request holds, such as ``{"temperature": 0}``.
    augment : callable, optional
        From the question's text to the text that is sent instead in this turn, with what was
        retrieved for it; it is not remembered, and no budget counts it.
    allow : callable, optional
        Whether a `ToolCall` may be done; where it may not, the model is told.
    max_rounds : int
        How often the model may call tools before it must answer.
    on_error : {"rollback", "keep_user"}

    Raises
    ------
    AssistantError
        If one of these is not what it should be.

    Examples
    --------
    >>> from chatmem_lab.memory import ChatMemories
    >>> from chatmem_lab.policies import TokenWindow
    >>> from chatmem_lab.testing import openai_server
    >>> with openai_server() as server, server.client() as client:
    ...     server.reply("We open at nine.")
    ...     memories = ChatMemories(TokenWindow(4_000), store="memory:", model="gpt-5")
    ...     assistant = Assistant(client, "gpt-5", memories, system="You are a librarian.")
    ...     print(assistant.chat("ann", "When do you open?").text)
    We open at nine.
    >>> [message.role for message in memories["ann"].messages]
    ['system', 'user', 'assistant']
    """

    def __init__(
        self,
        client: Any,
        model: str,
        memories: Memories,
        *,
        system: str | Path | Callable[[str], str | None] | None = None,
        tools: Iterable[Callable[..., Any]] = (),
        api: Literal["chat", "responses"] = "chat",
        request: Mapping[str, Any] | None = None,
        augment: Callable[[str], str] | None = None,
        allow: Allow | None = None,
        max_rounds: int = 10,
        on_error: OnError = "rollback",
    ) -> None:
        _check_choice("api", api, tuple(APIS))
        _check_choice("on_error", on_error, get_args(OnError))
        _check_client(client)
        if isinstance(memories, ChatMemory) or not hasattr(memories, "__getitem__"):
            raise AssistantError(
                f"memories gives a memory for each session id, {cut(repr(memories), 80)} does "
                "not, and all users would share it: pass cml.ChatMemories(policy)"
            )
        if not (system is None or isinstance(system, str | Path) or callable(system)):
            raise AssistantError(
                f"system is a text, a Path or a function of the id, not {cut(repr(system), 80)}"
            )
        if type(max_rounds) is not int or max_rounds < 0:
            raise AssistantError(f"max_rounds is a whole number from 0, not {max_rounds!r}")
        self._memories = memories
        self._system = system
        self._turns = Turns(
            client=client,
            model=model,
            api=APIS[api],
            toolbox=Toolbox(tools, allow),
            request=_checked_request(request),
            augment=augment,
            max_rounds=max_rounds,
            on_error=on_error,
        )
        self._has_warned = False

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The schemas of its tools, in the form of Chat Completions."""
        return self._turns.toolbox.schemas

    def chat(
        self,
        session_id: str | int | UUID,
        text: str | None = None,
        *,
        images: Iterable[str | Path | bytes] = (),
    ) -> Message:
        """Ask, and wait for the answer.

        Parameters
        ----------
        session_id : str, int or UUID
        text : str, optional
        images : iterable of str, Path or bytes
            As `cml.user` takes them.

        Returns
        -------
        Message
            The final one, with its usage, model and finish reason.

        Raises
        ------
        BudgetError
            Before anything is sent, if what must be sent exceeds the policy's budget.
        ProjectionError
            Before anything is sent, if the API would refuse what the policy left.
        AssistantError
            If the model gives no answer that can be used, or calls tools without end.
        openai.OpenAIError
            What the client raises passes through.
        """
        memory = self._memory(session_id)
        return self._turns.take(memory, self._instruction(memory.id), user(text, images=images))

    def stream(
        self,
        session_id: str | int | UUID,
        text: str | None = None,
        *,
        images: Iterable[str | Path | bytes] = (),
        keep_partial: bool = False,
    ) -> AnswerStream:
        """Ask, and read the answer as it comes.

        Parameters
        ----------
        session_id, text, images
            As `chat` takes them.
        keep_partial : bool
            Where the stream breaks off or is closed, keep question and text so far: the
            message has the finish reason "incomplete" and metadata that say why.

        Returns
        -------
        AnswerStream
            An iterator of texts, with the `message` when it is done. Closing it early
            discards the turn.

        Examples
        --------
        >>> from chatmem_lab.memory import ChatMemories
        >>> from chatmem_lab.testing import openai_server
        >>> with openai_server() as server, server.client() as client:
        ...     server.reply("We open at nine.")
        ...     assistant = Assistant(client, "gpt-5", ChatMemories(store="memory:"))
        ...     stream = assistant.stream("ann", "When do you open?")
        ...     print(list(stream), stream.message.finish_reason)
        ['We ', 'open ', 'at ', 'nine.'] stop
        """
        memory = self._memory(session_id)
        if memory.is_in_turn:
            raise AssistantError(
                f"a turn of {cut(repr(memory.id), 80)} is open here, and a stream takes one of "
                "its own: end it first"
            )
        question = user(text, images=images)
        return AnswerStream(
            lambda listener: self._turns.take(
                memory, self._instruction(memory.id), question, listener
            ),
            keeps_partial=keep_partial,
        )

    def _memory(self, session_id: Any) -> ChatMemory:
        memory = self._memories[session_id]
        if not isinstance(memory, ChatMemory):
            raise AssistantError(
                f"memories gave {cut(repr(memory), 80)} for the session "
                f"{cut(repr(session_id), 80)}: a ChatMemory is wanted"
            )
        self._warn_of_uncounted_tools(memory)
        return memory

    def _warn_of_uncounted_tools(self, memory: ChatMemory) -> None:
        if self._has_warned or not self.tools or memory.tools:
            return
        self._has_warned = True
        if memory.window.budget is not None:
            warnings.warn(
                "the schemas of the assistant's tools are sent with every request, and the "
                "memory's budget does not count them: make the memories with "
                "tools=cml.tool_schemas([…])",
                UserWarning,
                stacklevel=4,
            )

    def _instruction(self, session_id: str) -> str | None:
        source = self._system
        if source is None or isinstance(source, str):
            return source
        if isinstance(source, Path):
            return source.read_text(encoding="utf-8")
        return source(session_id)


def _check_choice(name: str, given: object, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise AssistantError(f"{name} is one of {', '.join(choices)}, not {cut(repr(given), 80)}")


def _check_client(client: Any) -> None:
    from openai import AsyncOpenAI

    if isinstance(client, AsyncOpenAI):
        raise AssistantError("the client is an AsyncOpenAI: pass an openai.OpenAI")


def _checked_request(request: Mapping[str, Any] | None) -> dict[str, Any]:
    if request is not None and not isinstance(request, Mapping):
        raise AssistantError(f"request is a dict, not {cut(repr(request), 80)}")
    given = dict(request or {})
    own = [name for name in _OWN if name in given]
    if own:
        raise AssistantError(
            f"the assistant sets {', '.join(own)} itself: leave it out of request"
        )
    return given
