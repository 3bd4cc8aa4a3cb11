"""The inventory of the chat memory: every preset, projection, verb and counter, on real data.

Each entry is run on a recorded run of tau-bench. What it gives is held against what this file
works out from the raw file, message by message, never against the code under test.
"""

from __future__ import annotations

import json
import math

import pytest

import chatmem_lab as cml
import naive_reference as naive
from chatmem_lab import policies, tokens
from chatmem_lab.policies.registry import presets_by_name
from chatmem_lab.summarizers import summarizer_from
from chatmem_lab.testing import LengthCounter, check_counter


@pytest.fixture(scope="module")
def raw(transcripts):
    """The fourth run of tau-bench as plain JSON: 62 messages, 20 of them with calls."""
    runs = json.loads((transcripts / "tau-bench" / "gpt-4o-airline.json").read_text())
    return runs[3]["traj"]


@pytest.fixture(scope="module")
def conversation(raw, tmp_path_factory):
    path = tmp_path_factory.mktemp("inventory") / "run.json"
    path.write_text(json.dumps(raw))
    return cml.read(path)[0]


def memory_of(policy=None, **options):
    return cml.ChatMemory(policy, id="run", counter=LengthCounter(), **options)


def filled(conversation, policy=None, **options):
    memory = memory_of(policy, **options)
    memory.add_all(conversation.messages)
    return memory


def positions(memory):
    return [placed.position for placed in memory.snapshot().window]


def size(message):
    """What `LengthCounter` says of a message of the raw file."""
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    return (
        1
        + len(message.get("content") or "")
        + sum(len(f["name"]) + len(f["arguments"]) for f in functions)
    )


def requests_of(raw):
    return [i for i, message in enumerate(raw) if message["role"] == "assistant"]


def roles(request):
    before = f"{request.previous}|" if request.previous else ""
    return before + ",".join(message.role[0] for message in request.messages)


def naive_roles(previous, entries, raw):
    before = f"{previous}|" if previous else ""
    return before + ",".join(raw[entry]["role"][0] for entry in entries)


SUMMARIZER = summarizer_from(roles)


# --- presets: each system's rule in a few lines, over the raw file


def ai4j_message_window(raw, conversation):
    memory = filled(conversation, cml.presets.ai4j_message_window(8))
    assert positions(memory) == [0, *range(len(raw) - 8, len(raw))]


def ai4j_unbounded(raw, conversation):
    memory = memory_of(cml.presets.ai4j_unbounded())
    for message in conversation.messages:
        memory.add(message)
        memory.add_user("   ")
    assert positions(memory) == list(range(len(raw)))


def ai4j_summary(raw, conversation):
    window, texts = [], []
    for position in range(len(raw)):
        window.append(position)
        eligible = [e for e in window if isinstance(e, str) or raw[e]["role"] != "system"]
        if len(eligible) > 9:
            fold = eligible[: len(eligible) - 4]
            previous = next((e for e in fold if isinstance(e, str)), None)
            text = naive_roles(previous, [e for e in fold if not isinstance(e, str)], raw)
            place = window.index(fold[0])
            window = [e for e in window if e not in fold]
            window.insert(place, text)
            texts.append(text)
    preset = cml.presets.ai4j_summary(SUMMARIZER, max_recent=4, trigger=9, prefix="S: ")
    memory = filled(conversation, preset)
    assert len(texts) > 5
    shown = [
        message.text.removeprefix("S: ") if placed.position is None else placed.position
        for message, placed in zip(memory.messages, memory.snapshot().window)
    ]
    assert shown == window


def langchain4j_by_hand(raw, fits):
    window = []
    for position in range(len(raw)):
        window.append(position)
        while not fits(window):
            place = 1 if raw[window[0]]["role"] == "system" else 0
            evicted = window.pop(place)
            while (
                raw[evicted].get("tool_calls")
                and place < len(window)
                and raw[window[place]]["role"] == "tool"
            ):
                window.pop(place)
    return window


def langchain4j_message_window(raw, conversation):
    expected = langchain4j_by_hand(raw, lambda window: len(window) <= 9)
    for limit in (9, lambda id: len(id) + 6):
        memory = filled(conversation, cml.presets.langchain4j_message_window(limit))
        assert positions(memory) == expected


def langchain4j_token_window(raw, conversation):
    expected = langchain4j_by_hand(
        raw, lambda window: 3 + sum(size(raw[p]) for p in window) <= 10_000
    )
    assert (
        positions(filled(conversation, cml.presets.langchain4j_token_window(10_000))) == expected
    )


def spring_ai_message_window(raw, conversation):
    window = []
    for position in range(len(raw)):
        window.append(position)
        others = [p for p in window if raw[p]["role"] != "system"]
        cut = len(window) - 12
        if cut > 0:
            while cut < len(others) and raw[others[cut]]["role"] != "user":
                cut += 1
            window = [p for p in window if p not in others[:cut]]
    memory = memory_of(cml.presets.spring_ai_message_window(12))
    for message in conversation.messages:
        memory.add(message)
    assert positions(memory) == window


def book_message_window(raw, conversation):
    memory = filled(conversation, cml.presets.book_message_window(8))
    numbers, _ = naive.units_of(conversation.messages)
    newest = list(range(len(raw) - 8, len(raw)))
    while numbers[newest[0]] == numbers[newest[0] - 1]:
        newest.pop(0)
    assert positions(memory) == [0, *newest]


def book_token_window(raw, conversation):
    memory = filled(conversation, cml.presets.book_token_window(10_000))
    numbers, _ = naive.units_of(conversation.messages)
    room = 10_000 - 3 - size(raw[0])
    kept = []
    for number in sorted(set(numbers[1:]), reverse=True):
        unit = [p for p in range(1, len(raw)) if numbers[p] == number]
        room -= sum(size(raw[p]) for p in unit)
        if room < 0:
            break
        kept = unit + kept
    assert positions(memory) == [0, *kept]
    assert memory.tokens == 3 + sum(size(raw[p]) for p in [0, *kept]) <= 10_000


def summarizing_token_window(raw, conversation):
    preset = cml.presets.summarizing_token_window(
        SUMMARIZER, max_tokens=9_000, keep=cml.Messages(5)
    )
    memory = memory_of(preset)
    numbers, _ = naive.units_of(conversation.messages)
    window, text = [], None
    for position, message in enumerate(conversation.messages):
        memory.add(message)
        window.append(position)
        held = sum(size(raw[p]) for p in window) + (1 + len(text) if text else 0)
        closed = raw[position]["role"] == "assistant" and not raw[position].get("tool_calls")
        if closed and held > 9_000:
            newest = window[-5:]
            while numbers[newest[0]] == numbers[newest[0] - 1]:
                newest.pop(0)
            fold = [p for p in window if p not in newest and p != 0]
            if fold:
                text = naive_roles(text, fold, raw)
                window = [0, *newest]
        front = [None] if text else []
        assert positions(memory) == [*front, *window]
    assert text
    assert memory.messages[0].text == text
    assert memory.messages[0].role == "system"


def ai4j_agent_window(raw, conversation):
    memory = filled(conversation, cml.presets.ai4j_agent_window(7, summary="plan B"))
    assert positions(memory) == [None, *range(len(raw) - 7, len(raw))]
    assert memory.messages[0].text == "plan B"


def ai4j_agent_unbounded(raw, conversation):
    memory = filled(conversation, cml.presets.ai4j_agent_unbounded("plan B"))
    assert positions(memory) == [None, *range(len(raw))]
    assert memory.to_chat()[0] == {"role": "system", "content": "plan B"}


def ai4j_turn_compaction(raw, conversation):
    items, text = [], None
    folds = 0
    for position, message in enumerate(raw):
        if message["role"] == "assistant" and len(items) > 10:
            cut = len(items) - 10
            turn = max((i for i in range(cut + 1) if raw[items[i]]["role"] == "user"), default=cut)
            if turn:
                text, items = naive_roles(text, items[:turn], raw), items[turn:]
                folds += 1
        items.append(position)
    preset = cml.presets.ai4j_turn_compaction(SUMMARIZER, max_items=10)
    memory = filled(conversation, preset)
    assert folds > 2
    assert positions(memory) == [None, *items]
    assert memory.history == conversation.messages


def ai4j_tool_result_stub(raw, conversation):
    preset = cml.presets.ai4j_tool_result_stub(2, max_tokens=100, target_tokens=2_500)
    run = cml.replay(conversation, preset, counter=LengthCounter())
    texts = [message.get("content") or "" for message in raw]
    chars = [size(message) - 1 for message in raw]
    stubbed = set()
    for request, position in enumerate(requests_of(raw)):
        shown = [60 + 240 if p in stubbed else chars[p] for p in range(position)]
        results = [p for p in range(position) if raw[p]["role"] == "tool"]
        if sum(math.ceil(n / 4) for n in shown) > 2_500:
            stubbed |= {p for p in results[:-2] if math.ceil(len(texts[p]) / 4) > 100}
        cleared = {s.position for s in run.window(request).slots if s.state == "cleared"}
        assert cleared == stubbed
    assert len(stubbed) > 3
    for slot in run.final.slots:
        if slot.position in stubbed:
            assert texts[slot.position][:240] in slot.message.text
        else:
            assert slot.message.text == texts[slot.position]


def ai4j_context_projection(raw, conversation):
    preset = cml.presets.ai4j_context_projection(9, pinned_prefix_items=2)
    run = cml.replay(conversation, preset, counter=LengthCounter())
    for request, position in enumerate(requests_of(raw)):
        held = [slot.position for slot in run.window(request).slots]
        newest = [p for p in range(max(0, position - 7), position) if p > 1]
        assert held == [*range(min(2, position)), *newest]


# --- projections: the raw file is OpenAI's own form; the others are rewritten from it by hand


def to_chat(raw, conversation):
    kept = ("role", "content", "tool_calls", "tool_call_id")
    expected = [{key: m[key] for key in kept if m.get(key) is not None} for m in raw]
    sent = filled(conversation).to_chat()
    assert [{k: v for k, v in m.items() if v is not None} for m in sent] == expected
    assert sent.repairs == ()


def to_responses(raw, conversation):
    expected = []
    for message in raw:
        text, role = message.get("content"), message["role"]
        if role == "tool":
            expected.append(("output", message["tool_call_id"], text))
        elif text:
            expected.append((role, "output_text" if role == "assistant" else "input_text", text))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            expected.append(("call", call["id"], function["name"], function["arguments"]))
    sent = []
    for item in filled(conversation).to_responses():
        if item["type"] == "function_call":
            sent.append(("call", item["call_id"], item["name"], item["arguments"]))
        elif item["type"] == "function_call_output":
            sent.append(("output", item["call_id"], item["output"]))
        else:
            sent += [(item["role"], part["type"], part["text"]) for part in item["content"]]
        assert "id" not in item
    assert sent == expected


def to_anthropic(raw, conversation):
    blocks = []
    for message in raw[1:]:
        if message["role"] == "tool":
            blocks.append(("user", "tool_result", message["content"]))
            continue
        if message.get("content"):
            blocks.append((message["role"], "text", message["content"]))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            arguments = json.loads(function["arguments"])
            blocks.append(("assistant", "tool_use", function["name"], arguments))
    body = filled(conversation).to_anthropic()
    assert body["system"] == raw[0]["content"]
    sent, ids = [], []
    for message in body["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_use":
                sent.append((message["role"], "tool_use", block["name"], block["input"]))
                ids.append(block["id"])
            elif block["type"] == "tool_result":
                sent.append((message["role"], "tool_result", block["content"]))
                assert block["tool_use_id"] == ids[-1]
            else:
                sent.append((message["role"], "text", block["text"]))
    assert sent == blocks
    assert len(set(ids)) == len(ids)
    alternate = [message["role"] for message in body["messages"]]
    assert alternate == ["user", "assistant"] * (len(alternate) // 2) + ["user"] * (
        len(alternate) % 2
    )


def ai4j_style(raw, conversation):
    items = filled(conversation).to_responses(style="ai4j")
    assert len(items) == len(raw)
    for item, message in zip(items, raw):
        if message["role"] == "tool":
            assert item == {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": message["content"],
            }
            continue
        assert item["role"] == message["role"]
        texts = (
            [{"type": "input_text", "text": message["content"]}] if message["content"] else None
        )
        assert item.get("content") == texts
        calls = message.get("tool_calls")
        assert [c["function"] for c in item.get("tool_calls", ())] == [
            c["function"] for c in calls or ()
        ]


def json_text(raw, conversation):
    assert cml.from_json(cml.to_json(conversation.messages)) == conversation.messages
    written = json.loads(cml.to_json(conversation.messages))
    assert [m["role"] for m in written] == [m["role"] for m in raw]
    assert cml.from_json(cml.to_json(conversation.messages[4])) == conversation.messages[4]


# --- the memory's verbs


def add_by_verb(raw, conversation):
    memory = memory_of()
    for message in raw:
        calls = [
            cml.ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"])
            for c in message.get("tool_calls") or ()
        ]
        if message["role"] == "system":
            memory.add_system(message["content"])
        elif message["role"] == "user":
            memory.add_user(message["content"], metadata={"n": len(memory)})
        elif message["role"] == "assistant":
            memory.add_assistant(message["content"], tool_calls=calls)
        else:
            memory.add_tool_output(message["tool_call_id"], message["content"])
    assert [m.key[:4] for m in memory.history] == [m.key[:4] for m in conversation.messages]
    assert memory.tokens == 3 + sum(map(size, raw))


def snapshot_and_restore(raw, conversation):
    memory = filled(conversation, cml.MessageWindow(8))
    before = positions(memory)
    snapshot = cml.Snapshot.from_json(memory.snapshot().to_json())
    memory.add_user("one more")
    other = memory_of(cml.MessageWindow(8))
    for restored in (memory, other):
        restored.restore(snapshot)
        assert positions(restored) == before
        assert [m.text for m in restored.history] == [m.get("content") or "" for m in raw]
    assert [len(branch) for branch in memory.branches] == [len(raw) + 1]


def fork(raw, conversation):
    memory = filled(conversation, cml.MessageWindow(8))
    forked = memory.fork("what-if", at=30)
    fresh = memory_of(cml.MessageWindow(8))
    for message in conversation.messages[:30]:
        fresh.add(message)
    assert positions(forked) == positions(fresh)
    forked.add_user("another way")
    assert (len(forked), len(memory)) == (31, len(raw))


def turn(raw, conversation):
    store = cml.MemoryStore()
    memory = filled(conversation, store=store)
    other = memory_of(store=store)

    def fail_in_a_turn():
        with memory.turn():
            memory.add_user("staged")
            assert (len(memory), len(other)) == (len(raw) + 1, len(raw))
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fail_in_a_turn()
    assert len(memory) == len(raw)
    with memory.turn():
        memory.add_user("kept")
    assert len(memory) == len(other) == len(raw) + 1


def clear(raw, conversation):
    memory = filled(conversation)
    memory.clear(keep_system=True)
    assert [m.text for m in memory.messages] == [raw[0]["content"]]
    memory.clear()
    assert memory.messages == memory.history == ()
    assert [len(branch) for branch in memory.branches] == [len(raw), 1]


def set_messages(raw, conversation):
    memory = filled(conversation)
    memory.set(conversation.messages[:10])
    assert [m.text for m in memory.history] == [m.get("content") or "" for m in raw[:10]]


def set_policy(raw, conversation):
    memory = filled(conversation)
    memory.set_policy(cml.presets.ai4j_message_window(3))
    assert positions(memory) == [0, *range(len(raw) - 3, len(raw))]


def reopen_from_a_store(raw, conversation):
    store = cml.MemoryStore()
    memory = filled(conversation, cml.Summarize(SUMMARIZER), store=store)
    again = memory_of(cml.Summarize(SUMMARIZER), store=store)
    assert [m.key for m in again.messages] == [m.key for m in memory.messages]
    assert again.messages[1].summary is not None
    assert len(again.history) == len(raw)


def replaying_what_was_said(raw, conversation):
    memory = filled(conversation, cml.MessageWindow(8))
    run = cml.replay(memory.conversation(), cml.KeepAll(), counter=LengthCounter())
    assert run.requests["position"].tolist() == requests_of(raw)
    whole = [3 + sum(map(size, raw[:p])) for p in requests_of(raw)]
    assert run.requests["input_tokens"].tolist() == whole


def langchain4j_formula(raw, conversation):
    def words(text):
        return len(text.split())

    counter = tokens.langchain4j_formula("gpt-4o", encode=words)
    for message, counted in zip(raw, counter.count_messages(conversation.messages)):
        expected = 4 + words(message.get("content") or "")
        for call in message.get("tool_calls") or ():
            function = call["function"]
            expected += 5 + 2 * words(function["name"]) + words(function["arguments"])
        assert counted.tokens == expected


def the_counters_contract(raw, conversation):
    check_counter(tokens.langchain4j_formula(), examples=20)
    check_counter(cml.counter("gpt-5"), examples=20)


PRESETS = {
    "ai4j-agent-unbounded": ai4j_agent_unbounded,
    "ai4j-agent-window": ai4j_agent_window,
    "ai4j-context-projection": ai4j_context_projection,
    "ai4j-message-window": ai4j_message_window,
    "ai4j-summary": ai4j_summary,
    "ai4j-tool-result-stub": ai4j_tool_result_stub,
    "ai4j-turn-compaction": ai4j_turn_compaction,
    "ai4j-unbounded": ai4j_unbounded,
    "book-message-window": book_message_window,
    "book-token-window": book_token_window,
    "langchain4j-message-window": langchain4j_message_window,
    "langchain4j-token-window": langchain4j_token_window,
    "spring-ai-message-window": spring_ai_message_window,
    "summarizing-token-window": summarizing_token_window,
}
PROJECTIONS = {
    "to_chat": to_chat,
    "to_responses": to_responses,
    "to_responses, AI4J's style": ai4j_style,
    "to_anthropic": to_anthropic,
    "to_json and from_json": json_text,
}
MEMORY = {
    "add_system, add_user, add_assistant, add_tool_output": add_by_verb,
    "snapshot and restore": snapshot_and_restore,
    "fork": fork,
    "turn": turn,
    "clear": clear,
    "set": set_messages,
    "set_policy": set_policy,
    "MemoryStore": reopen_from_a_store,
    "conversation": replaying_what_was_said,
}
COUNTERS = {
    "langchain4j_formula": langchain4j_formula,
    "check_counter": the_counters_contract,
}
INVENTORY = {**PRESETS, **PROJECTIONS, **MEMORY, **COUNTERS}


@pytest.mark.parametrize("name", INVENTORY)
def test_entry(name, raw, conversation):
    INVENTORY[name](raw, conversation)


def test_the_inventory_is_whole():
    assert set(PRESETS) < set(presets_by_name())  # the others: test_inventory_policies.py
    assert set(policies.presets.__all__) >= {name.replace("-", "_") for name in PRESETS}
    verbs = {name for name in vars(cml.ChatMemory) if not name.startswith("_")}
    assert verbs == {
        *("add", "add_all", "add_system", "add_user", "add_assistant", "add_tool_output"),
        *("turn", "window", "messages", "history", "branches", "tools", "tokens", "events"),
        *(
            "policy",
            "is_in_turn",
            "request",
            "to_chat",
            "to_responses",
            "to_anthropic",
            "conversation",
        ),
        *("snapshot", "restore", "fork", "clear", "set", "set_policy"),
    }
