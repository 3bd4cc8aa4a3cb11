"""What messages say, and what a projection of them says, as facts that can be compared.

A fact is a kind and a value. Kinds are held apart, since a projection may move one kind (the
instructions to the front, an image behind its results) but must keep the order within each.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from chatmem_lab.messages import Audio, File, Image, Message, Reasoning, Refusal, Text

SILENT_ERROR = "(thetoolfailedwithoutamessage)"
INSTRUCTIONS = ("system", "developer")


def facts_of(messages, api):
    """(index, kind, value) of all that has to arrive at `api`, in order."""
    lasting = lasting_ids(messages, api)
    return [
        (index, kind, value)
        for index, message in enumerate(messages)
        for kind, value in stated(message, api)
        if not kind.endswith(" id") or value in lasting
    ]


def stated(message: Message, api):
    return [*said(message, api), *called(message, api)]


def lasting_ids(messages, api):
    """The call ids that `api` takes as they are: OpenAI's need be unique in their group only."""
    groups = [[call.id for call in message.tool_calls] for message in messages]
    if api == "anthropic":
        groups = [[call_id for ids in groups for call_id in ids]]
    counts = [(call_id, n) for ids in groups for call_id, n in Counter(ids).items()]
    changing = {id for id, n in counts if n > 1 or (api == "anthropic" and not is_plain(id))}
    return {call_id for call_id, _ in counts} - changing


def is_plain(call_id):
    return re.fullmatch("[a-zA-Z0-9_-]+", call_id)


def said(message: Message, api):
    role = message.role
    if role == "tool":
        texts = [part.text for part in message.parts if isinstance(part, Text | Refusal)]
        yield "output id", message.tool_call_id
        output = squeezed("".join(texts))
        if message.is_error and api == "anthropic":
            output = output or SILENT_ERROR
            yield "error", output
        yield "output", output
    elif message.name and api == "chat":
        yield "name", message.name
    for part in message.parts:
        if isinstance(part, Image):
            yield "image", part.url
        elif isinstance(part, File):
            yield "file", part.file_id or part.url
        elif isinstance(part, Reasoning):
            yield from reasoned(part, api)
        elif isinstance(part, Audio) and not (role == "assistant" and part.transcript):
            yield "audio", part.data
        elif role != "tool" and (text := text_of(part)).strip():
            yield from spoken(part, text, message, api)


def text_of(part):
    return (part.transcript or "") if isinstance(part, Audio) else getattr(part, "text", "")


def spoken(part, text, message, api):
    """Anthropic knows no refusals, and a summary may become the user's there."""
    if message.role in INSTRUCTIONS:
        yield "instruction", text
    elif api == "anthropic":
        yield "text", text
        if not message.summary:
            yield f"{message.role} text", text
    else:
        yield "refusal" if isinstance(part, Refusal) else f"{message.role} text", text


def reasoned(part, api):
    if api == "responses" or (api == "anthropic" and part.signature):
        yield from [("reasoning", part.text)] if part.text.strip() else []
        yield from [("signature", part.signature)] if part.signature else []


def called(message, api):
    for call in message.tool_calls:
        arguments = call.arguments or "{}"
        yield "call id", call.id
        yield "call", (call.name, canonical(arguments) if api == "anthropic" else arguments)


def canonical(arguments):
    """As an object, which is all that Anthropic takes; what is none becomes `{}`."""
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    return json.dumps(value if isinstance(value, dict) else {}, sort_keys=True)


def squeezed(text):
    return "".join(text.split())


def kind_of_text(role):
    return "instruction" if role in INSTRUCTIONS else f"{role} text"


def facts_in_chat(messages):
    facts = []
    for message in messages:
        role, content = message["role"], message.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        if role == "tool":
            facts.append(("output id", message["tool_call_id"]))
            facts.append(("output", squeezed("".join(part["text"] for part in parts))))
            continue
        kind = kind_of_text(role)
        facts += [("name", message["name"])] if "name" in message else []
        facts += [fact for part in parts for fact in chat_part(part, kind)]
        if message.get("refusal"):
            facts += [("refusal", line) for line in message["refusal"].splitlines()]
        for call in message.get("tool_calls", ()):
            function = call["function"]
            facts.append(("call id", call["id"]))
            facts.append(("call", (function["name"], function["arguments"])))
    return facts


def chat_part(part, kind):
    match part:
        case {"type": "text", "text": text}:
            return [(kind, text)] if text.strip() else []
        case {"type": "image_url", "image_url": {"url": url}}:
            return [("image", url)]
        case {"type": "file", "file": file}:
            return [("file", file.get("file_id") or file.get("file_data"))]
        case {"type": "input_audio", "input_audio": {"data": data}}:
            return [("audio", data)]
        case {"type": "refusal", "refusal": text}:
            return [("refusal", text)]
    return [unknown(part)]


def unknown(part):
    """What no message says: it is never lost, and always added."""
    return part["type"], json.dumps(part)


def facts_in_responses(items):
    facts = []
    for item in items:
        match item:
            case {"type": "message", "role": role, "content": content}:
                kind = kind_of_text(role)
                facts += [fact for part in content for fact in responses_part(part, kind)]
            case {"type": "function_call"}:
                facts.append(("call id", item["call_id"]))
                facts.append(("call", (item["name"], item["arguments"])))
            case {"type": "function_call_output", "output": output}:
                facts.append(("output id", item["call_id"]))
                facts += output_facts(output, lambda part: responses_part(part, "output"))
            case {"type": "reasoning", "summary": summary}:
                facts += [("reasoning", part["text"]) for part in summary]
                if "encrypted_content" in item:
                    facts.append(("signature", item["encrypted_content"]))
    return facts


def responses_part(part, kind):
    match part:
        case {"type": "input_text" | "output_text", "text": text}:
            return [(kind, text)] if text.strip() else []
        case {"type": "input_image", "image_url": url}:
            return [("image", url)]
        case {"type": "input_file"}:
            address = part.get("file_id") or part.get("file_data") or part.get("file_url")
            return [("file", address)]
        case {"type": "refusal", "refusal": text}:
            return [("refusal", text)]
    return [unknown(part)]


def output_facts(output, facts_of_part):
    """One text per result, whatever the number of its parts; and its images."""
    if isinstance(output, str):
        return [("output", squeezed(output))]
    facts = [fact for part in output for fact in facts_of_part(part)]
    text = "".join(value for kind, value in facts if kind == "output")
    return [("output", squeezed(text)), *(fact for fact in facts if fact[0] != "output")]


def facts_in_anthropic(body):
    facts = []
    if "system" in body:
        facts.append(("instruction", body["system"]))
    for message in body["messages"]:
        for block in message["content"]:
            facts += anthropic_block(block, "text")
            if block["type"] == "text":
                facts.append((f"{message['role']} text", block["text"]))
    return facts


def anthropic_block(block, kind):
    match block:
        case {"type": "text", "text": text}:
            return [(kind, text)]
        case {"type": "image" | "document", "source": source}:
            return [("image" if block["type"] == "image" else "file", address(source))]
        case {"type": "thinking", "thinking": text, "signature": signature}:
            return [*([("reasoning", text)] if text.strip() else []), ("signature", signature)]
        case {"type": "tool_use"}:
            arguments = json.dumps(block["input"], sort_keys=True)
            return [("call id", block["id"]), ("call", (block["name"], arguments))]
        case {"type": "tool_result"}:
            content = block.get("content", "")
            output = output_facts(content, lambda part: anthropic_block(part, "output"))
            error = [("error", output[0][1])] if block.get("is_error") else []
            return [("output id", block["tool_use_id"]), *output, *error]
    return [unknown(block)]


def address(source):
    if source["type"] == "base64":
        return f"data:{source['media_type']};base64,{source['data']}"
    return source.get("url") or source.get("file_id")


def by_kind(facts):
    values = {}
    for kind, value in facts:
        values.setdefault(kind, []).append(value)
    return values


def lost(expected, projected):
    """Facts that are not there, or not in their order."""
    there = {kind: iter(values) for kind, values in by_kind(projected).items()}
    return [
        (kind, value)
        for kind, value in expected
        if not any(found == value for found in there.get(kind, ()))
    ]


def added(expected, projected):
    """Facts that nobody stated."""
    return list((Counter(projected) - Counter(expected)).elements())


def answers(facts):
    """(call, output) of each result: the call of its id in the group before it."""
    group, answered, found = {}, False, []
    for kind, value in facts:
        if kind == "call id":
            group = {} if answered else group
            call_id, answered = value, False
        elif kind == "call":
            group[call_id] = value
        elif kind == "output id":
            call_id, answered = value, True
        elif kind == "output":
            found.append((group[call_id], value))
    return found
