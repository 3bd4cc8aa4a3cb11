"""OpenAI's Agents SDK: its own runner, with the recorded replies in the model's place.

Read in openai-agents 0.24.0. A user message starts a run, which reads the session once; calls
and results of that run are added to what was read. The instructions stand apart: they stay.
Where a recording cannot be a run (a result without a call, an answer whose calls are not all
answered), what is there goes into the session as it is, and a new run begins.
"""

from __future__ import annotations

import asyncio
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal

from chatmem_lab.adapters.adapter import Adapter, Answer, Raised, Running, Session
from chatmem_lab.adapters.answering import ModelCalls
from chatmem_lab.messages import (
    INSTRUCTION_ROLES,
    Conversation,
    Message,
    ToolCall,
    assistant,
    tool_output,
    user,
)
from chatmem_lab.policies import Policy
from chatmem_lab.policies.bounds import Bounds
from chatmem_lab.summarizers import Summarizer, Truncate
from chatmem_lab.window import Window

__all__ = [
    "OpenAIAgentsCompaction",
    "OpenAIAgentsSessionLimit",
    "OpenAIAgentsToolOutputTrimmer",
]

Item = dict[str, Any]
#: One run is as long as the recording says.
_MANY_TURNS = 1_000_000


class _Run(Adapter):
    """A runner with a session: what all of them have in common."""

    packages = ("openai-agents",)
    extra = "openai-agents"
    sees: ClassVar[Literal["window", "history"]] = "history"

    @abstractmethod
    def parts(self, calls: ModelCalls, seen: _Seen) -> tuple[Any, dict[str, Any]]:
        """The SDK's session, and what its run's configuration says beside it."""
        raise NotImplementedError

    def open(self, calls: ModelCalls) -> Session:
        return _Runs(self, calls)

    def begin(self, conversation: Conversation | None) -> Policy:
        running = super().begin(conversation)
        if conversation is not None and isinstance(running, Running):
            names = {call.name for m in conversation.messages for call in m.tool_calls}
            running.session.knows(names)  # type: ignore[attr-defined]
        return running


@dataclass(frozen=True, repr=False)
class OpenAIAgentsSessionLimit(_Run):
    """``SessionSettings(limit=…)``: a run begins with the newest items of its session.

    Items, not messages: a text and each call beside it are one each, and so is each result.

    Examples
    --------
    >>> OpenAIAgentsSessionLimit(20)
    OpenAIAgentsSessionLimit(20)
    """

    limit: Annotated[int, Bounds(0)] | None = None

    def parts(self, calls: ModelCalls, seen: _Seen) -> tuple[Any, dict[str, Any]]:
        from agents import SessionSettings, SQLiteSession

        return SQLiteSession("session"), {"session_settings": SessionSettings(limit=self.limit)}


@dataclass(frozen=True, repr=False)
class OpenAIAgentsToolOutputTrimmer(_Run):
    """``ToolOutputTrimmer`` as the filter of the model's input.

    Examples
    --------
    >>> OpenAIAgentsToolOutputTrimmer(1, max_output_chars=1_000)
    OpenAIAgentsToolOutputTrimmer(1, max_output_chars=1_000)
    """

    recent_turns: Annotated[int, Bounds(1)] = 2
    _: KW_ONLY
    max_output_chars: Annotated[int, Bounds(1)] = 500
    preview_chars: Annotated[int, Bounds(0)] = 200
    trimmable_tools: tuple[str, ...] = ()

    def parts(self, calls: ModelCalls, seen: _Seen) -> tuple[Any, dict[str, Any]]:
        from agents import SQLiteSession
        from agents.extensions import ToolOutputTrimmer

        trimmer = ToolOutputTrimmer(
            self.recent_turns,
            self.max_output_chars,
            self.preview_chars,
            self.trimmable_tools or None,
        )
        return SQLiteSession("session"), {"call_model_input_filter": trimmer}


@dataclass(frozen=True, repr=False)
class OpenAIAgentsCompaction(_Run):
    """``OpenAIResponsesCompactionSession``: after a run, all but the user's messages is one item.

    The API's compaction is opaque. Here it keeps the user messages and puts the summarizer's
    text in the place of the rest, as the API keeps them and one encrypted item.

    Examples
    --------
    >>> OpenAIAgentsCompaction(20, summarizer=Truncate(500))
    OpenAIAgentsCompaction(20, summarizer=Truncate(500))
    """

    threshold: Annotated[int, Bounds(1)] = 10
    _: KW_ONLY
    summarizer: Summarizer = field(default_factory=Truncate)

    def parts(self, calls: ModelCalls, seen: _Seen) -> tuple[Any, dict[str, Any]]:
        from agents import SQLiteSession
        from agents.memory import OpenAIResponsesCompactionSession

        async def compact(
            *, model: str, input: Sequence[Item] | None = None, **_: object
        ) -> SimpleNamespace:
            items = seen.items if input is None else list(input)
            text = calls.answer([m for item in items for m in _message(item)], self.summarizer)
            kept = [item for item in items if item.get("role") == "user"]
            made = {"type": "compaction", "id": "cmp", "encrypted_content": text}
            return SimpleNamespace(output=[*kept, made], usage=None)

        session = OpenAIResponsesCompactionSession(
            "session",
            SQLiteSession("session"),
            client=SimpleNamespace(responses=SimpleNamespace(compact=compact)),  # type: ignore[arg-type]
            should_trigger_compaction=lambda context: (
                len(context["compaction_candidate_items"]) >= self.threshold
            ),
        )
        return session, {}


class _Seen:
    """What the model saw and said in its last exchange."""

    def __init__(self) -> None:
        self.items: list[Item] = []


class _Runs:
    """One conversation as runs of an agent, each as long as the recording goes on with it."""

    def __init__(self, adapter: _Run, calls: ModelCalls) -> None:
        from agents import Agent, RunConfig

        self._seen = _Seen()
        self._session, options = adapter.parts(calls, self._seen)
        self._config = RunConfig(tracing_disabled=True, **options)
        self._results: dict[str, str] = {}
        self._model = _model(self._seen)
        self._agent = Agent(name="recorded", model=self._model)
        self._tools: set[str] = set()
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[Any] | None = None
        self._taken = 0
        weakref.finalize(self, _close, self._loop)

    def knows(self, tools: Iterable[str]) -> None:
        """The tools of these names may be called."""
        from agents import FunctionTool

        async def recorded(context: Any, arguments: str) -> str:
            return self._results[context.tool_call_id]

        for name in sorted(set(tools) - self._tools):
            self._tools.add(name)
            self._agent.tools.append(
                FunctionTool(name, "", {"type": "object"}, recorded, strict_json_schema=False)
            )

    def answer(self, messages: Sequence[Message], window: Window) -> Iterable[Answer]:
        new = [m for m in messages[self._taken :] if m.role not in INSTRUCTION_ROLES]
        self._taken = len(messages)
        failure = _run(self._loop, self._go_on(new))
        system = [(at, m) for at, m in enumerate(messages) if m.role in INSTRUCTION_ROLES]
        answers: list[Answer] = [*system, *_traced(self._model.asked, messages)]
        if failure is not None:
            raise Raised(failure, answers) from failure
        return answers

    async def _go_on(self, new: Sequence[Message]) -> Exception | None:
        """The run goes on to its next call of the model; a new one begins where it ends.

        Returns what the SDK raised on the way.
        """
        failure: Exception | None = None
        if self._task is not None and new and new[0].role == "assistant":
            reply, results, rest = _reply(new)
            if results is not None:
                self._results = {m.tool_call_id or "": m.text for m in results}
                self.knows(call.name for call in reply.tool_calls)
                self._model.reply(reply)
                try:
                    await self._until_asked()
                except Exception as error:
                    # The recording went on where the SDK would not: it is in the session.
                    failure = error
                    await self._store(new[: len(new) - len(rest)])
                new = rest
        if self._task is None:
            await self._start(new)
        elif new:
            await self._stop()
            await self._start(new)
        return failure

    async def _store(self, messages: Sequence[Message]) -> None:
        items = [item for message in messages for item in _items(message)]
        if items:
            await self._session.add_items(items)

    async def _start(self, new: Sequence[Message]) -> None:
        from agents import Runner

        stored = next((i for i, m in enumerate(new) if m.role == "user"), len(new))
        await self._store(new[:stored])
        self._task = asyncio.ensure_future(
            Runner.run(
                self._agent,
                [item for message in new[stored:] for item in _items(message)],
                session=self._session,
                run_config=self._config,
                max_turns=_MANY_TURNS,
            )
        )
        await self._until_asked()
        if self._task is None:
            raise RuntimeError("a run ended without a call of the model")

    async def _until_asked(self) -> None:
        assert self._task is not None
        asked = asyncio.ensure_future(self._model.is_asked.wait())
        await asyncio.wait({self._task, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if self._task.done():
            task, self._task = self._task, None
            task.result()

    async def _stop(self) -> None:
        """The recording does not go on as a run would: what was said is in the session."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _reply(new: Sequence[Message]) -> tuple[Message, Sequence[Message] | None, Sequence[Message]]:
    """The answer, the results of its calls, and what follows; no results if one is missing."""
    reply = new[0]
    end = 1
    while end < len(new) and new[end].role == "tool":
        end += 1
    results = new[1:end]
    called = sorted(call.id for call in reply.tool_calls)
    if called != sorted(m.tool_call_id or "" for m in results) or len(set(called)) < len(called):
        return reply, None, new
    return reply, results, new[end:]


def _model(seen: _Seen) -> Any:
    from agents import Model, ModelResponse, Usage
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    class Recorded(Model):
        """A model that is asked, waits, and answers what was recorded."""

        def __init__(self) -> None:
            self.asked: list[Item] = []
            self.is_asked = asyncio.Event()
            self._reply: asyncio.Future[Message] | None = None
            self._answered = 0

        def reply(self, message: Message) -> None:
            """What the model says to what it was asked last."""
            assert self._reply is not None
            self.is_asked.clear()
            self._reply.set_result(message)

        async def get_response(
            self, system_instructions: str | None, input: Any, *args: Any, **kwargs: Any
        ) -> ModelResponse:
            self.asked = list(input)
            self._reply = asyncio.get_running_loop().create_future()
            self.is_asked.set()
            try:
                message = await self._reply
            finally:
                self.is_asked.clear()
            seen.items = [*self.asked, *_items(message)]
            self._answered += 1
            number = self._answered
            output: list[Any] = []
            if message.text or not message.tool_calls:
                text = ResponseOutputText(text=message.text, type="output_text", annotations=[])
                output.append(
                    ResponseOutputMessage(
                        id=f"msg_{number}",
                        content=[text],
                        role="assistant",
                        status="completed",
                        type="message",
                    )
                )
            output += [
                ResponseFunctionToolCall(
                    call_id=call.id, name=call.name, arguments=call.arguments, type="function_call"
                )
                for call in message.tool_calls
            ]
            return ModelResponse(output=output, usage=Usage(), response_id=f"resp_{number}")

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError("a recorded reply is not streamed")

    return Recorded()


def _items(message: Message) -> list[Item]:
    """A message as the items that the SDK makes of it."""
    if message.role == "tool":
        return [
            {
                "type": "function_call_output",
                "call_id": message.tool_call_id or "",
                "output": message.text,
            }
        ]
    if message.role == "user":
        return [{"role": "user", "content": message.text}]
    items: list[Item] = []
    if message.text or not message.tool_calls:
        items.append({"role": "assistant", "content": message.text})
    items += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for call in message.tool_calls
    ]
    return items


def _message(item: Item) -> list[Message]:
    """An item as a message of its own."""
    kind = item.get("type")
    if kind == "function_call":
        return [assistant(tool_calls=[ToolCall(item["call_id"], item["name"], item["arguments"])])]
    if kind == "function_call_output":
        return [tool_output(item["call_id"], str(item["output"]))]
    if kind == "compaction":
        return [assistant(str(item["encrypted_content"]))]
    return [user(_text(item)) if item.get("role") == "user" else assistant(_text(item))]


def _text(item: Item) -> str:
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _key(item: Item) -> tuple[object, ...]:
    """What an item and its shortened form have in common."""
    kind = item.get("type")
    if kind == "function_call":
        return kind, item["call_id"], item["name"], item["arguments"]
    if kind == "function_call_output":
        return kind, item["call_id"]
    if kind == "compaction":
        return (kind,)
    return item.get("role"), _text(item)


def _traced(asked: Sequence[Item], messages: Sequence[Message]) -> list[Answer]:
    """The model's input as messages: ours where all of their items are there unchanged."""
    places: dict[tuple[object, ...], list[tuple[int, Item]]] = {}
    sizes: dict[int, int] = {}
    for at, message in enumerate(messages):
        if message.role not in INSTRUCTION_ROLES:
            items = _items(message)
            sizes[at] = len(items)
            for item in items:
                places.setdefault(_key(item), []).append((at, item))
    # From the end: what was left out is older than what is there.
    origin: list[tuple[int, Item] | None] = [
        found.pop() if (found := places.get(_key(item))) else None for item in reversed(asked)
    ][::-1]
    groups: list[tuple[int | None, list[tuple[Item, Item | None]]]] = []
    for item, place in zip(asked, origin):
        if place is None:
            groups.append((None, [(item, None)]))
        elif groups and groups[-1][0] == place[0]:
            groups[-1][1].append((item, place[1]))
        else:
            groups.append((place[0], [(item, place[1])]))
    return [
        (at, _put_together(None if at is None else messages[at], group, sizes.get(at or 0, 0)))
        for at, group in groups
    ]


def _put_together(
    given: Message | None, group: Sequence[tuple[Item, Item | None]], size: int
) -> Message:
    read = [message for item, _ in group for message in _message(item)]
    if given is None:
        return read[0]
    if given.role == "tool":
        item, before = group[0]
        unchanged = before is not None and item["output"] == before["output"]
        return given if unchanged else given.with_text(str(item["output"]))
    if len(group) == size:
        return given
    text = "".join(message.text for message in read)
    return assistant(text or None, tool_calls=[c for message in read for c in message.tool_calls])


def _run(loop: asyncio.AbstractEventLoop, coroutine: Any) -> Any:
    """Run `coroutine` on `loop`; in a thread apart where another loop runs, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return loop.run_until_complete(coroutine)
    with ThreadPoolExecutor(max_workers=1) as apart:
        return apart.submit(loop.run_until_complete, coroutine).result()


def _close(loop: asyncio.AbstractEventLoop) -> None:
    async def finish() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await loop.shutdown_default_executor()

    _run(loop, finish())
    loop.close()
