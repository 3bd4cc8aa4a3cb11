"""A second, slow implementation of the window policies, written apart from the package.

Everything is recounted from scratch at each step; nothing is shared but the message values.
An entry of a window is a dict: ``at`` (position, or None for a summary), ``message``.
"""

from __future__ import annotations

import msgspec

from chatmem_lab.messages import Text


def units_of(messages):
    """The unit number of each position."""
    numbers, waiting, number, reasoned = [], [], -1, False
    for message in messages:
        if message.role == "tool" and waiting:
            if message.tool_call_id in waiting:
                waiting.remove(message.tool_call_id)
            elif not message.tool_call_id:
                waiting.pop(0)
        elif reasoned and message.role == "assistant":
            waiting = [c.id for c in message.tool_calls]
        else:
            number += 1
            waiting = [c.id for c in message.tool_calls]
        numbers.append(number)
        reasoned = (
            message.role == "assistant"
            and not message.tool_calls
            and len(message.parts) > 0
            and {type(p).__name__ for p in message.parts} == {"Reasoning"}
        )
    return numbers, bool(waiting) or reasoned


def sent(message):
    return (
        message.role,
        message.text,
        tuple(message.parts),
        [(c.id, c.name, c.arguments) for c in message.tool_calls],
        message.tool_call_id,
        message.name,
        message.is_error,
    )


class Reference:
    """Plays a conversation message by message under one of the naive policies."""

    def __init__(self, counter, tools, policies, *, pin_user=False):
        self.counter = counter
        self.fixed = counter.request_tokens + (counter.count_tools(tools).tokens if tools else 0)
        self.policies = policies
        self.pin_user = pin_user
        self.history = []
        self.window = []
        self.failed_at = {}
        self.ignored = set()
        self.numbers = []

    def tokens(self, entries):
        return sum(self.counter.count_message(e["message"]).tokens for e in entries)

    def total(self):
        return self.fixed + self.tokens(self.window)

    def add(self, message):
        self.history.append(message)
        entry = {"at": len(self.history) - 1, "message": message}
        systems = [e for e in self.window if e["at"] is not None and e["message"].role == "system"]
        if message.role == "system" and systems:
            if systems[0]["message"].text == message.text:
                self.ignored.add(entry["at"])
                self.numbers.append(None)
                return
            self.window = [entry] + [e for e in self.window if e is not systems[0]]
        else:
            self.window.append(entry)
        kept = [m for i, m in enumerate(self.history) if i not in self.ignored]
        numbers, is_open = units_of(kept)
        again = iter(numbers)
        self.numbers = [
            None if i in self.ignored else next(again) for i in range(len(self.history))
        ]
        if not is_open:
            for policy in self.policies:
                policy(self)

    # --- what the naive policies ask

    def unit(self, entry):
        """What stays together with `entry`, as a name."""
        return ("made", id(entry)) if entry["at"] is None else self.numbers[entry["at"]]

    def newest(self):
        held = [e["at"] for e in self.window if e["at"] is not None]
        return self.numbers[max(held)] if held else None

    def instruction(self, entry):
        return entry["at"] is not None and entry["message"].role in ("system", "developer")

    def latest_user(self):
        users = [e for e in self.window if e["at"] is not None and e["message"].role == "user"]
        return max((e["at"] for e in users), default=None)

    def pinned(self, entry):
        return (
            self.instruction(entry)
            or self.unit(entry) == self.newest()
            or (self.pin_user and entry["at"] is not None and entry["at"] == self.latest_user())
        )

    def drop_units(self, units):
        self.window = [e for e in self.window if self.unit(e) not in units]

    def free_units(self):
        """Units that may go, oldest first."""
        found = []
        for e in self.window:
            if not self.pinned(e) and self.unit(e) not in found:
                found.append(self.unit(e))
        return found


def fit(ref, held, high, low):
    """The units that a window policy lets go, one at a time, recounting after each."""
    saved, gone = list(ref.window), []
    if held() > high:
        for unit in ref.free_units():
            if held() <= low:
                break
            ref.drop_units([unit])
            gone.append(unit)
    ref.window = saved
    return gone


def window_policy(held_of, high, low=None, *, start_on_user=False):
    low = high if low is None else low

    def policy(ref):
        def held():
            return held_of(ref)

        gone = fit(ref, held, high, low)
        if start_on_user:
            left = [e for e in ref.window if ref.unit(e) not in gone and not ref.instruction(e)]
            starts = [
                i
                for i, e in enumerate(left)
                if (e["at"] is not None and e["message"].role == "user")
                or (e["at"] is None and i == 0)
            ]
            if starts:
                gone += [ref.unit(e) for e in left[: starts[0]]]
            elif ref.latest_user() is not None:
                gone = [u for u in gone if u != ref.numbers[ref.latest_user()]]
        ref.drop_units(gone)

    return policy


def messages_held(count_pinned=False):
    def held(ref):
        return sum(count_pinned or not ref.instruction(e) for e in ref.window)

    return held


def tokens_held(ref):
    return ref.total()


def turn_policy(high, low=None):
    low = high if low is None else low

    def policy(ref):
        users = [
            e["at"] for e in ref.window if e["at"] is not None and e["message"].role == "user"
        ]
        if len(users) > high:
            start = sorted(users)[-low]
            ref.drop_units(
                [
                    ref.unit(e)
                    for e in ref.window
                    if not ref.pinned(e) and (e["at"] is None or e["at"] < start)
                ]
            )

    return policy


def clearing_policy(keep, placeholder, exclude=()):
    def policy(ref):
        names = {}
        results = []
        for e in ref.window:
            if e["message"].role == "tool":
                unit = [x for x in ref.window if ref.unit(x) == ref.unit(e)]
                names = {c.id: c.name for x in unit for c in x["message"].tool_calls}
                if names.get(e["message"].tool_call_id) not in exclude:
                    results.append(e)
        for e in results[: max(len(results) - keep, 0)]:
            if ref.unit(e) == ref.newest():
                continue
            stub = msgspec.structs.replace(e["message"], parts=(Text(placeholder),))
            if (
                ref.counter.count_message(stub).tokens
                < ref.counter.count_message(e["message"]).tokens
            ):
                e = ref.window[ref.window.index(e)]
                ref.window[ref.window.index(e)] = {"at": e["at"], "message": stub}

    return policy


def folding_policy(summarize, trigger, keep, prefix):
    """Triggered by messages, keeping messages."""

    def policy(ref):
        loose = [e for e in ref.window if not ref.instruction(e)]
        if len(loose) <= trigger:
            return
        room, kept, blocked = keep, [], False
        order = []
        for e in loose:
            if ref.unit(e) not in order:
                order.append(ref.unit(e))
        for unit in reversed(order):
            members = [e for e in loose if ref.unit(e) == unit]
            if unit != ref.newest() and (len(members) > room or members[0]["at"] is None):
                blocked = True
            if blocked:
                break
            room -= len(members)
            kept.append(unit)
        fold = [e for e in loose if ref.unit(e) not in kept and not ref.pinned(e)]
        new = [e for e in fold if e["at"] is not None]
        if not new or ref.failed_at.get("fold") == max(n for n in ref.numbers if n is not None):
            return
        previous = [e["message"].text.removeprefix(prefix) for e in fold if e["at"] is None]
        text = summarize("\n\n".join(previous) if previous else None, [e["message"] for e in new])
        made = type(fold[0]["message"])("assistant", (Text(prefix + text),), generated=False)
        smaller = ref.counter.count_message(made).tokens < ref.tokens(fold)
        if not text.strip() or not smaller:
            ref.failed_at["fold"] = max(n for n in ref.numbers if n is not None)
            return
        index = ref.window.index(fold[0])
        rest = [e for e in ref.window if e not in fold]
        index = len([e for e in ref.window[:index] if e not in fold])
        ref.window = [*rest[:index], {"at": None, "message": made}, *rest[index:]]

    return policy
