"""What the projections give is what the APIs take, and nothing that was said gets lost.

Two judges that share no code with the projections: `provider_rules` says what an API would
refuse, `projected_facts` what has to arrive. What is broken in a list is counted here, by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import projected_facts as facts
import provider_rules as rules
from chatmem_lab.errors import ProjectionError
from chatmem_lab.messages import (
    Audio,
    File,
    Image,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    assistant,
    user,
)
from chatmem_lab.projections import to_anthropic, to_chat, to_responses
from chatmem_lab.testing.strategies import message_lists
from sendable_messages import SPOILERS, sendable_lists, spoiled_lists, with_unique_ids

PROJECTIONS = {"chat": to_chat, "responses": to_responses, "anthropic": to_anthropic}
FAULTS = {
    "chat": rules.chat_faults,
    "responses": rules.responses_faults,
    "anthropic": rules.anthropic_faults,
}
FACTS_IN = {
    "chat": facts.facts_in_chat,
    "responses": facts.facts_in_responses,
    "anthropic": facts.facts_in_anthropic,
}
INTERRUPTED = facts.squeezed("(interrupted: no result was recorded)")
BEGINS_EARLIER = "(the conversation begins earlier)"
BEGINNINGS = ("starts_on_assistant", "nothing_to_send")

every_api = pytest.mark.parametrize("api", PROJECTIONS)


# --- what is broken, counted by hand


@dataclass
class Broken:
    orphans: set[int] = field(default_factory=set)
    unanswered: list[tuple[int, str]] = field(default_factory=list)
    nameless: dict[int, str] = field(default_factory=dict)


def broken_pairs(messages):
    """Who answers whom: a result answers an open call of the group directly before it."""
    broken = Broken()
    waiting = []
    caller = 0
    for index, message in enumerate(messages):
        if message.role != "tool":
            broken.unanswered += [(caller, call_id) for call_id in waiting]
            waiting = [call.id for call in message.tool_calls]
            caller = index
        elif message.tool_call_id in waiting:
            waiting.remove(message.tool_call_id)
        elif waiting and not message.tool_call_id:
            broken.nameless[index] = waiting.pop(0)
        else:
            broken.orphans.add(index)
    broken.unanswered += [(caller, call_id) for call_id in waiting]
    return broken


def repairs_of(projected, *kinds):
    return [repair for repair in projected.repairs if repair.what in kinds]


def reported_messages(projected):
    """What is put in front of all does not touch the message that it stands before."""
    return {repair.index for repair in projected.repairs if repair.what not in BEGINNINGS}


def is_blank(message):
    if message.tool_calls or (message.role == "tool" and message.tool_call_id):
        return False
    return not any(
        part.text.strip() if isinstance(part, Text | Refusal | Reasoning) else True
        for part in message.parts
    )


def is_object(arguments):
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except ValueError:
        return False


def callable_name(name):
    others = name.replace("_", "").replace("-", "")
    return 0 < len(name) <= 64 and others.isascii() and (others.isalnum() or not others)


def is_no_anthropic_data(address):
    return address.startswith(("data:image/tiff", "data:text/csv"))


def has_part(message, *kinds):
    return any(isinstance(part, kinds) for part in message.parts)


def must_be_reported(messages, api):
    """Where something is that the API refuses, whatever else is broken around it."""
    broken = broken_pairs(messages)
    places = broken.orphans | set(broken.nameless) | {index for index, _ in broken.unanswered}
    for index, message in enumerate(messages):
        ids = [call.id for call in message.tool_calls]
        arguments = [call.arguments for call in message.tool_calls]
        mute = has_part(message, Audio) and message.role == "user" and api != "chat"
        addresses = [part.url for part in message.parts if isinstance(part, Image | File)]
        if (
            len(set(ids)) < len(ids)
            or is_blank(message)
            or mute
            or not all(callable_name(call.name) for call in message.tool_calls)
            or (api == "chat" and " " in (message.name or ""))
            or any(address.startswith("ftp:") for address in addresses)
            or (api == "anthropic" and any(map(is_no_anthropic_data, addresses)))
            or (api != "anthropic" and any(len(id) > 64 for id in ids))
            or has_part(message, Opaque)
            or (api == "anthropic" and not all(map(is_object, arguments)))
        ):
            places.add(index)
    return places


def may_be_reported(messages, api):
    """Where it hangs on the neighbours, too, whether there is something to report."""
    return must_be_reported(messages, api) | {
        index
        for index, message in enumerate(messages)
        if has_part(message, Audio, Reasoning)
        or not all(facts.is_taken(id, api) for id in ids_of(message))
    }


def ids_of(message):
    return [*(call.id for call in message.tool_calls), message.tool_call_id or "none"]


# --- the checks


def for_anthropic(found):
    """One system text, however parted; images in any order, since an error's stand behind it."""
    together = "".join(value for kind, value in found if kind == "instruction")
    images = sorted(fact for fact in found if fact[0] == "image")
    rest = [fact for fact in found if fact[0] not in ("instruction", "image")]
    return [("instruction", facts.squeezed(together)), *images, *rest]


def differences(messages, projected, api):
    """(facts of messages that no repair names and that are not there, facts nobody stated)."""
    stated = facts.facts_of(messages, api)
    reported = reported_messages(projected)
    everything = [(kind, value) for _, kind, value in stated]
    untouched = [(kind, value) for index, kind, value in stated if index not in reported]
    arrived = FACTS_IN[api](projected)
    if api == "anthropic":
        everything, untouched, arrived = map(for_anthropic, (everything, untouched, arrived))
    return facts.lost(untouched, arrived), [
        fact for fact in facts.added(everything, arrived) if not is_made(fact, messages, api)
    ]


def is_made(fact, messages, api):
    """An id that had to change, a caption of a result's images, a role that a summary got."""
    kind, value = fact
    if kind.endswith(" id"):
        return value not in facts.lasting_ids(messages, api)
    if api == "anthropic" and kind in ("user text", "assistant text"):
        return True
    if api == "responses":
        return False
    moved = [m for m in messages if has_part(m, Image) and (api == "chat" or m.is_error)]
    captions = [f"from tool call {m.tool_call_id}" for m in moved if m.tool_call_id]
    return kind in ("user text", "text") and any(caption in value for caption in captions)


@every_api
@settings(max_examples=200)
@given(messages=sendable_lists(), unique=st.booleans())
def test_lists_in_good_order_are_sent_as_they_are(api, messages, unique):
    if unique:
        messages = with_unique_ids(messages)
    projected = PROJECTIONS[api](messages)
    assert projected.repairs == ()
    assert FAULTS[api](projected) == []
    assert differences(messages, projected, api) == ([], [])
    stated = [fact for message in messages for fact in facts.stated(message, api)]
    assert facts.answers(FACTS_IN[api](projected)) == facts.answers(stated)
    assert PROJECTIONS[api](messages, repair=True) == projected


@every_api
@settings(max_examples=200)
@given(messages=message_lists(tidy=True))
def test_tidy_lists_are_refused_only_for_what_is_broken(api, messages):
    if api == "anthropic":
        messages = [user("begin"), *messages]
    unanswered = broken_pairs(messages).unanswered
    if not unanswered:
        projected = PROJECTIONS[api](messages)
        assert projected.repairs == ()
        assert FAULTS[api](projected) == []
        assert differences(messages, projected, api) == ([], [])
        return
    with pytest.raises(ProjectionError) as refused:
        PROJECTIONS[api](messages)
    first = min(index for index, _ in unanswered)
    said = str(refused.value)
    assert str(first) in said
    assert "repair=True" in said
    assert all(call_id in said for index, call_id in unanswered if index == first)


@every_api
@settings(max_examples=400)
@given(messages=message_lists() | spoiled_lists())
def test_repaired_lists_are_valid_and_every_mend_is_reported(api, messages):
    check_repaired(api, messages)


@every_api
@pytest.mark.parametrize("spoiler", SPOILERS)
def test_every_single_fault_is_mended_and_reported(api, spoiler):
    check_repaired(api, [user("q"), spoiler, user("and?")])


def check_repaired(api, messages):
    projected = PROJECTIONS[api](messages, repair=True)
    assert FAULTS[api](projected) == []

    broken = broken_pairs(messages)
    assert {r.index for r in repairs_of(projected, "orphan_result")} == broken.orphans
    unanswered = [(r.index, r.call_id) for r in repairs_of(projected, "unanswered_call")]
    assert sorted(unanswered) == sorted(broken.unanswered)
    assert {r.index for r in repairs_of(projected, "missing_call_id")} == set(broken.nameless)

    begins = repairs_of(projected, *BEGINNINGS)
    reported = reported_messages(projected)
    assert must_be_reported(messages, api) <= reported <= may_be_reported(messages, api)

    missing, made = differences(messages, projected, api)
    assert missing == []
    made = Counter(made)
    assert made.pop(("output", INTERRUPTED), 0) == len(repairs_of(projected, "unanswered_call"))
    if api == "anthropic":
        assert made.pop(("error", INTERRUPTED), 0) == len(broken.unanswered)
    assert made.pop(("text", BEGINS_EARLIER), 0) == len(begins) <= (api == "anthropic")
    speakers = made.pop(("name", "Ada__Lovelace_"), 0)
    assert speakers == len(repairs_of(projected, "bad_speaker_name"))
    functions = sum(made.pop(("call", (name, "{}")), 0) for name in ("shop_find", "unnamed"))
    assert functions == len(repairs_of(projected, "bad_function_name"))
    assert made.pop(("call", ("look", "{}")), 0) <= len(repairs_of(projected, "bad_arguments"))
    given_ids = [id for _, id in broken.unanswered] + list(broken.nameless.values())
    assert made <= Counter(("output id", id) for id in given_ids)


@every_api
@given(messages=message_lists() | spoiled_lists())
def test_strict_takes_exactly_what_needs_no_repair(api, messages):
    repaired = PROJECTIONS[api](messages, repair=True)
    if repaired.repairs:
        with pytest.raises(ProjectionError, match="repair=True"):
            PROJECTIONS[api](messages)
    else:
        assert PROJECTIONS[api](messages) == repaired


@every_api
@given(messages=sendable_lists(), data=st.data())
def test_the_judges_miss_whatever_is_taken_out(api, messages, data):
    projected = PROJECTIONS[api](messages)
    sent = projected["messages"] if api == "anthropic" else projected
    gone = sent.pop(data.draw(st.integers(0, len(sent) - 1)))
    assume(FACTS_IN[api]({"messages": [gone]} if api == "anthropic" else [gone]))
    assert FAULTS[api](projected) or differences(messages, projected, api) != ([], [])


@given(messages=sendable_lists(), different=st.integers(1, 20))
def test_server_ids_come_beside_all_else_and_once(messages, different):
    messages = [with_server_ids(m, index % different) for index, m in enumerate(messages)]
    projected = to_responses(messages, ids=True)
    assert rules.responses_faults(projected) == []
    sent = {item.pop("id") for item in projected if "id" in item}
    assert projected == to_responses(messages)
    replies = [m for m in messages if m.role == "assistant"]
    recorded = {m.id for m in replies if has_part(m, Text, Refusal) and m.text}
    assert sent == recorded | {p.id for m in replies for p in m.parts if isinstance(p, Reasoning)}


def with_server_ids(message, index):
    parts = [
        replace(part, id=f"rs_{index}_{place}") if isinstance(part, Reasoning) else part
        for place, part in enumerate(message.parts)
    ]
    return replace(message, id=f"msg_{index}", parts=tuple(parts))


def test_an_error_with_an_image_for_anthropic():
    image = Image("https://example.org/a.png")
    failed = Message("tool", (Text("no"), image), tool_call_id="c1", is_error=True)
    messages = [user("q"), assistant(tool_calls=[ToolCall("c1", "look")]), failed]
    projected = to_anthropic(messages)
    assert rules.anthropic_faults(projected) == []
    assert differences(messages, projected, "anthropic") == ([], [])


@every_api
def test_lone_surrogates_are_mended_with_one_warning(api):
    messages = [user("a\ud800"), assistant("b\udfff"), user("c")]
    with pytest.warns(UserWarning, match="surrogate") as warned:
        projected = PROJECTIONS[api](messages)
    assert len(warned) == 1
    assert FAULTS[api](projected) == []
    texts = [value for kind, value in FACTS_IN[api](projected) if kind.endswith(" text")]
    assert texts == ["a\ufffd", "b\ufffd", "c"]
