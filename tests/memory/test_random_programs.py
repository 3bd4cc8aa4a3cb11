"""Random programs on chat memories against a model of plain lists and the naive policies."""

from __future__ import annotations

import copy
from collections import Counter

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chatmem_lab.errors import ConflictError, MessageError
from chatmem_lab.memory import ChatMemory, Snapshot
from chatmem_lab.messages import Message, Text, ToolCall
from chatmem_lab.policies import KeepAll, MessageWindow, TokenWindow, TurnWindow
from chatmem_lab.stores import MemoryStore
from chatmem_lab.testing.length_counter import LengthCounter
from naive_reference import (
    Reference,
    messages_held,
    tokens_held,
    turn_policy,
    units_of,
    window_policy,
)

POLICIES = [
    (KeepAll(), (), False),
    (MessageWindow(3), (window_policy(messages_held(), 3),), False),
    (
        MessageWindow(5, low=2, start_on_user=True),
        (window_policy(messages_held(), 5, 2, start_on_user=True),),
        False,
    ),
    (MessageWindow(4, count_pinned=True), (window_policy(messages_held(True), 4),), False),
    (TokenWindow(40), (window_policy(tokens_held, 40),), False),
    (TokenWindow(70, low=30), (window_policy(tokens_held, 70, 30),), False),
    (TokenWindow(60, pin_user=True), (window_policy(tokens_held, 60),), True),
    (TurnWindow(2), (turn_policy(2),), False),
]


def undated(messages):
    """Without the times of writing, which a plain list does not keep."""
    return tuple(msgspec.structs.replace(m, created_at=None) for m in messages)


class Refused(Exception):
    """What the plain memory says of an addition that breaks the rules."""


def waiting_calls(history):
    """The ids of the newest message's call group that have no result yet."""
    results = []
    for message in reversed(history):
        if message.role != "tool":
            break
        results.append(message.tool_call_id)
    opener = len(history) - len(results) - 1
    calls = [call.id for call in history[opener].tool_calls] if opener >= 0 else []
    return Counter(calls) - Counter(results)


class PlainLine:
    """A history, its window, and the window as it was at each length of the history."""

    def __init__(self, history=(), window=()):
        self.history = list(history)
        self.window = list(window)
        self.began_with = len(self.history)
        self.windows = {len(self.history): self.window}

    def copy(self):
        twin = copy.copy(self)
        twin.history, twin.windows = list(self.history), dict(self.windows)
        return twin

    def add(self, message, rule):
        if message.role != "tool" and not message.tool_calls and not message.text.strip():
            raise Refused
        if message.role == "tool" and message.tool_call_id not in waiting_calls(self.history):
            raise Refused
        systems = [e["message"].text for e in self.window if e["message"].role == "system"]
        if message.role == "system" and systems[:1] == [message.text]:
            return
        reference = self._reference(rule)
        reference.add(message)
        self._show(reference)

    def ask(self, rule):
        reference = self._reference(rule)
        reference.numbers, is_open = units_of(self.history)
        if not is_open:
            for policy in reference.policies:
                policy(reference)
        self._show(reference)

    def _reference(self, rule):
        _, policies, pin_user = rule
        reference = Reference(LengthCounter(), (), policies, pin_user=pin_user)
        reference.history, reference.window = self.history, list(self.window)
        return reference

    def _show(self, reference):
        self.window = reference.window
        self.windows[len(self.history)] = self.window


class PlainSession:
    """The active line, and those that were left."""

    def __init__(self, line=None):
        self.line = line or PlainLine()
        self.left = []

    def copy(self):
        twin = PlainSession(self.line.copy())
        twin.left = list(self.left)
        return twin

    def become(self, other):
        self.line, self.left = other.line, other.left

    def begin(self, line):
        self.left.append(self.line.history)
        self.line = line

    def add_all(self, messages, rule):
        line = self.line.copy()
        for message in messages:
            line.add(message, rule)
        self.line = line

    def set(self, messages, rule):
        line = PlainLine()
        for message in messages:
            line.add(message, rule)
        self.begin(line)

    def clear(self, rule, *, keep_system):
        roles = ("system", "developer") if keep_system else ()
        self.set([e["message"] for e in self.line.window if e["message"].role in roles], rule)

    def restore(self, taken, rule):
        recipe, history, window = taken
        line = PlainLine(history, window)
        if recipe != repr(rule[0]):
            line.ask(rule)
        self.begin(line)

    def fork(self, rule, at):
        at = len(self.line.history) if at is None else at
        history = self.line.history[:at]
        if at >= self.line.began_with:
            return PlainSession(PlainLine(history, self.line.windows[at]))
        fork = PlainSession()
        fork.add_all(history, rule)
        return fork

    @property
    def tokens(self):
        return 3 + sum(
            LengthCounter().count_message(e["message"]).tokens for e in self.line.window
        )


class Handle:
    """A memory and what it should be."""

    def __init__(self, memory, session, rule):
        self.memory, self.session, self.rule = memory, session, rule

    def seen(self):
        memory = self.memory
        return (
            memory.history,
            memory.messages,
            memory.tokens,
            len(memory),
            tuple(undated(branch.messages) for branch in memory.branches),
        )

    def wanted(self):
        line = self.session.line
        return (
            tuple(line.history),
            tuple(entry["message"] for entry in line.window),
            self.session.tokens,
            len(line.history),
            tuple(tuple(left) for left in self.session.left if left),
        )

    def check(self):
        assert self.seen() == self.wanted()
        self.spoil()
        assert self.seen() == self.wanted()

    def spoil(self):
        """Write into everything that the memory hands out."""
        memory = self.memory
        handed = [memory.history, memory.messages, memory.conversation().messages]
        handed += [memory.snapshot().messages, memory.window.messages]
        handed += [branch.messages for branch in memory.branches]
        for messages in handed:
            for message in messages:
                if message.metadata is not None:
                    message.metadata["tags"].append("spoiled")
                    message.metadata["spoiled"] = True


TEXTS = st.sampled_from(["a", "bc", "four", "ten lettrs", "twenty letters, then", "x" * 45])
IDS = st.sampled_from(["c1", "c2"])
FACTS = st.sampled_from([None, None, {"tags": ["t"]}])


@st.composite
def some_messages(draw):
    role = draw(
        st.sampled_from(
            ["user", "user", "assistant", "calls", "tool", "tool", "system", "developer", "blank"]
        )
    )
    facts = copy.deepcopy(draw(FACTS))
    if role == "blank":
        return Message("user", (Text("  "),), metadata=facts)
    if role == "calls":
        ids = draw(st.lists(IDS, min_size=1, max_size=2, unique=True))
        calls = tuple(ToolCall(id, "f", "{}") for id in ids)
        return Message("assistant", tool_calls=calls, metadata=facts)
    text = draw(st.sampled_from(["S", "other"]) if role == "system" else TEXTS)
    call_id = draw(IDS) if role == "tool" else None
    return Message(role, (Text(text),), tool_call_id=call_id, metadata=facts)


def groups():
    """A call and its results at once, so that whole units are frequent."""
    call = Message("assistant", tool_calls=(ToolCall("c1", "f", "{}"),))
    return st.builds(
        lambda text: [call, Message("tool", (Text(text),), tool_call_id="c1")],
        TEXTS,
    )


MESSAGES = some_messages()
LISTS = st.lists(MESSAGES, max_size=5) | groups()
RULES = st.sampled_from(POLICIES)
PICK = st.integers(0, 99)
STEPS = st.one_of(
    st.tuples(st.just("add"), MESSAGES),
    st.tuples(st.just("add"), MESSAGES),
    st.tuples(st.just("add_all"), LISTS),
    st.tuples(st.just("set"), LISTS),
    st.tuples(st.just("clear"), st.booleans()),
    st.tuples(st.just("restore"), PICK),
    st.tuples(st.just("fork"), st.none() | PICK),
    st.tuples(st.just("snapshot"), st.booleans()),
)


class Programs(RuleBasedStateMachine):
    """Several memories on one store, each beside its plain model."""

    @initialize(rule=RULES)
    def begin(self, rule):
        self.store = MemoryStore()
        self.sessions = 0
        self.taken = []
        self.handles = [self.opened(rule, "0", PlainSession())]

    def opened(self, rule, id, session):
        memory = ChatMemory(rule[0], id=id, store=self.store, counter=LengthCounter())
        return Handle(memory, session, rule)

    def handle(self, pick):
        return self.handles[pick % len(self.handles)]

    def do(self, handle, step):
        name, argument = step
        getattr(self, f"do_{name}")(handle, argument)
        handle.check()

    def both(self, handle, real, plain):
        """One operation on the memory and on the model: both take it or both refuse it."""
        try:
            plain()
        except Refused:
            before = (handle.seen(), handle.memory.events, handle.memory.snapshot())
            with pytest.raises(MessageError):
                real()
            assert (handle.seen(), handle.memory.events, handle.memory.snapshot()) == before
        else:
            real()

    def do_add(self, handle, message):
        given = copy.deepcopy(message)
        self.both(
            handle,
            lambda: handle.memory.add(given),
            lambda: handle.session.line.add(message, handle.rule),
        )
        if given.metadata is not None:
            given.metadata["tags"].append("later")

    def do_add_all(self, handle, messages):
        given = [copy.deepcopy(message) for message in messages]
        self.both(
            handle,
            lambda: handle.memory.add_all(given),
            lambda: handle.session.add_all(messages, handle.rule),
        )
        given.clear()

    def do_set(self, handle, messages):
        self.both(
            handle,
            lambda: handle.memory.set(copy.deepcopy(message) for message in messages),
            lambda: handle.session.set(messages, handle.rule),
        )

    def do_clear(self, handle, keep_system):
        handle.memory.clear(keep_system=keep_system)
        handle.session.clear(handle.rule, keep_system=keep_system)

    def do_snapshot(self, handle, as_text):
        snapshot = handle.memory.snapshot()
        if as_text:
            snapshot = Snapshot.from_json(snapshot.to_json())
        line = handle.session.line
        plain = (repr(handle.rule[0]), list(line.history), list(line.window))
        self.taken.append((snapshot, plain))

    def do_restore(self, handle, pick):
        if self.taken:
            snapshot, plain = self.taken[pick % len(self.taken)]
            handle.memory.restore(snapshot)
            handle.session.restore(plain, handle.rule)

    def do_fork(self, handle, pick):
        at = None if pick is None else pick % (len(handle.session.line.history) + 1)
        self.sessions += 1
        fork = handle.memory.fork(self.sessions, at)
        forked = Handle(fork, handle.session.fork(handle.rule, at), handle.rule)
        forked.check()
        if len(self.handles) < 5:
            self.handles.append(forked)

    @rule(pick=PICK, step=STEPS)
    def one_step(self, pick, step):
        self.do(self.handle(pick), step)

    @rule(pick=PICK, message=MESSAGES)
    def one_addition(self, pick, message):
        self.do(self.handle(pick), ("add", message))

    @rule(pick=PICK, rule=RULES)
    def set_policy(self, pick, rule):
        handle = self.handle(pick)
        handle.memory.set_policy(rule[0])
        handle.rule = rule
        handle.session.line.ask(rule)

    @precondition(lambda self: len(self.handles) < 5)
    @rule(pick=PICK)
    def reopen(self, pick):
        old = self.handle(pick)
        self.handles.append(self.opened(old.rule, old.memory.id, old.session))

    @rule(pick=PICK, steps=st.lists(STEPS, max_size=4), end=st.sampled_from(["commit", "abort"]))
    def turn(self, pick, steps, end):
        handle = self.handle(pick)
        kept = handle.session
        before = self.store.read(handle.memory.id).commits
        handle.session = kept.copy()
        taken = len(self.taken)
        try:
            with handle.memory.turn():
                for step in steps:
                    self.do(handle, step)
                    assert self.store.read(handle.memory.id).commits == before
                if end == "abort":
                    raise TimeoutError
        except TimeoutError:
            assert self.store.read(handle.memory.id).commits == before
            del self.taken[taken:]
        else:
            kept.become(handle.session)
        handle.session = kept

    @rule(pick=PICK, steps=st.lists(STEPS, max_size=3), message=MESSAGES)
    def overtaken_turn(self, pick, steps, message):
        handle = self.handle(pick)
        kept = handle.session
        other = self.opened(handle.rule, handle.memory.id, kept)
        handle.session = kept.copy()

        def turn():
            with handle.memory.turn():
                handle.memory.add_user("staged")
                for name, argument in steps:
                    if name != "fork":
                        getattr(self, f"do_{name}")(handle, argument)
                version = self.store.version(other.memory.id)
                self.do(other, ("add", message))
                return self.store.version(other.memory.id) != version

        handle.session.line.add(Message("user", (Text("staged"),)), handle.rule)
        try:
            overtaken = turn()
        except ConflictError:
            handle.session = kept
        else:
            assert not overtaken
            kept.become(handle.session)
            handle.session = kept

    @invariant()
    def every_memory_is_as_its_model(self):
        told = {}
        for handle in getattr(self, "handles", ()):
            handle.check()
            events = [e for e in handle.memory.events if e.kind != "over_budget"]
            assert told.setdefault(handle.memory.id, events) == events


Programs.TestCase.settings = settings(max_examples=200, stateful_step_count=30)
TestPrograms = Programs.TestCase
