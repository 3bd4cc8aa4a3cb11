"""`check_store` takes good stores, and catches those that break one promise each."""

from __future__ import annotations

import re
import time
import unicodedata
from datetime import UTC
from threading import Lock

import msgspec
import pytest
from msgspec.structs import replace

from chatmem_lab.errors import ConflictError, StoreError
from chatmem_lab.stores import Commit, MemoryStore, Stored
from chatmem_lab.testing import check_store

# --- good ones


def test_the_store_in_memory():
    store = MemoryStore()
    check_store(lambda: store, examples=50)
    assert store.sessions() == []


class Handle(MemoryStore):
    """One of many handles on what is held elsewhere; refuses what JSON cannot hold."""

    def __init__(self, shared):
        super().__init__()
        self._versions, self._commits, self._lock = shared
        self.closed = 0

    def _write(self, id, commits, version, *, keep):
        assert not self.closed
        try:
            commits = [msgspec.json.decode(msgspec.json.encode(c), type=Commit) for c in commits]
        except TypeError as error:
            raise StoreError("unkept") from error
        return super()._write(id, commits, version, keep=keep)

    def close(self):
        self.closed += 1


def test_many_handles_that_are_closed_in_the_end():
    shared, handles = ({}, {}, Lock()), []

    def make():
        handles.append(Handle(shared))
        return handles[-1]

    check_store(make)
    assert len(handles) > 3
    assert [handle.closed for handle in handles] == [1] * len(handles)
    assert shared[:2] == ({}, {})


def test_a_shared_handle_is_closed_once_and_also_after_a_failure():
    handle = Handle(({}, {}, Lock()))
    check_store(lambda: handle, examples=1)
    assert handle.closed == 1
    handle = Handle(({}, {}, Lock()))
    handle.append("mine", [Commit()], version=0)
    with pytest.raises(AssertionError, match="holds 1 sessions; give an empty store"):
        check_store(lambda: handle)
    assert (handle.closed, handle.sessions()) == (1, ["mine"])


# --- broken ones: each is a good store but for what stands in its name


class Broken(MemoryStore):
    def __repr__(self):
        return "Broken()"


class WithoutDelete(Broken):
    delete = None


class NeverWrittenIsNone(Broken):
    def version(self, id):
        return super().version(id) or None


class ReadMakesASession(Broken):
    def read(self, id, *, after=0):
        self._versions.setdefault(id, 0)
        return super().read(id, after=after)


class DeleteSaysNothing(Broken):
    def delete(self, id):
        super().delete(id)


class DeleteOfNothingIsTrue(Broken):
    def delete(self, id):
        super().delete(id)
        return True


class AppendAnswersTheNumberOfCommits(Broken):
    def append(self, id, commits, *, version):
        super().append(id, commits, version=version)
        return len(self._commits.get(id, ()))


class NumbersWritesNotCommits(Broken):
    def append(self, id, commits, *, version):
        new = super().append(id, commits, version=version)
        if version and commits:
            new = self._versions[id] = version + 1
        return new


class SkipsNumbers(Broken):
    def append(self, id, commits, *, version):
        new = super().append(id, commits, version=version)
        if version and commits:
            new = self._versions[id] = new + 1
        return new


class ReadsAll(Broken):
    def read(self, id, *, after=0):
        return super().read(id)


class ReadsFromAfterOn(Broken):
    def read(self, id, *, after=0):
        return super().read(id, after=max(after - 1, 0))


class ReadsNoVersionWhereNothingIsNew(Broken):
    def read(self, id, *, after=0):
        stored = super().read(id, after=after)
        return stored if stored.commits else Stored(0)


class ReadsNewestFirst(Broken):
    def read(self, id, *, after=0):
        stored = super().read(id, after=after)
        return Stored(stored.version, stored.commits[::-1])


class KeepsTheFirstOfSeveral(Broken):
    def append(self, id, commits, *, version):
        return super().append(id, commits[:1], version=version)


class WritesOneByOne(Broken):
    """Until one cannot be kept; those before it stay."""

    def append(self, id, commits, *, version):
        if not commits:
            return super().append(id, commits, version=version)
        for commit in commits:
            try:
                msgspec.json.encode(commit)
            except TypeError as error:
                raise StoreError("unkept") from error
            version = super().append(id, [commit], version=version)
        return version


class ReplacesBeforeItLooks(Broken):
    def replace(self, id, commits, *, version):
        if version == self.version(id) and version and commits:
            self._commits[id] = []
        for commit in commits:
            msgspec.json.encode(commit)
        return super().replace(id, commits, version=version)


class WritesNothingAsASession(Broken):
    def append(self, id, commits, *, version):
        return super().append(id, commits or [Commit()], version=version)


class ReplacesByNothing(Broken):
    def replace(self, id, commits, *, version):
        if not commits and version == self.version(id) and version:
            self._commits[id] = []
        return super().replace(id, commits, version=version)


class TakesAnyVersion(Broken):
    def append(self, id, commits, *, version):
        return super().append(id, commits, version=self.version(id))


class TakesAnyVersionToReplace(Broken):
    def replace(self, id, commits, *, version):
        return super().replace(id, commits, version=self.version(id))


class TakesAnyVersionToWriteNothing(Broken):
    def append(self, id, commits, *, version):
        return super().append(id, commits, version=version) if commits else version


class TakesNewerVersions(Broken):
    def append(self, id, commits, *, version):
        found = self.version(id)
        return super().append(id, commits, version=min(version, found) if found else version)


class TakesZeroAlways(Broken):
    def append(self, id, commits, *, version):
        return super().append(id, commits, version=version or self.version(id))


class RefusesByAnotherError(Broken):
    def append(self, id, commits, *, version):
        try:
            return super().append(id, commits, version=version)
        except ConflictError as error:
            raise ValueError("too late") from error


class WritesAndRefuses(Broken):
    def append(self, id, commits, *, version):
        if version != self.version(id) and version and self.version(id):
            super().append(id, commits, version=self.version(id))
        return super().append(id, commits, version=version)


class IsStuckAfterAConflict(Broken):
    stuck = False

    def append(self, id, commits, *, version):
        if self.stuck and version:
            raise ConflictError("still")
        try:
            return super().append(id, commits, version=version)
        except ConflictError:
            self.stuck = bool(self.version(id)) and id == "wrong"
            raise


class ReplaceKeepsWhatWasThere(Broken):
    def replace(self, id, commits, *, version):
        return super().append(id, commits, version=version)


class ReplaceSkipsNumbers(Broken):
    def replace(self, id, commits, *, version):
        new = super().replace(id, commits, version=version)
        if version and commits:
            new = self._versions[id] = version + 10
        return new


class ReplaceWantsASession(Broken):
    def replace(self, id, commits, *, version):
        if commits and not version and not self.version(id):
            raise StoreError("there is no such session")
        return super().replace(id, commits, version=version)


class ReplaceErasesOthers(Broken):
    def replace(self, id, commits, *, version):
        for other in self._commits:
            if other != id:
                self._commits[other] = []
        return super().replace(id, commits, version=version)


class DeleteKeepsTheVersion(Broken):
    def delete(self, id):
        self._commits.pop(id, None)
        return self.version(id) > 0


class DeleteErasesOthers(Broken):
    def delete(self, id):
        was_there = super().delete(id)
        self._versions.clear()
        self._commits.clear()
        return was_there


class BeginsWithOne(Broken):
    def _write(self, id, commits, version, *, keep):
        new = super()._write(id, commits, version, keep=keep)
        if commits and not version:
            new = self._versions[id] = len(commits)
        return new


class KeepsTheListItWasGiven(Broken):
    def append(self, id, commits, *, version):
        new = super().append(id, commits, version=version)
        if isinstance(commits, list) and commits and not version:
            self._commits[id] = commits
        return new


class GivesItsOwnListOfSessions(Broken):
    seen, given = None, None

    def sessions(self):
        if super().sessions() != self.seen:
            self.seen, self.given = super().sessions(), super().sessions()
        return self.given


class ListsUnsorted(Broken):
    def sessions(self):
        return super().sessions()[::-1]


class ListsTwice(Broken):
    def sessions(self):
        return sorted(super().sessions() * 2)


class ListsOnlyAHundredCharacters(Broken):
    def sessions(self):
        return sorted(id[:100] for id in self._versions)


class ListsOnlyFifty(Broken):
    def sessions(self):
        return super().sessions()[:50]


class OtherIds(Broken):
    """Takes `self.same(id)` for the id."""

    def version(self, id):
        return super().version(self.same(id))

    def read(self, id, *, after=0):
        return super().read(self.same(id), after=after)

    def _write(self, id, commits, version, *, keep):
        return super()._write(self.same(id), commits, version, keep=keep)

    def delete(self, id):
        return super().delete(self.same(id))


class IgnoresCase(OtherIds):
    same = staticmethod(str.lower)


class IgnoresTrailingBlanks(OtherIds):
    same = staticmethod(str.rstrip)


class IgnoresLeadingBlanks(OtherIds):
    same = staticmethod(str.lstrip)


class CutsAtNul(OtherIds):
    same = staticmethod(lambda id: id.partition("\0")[0])


class EscapesNulOneWay(OtherIds):
    same = staticmethod(lambda id: id.replace("\0", "\\u0000"))


class ComposesCharacters(OtherIds):
    same = staticmethod(lambda id: unicodedata.normalize("NFC", id))


class CutsLongIds(OtherIds):
    same = staticmethod(lambda id: id[:9_999])


class TakesNumbersForNumbers(OtherIds):
    same = staticmethod(lambda id: str(int(id)) if id.isdecimal() else id)


class JoinsEmptyAndNone(OtherIds):
    same = staticmethod(lambda id: id or "None")


class DeletesByPattern(Broken):
    def delete(self, id):
        if id == "*":
            self._commits.clear()
            self._versions = {"": 1} if len(self._versions) > 1 else {}
            return True
        return super().delete(id)


class Changes(Broken):
    """Gives `self.change(commit)` for the commit."""

    def read(self, id, *, after=0):
        stored = super().read(id, after=after)
        return Stored(stored.version, tuple(map(self.change, stored.commits)))


def in_json(pattern, put):
    """Puts `put` for `pattern` in a commit's JSON."""
    return staticmethod(
        lambda commit: msgspec.json.decode(
            re.sub(pattern, put, msgspec.json.encode(commit, enc_hook=repr)), type=Commit
        )
    )


class LosesNul(Changes):
    change = in_json(rb"(?<!\\)\\u0000", b"")


class LosesTimes(Changes):
    change = staticmethod(lambda c: replace(c, created_at=None))


class TurnsTimesIntoUtc(Changes):
    def change(self, commit):
        time = commit.created_at
        if time is None or time.tzinfo is None or not 1 < time.year < 9999:
            return commit
        return replace(commit, created_at=time.astimezone(UTC))


class CutsTimesToSeconds(Changes):
    def change(self, commit):
        time = commit.created_at
        return replace(commit, created_at=time and time.replace(microsecond=0))


class SortsArguments(Changes):
    change = in_json(rb'\{\\"b\\":1,\\"a\\":2,', rb'{\\"a\\":2,\\"b\\":1,')


class CutsText(Changes):
    change = in_json(rb"(All of it[^\"]{65000})[^\"]+", rb"\1")


class LosesEvents(Changes):
    change = staticmethod(lambda c: replace(c, events=()))


class LosesChanges(Changes):
    change = staticmethod(lambda c: replace(c, changes=()))


class LosesLines(Changes):
    change = staticmethod(lambda c: replace(c, line=None))


class LosesFlags(Changes):
    change = staticmethod(lambda c: replace(c, was_asked=False))


class LosesMetadata(Changes):
    change = staticmethod(
        lambda c: replace(c, messages=tuple(replace(m, metadata=None) for m in c.messages))
    )


class LosesExtra(Changes):
    change = staticmethod(
        lambda c: replace(c, messages=tuple(replace(m, extra=None) for m in c.messages))
    )


class LosesSummaries(Changes):
    change = in_json(b'"generation":2', b'"generation":1')


class DropsMessagesThatSayNothing(Changes):
    change = staticmethod(
        lambda c: replace(c, messages=tuple(m for m in c.messages if not m.is_blank))
    )


class OrdersByTimeAndText(Changes):
    def change(self, commit):
        if not all(message.created_at for message in commit.messages):
            return commit
        ordered = sorted(commit.messages, key=lambda m: (m.created_at.timestamp(), m.text))
        return replace(commit, messages=tuple(ordered))


class LooksAndThenWrites(Broken):
    """Between the two any other thread may write."""

    def _write(self, id, commits, version, *, keep):
        if version != self.version(id):
            raise ConflictError("late")
        if not commits:
            return version
        if id == "race":
            pause()
        return super()._write(id, commits, self.version(id), keep=keep)


def pause():
    """Let the other threads run."""
    time.sleep(0.002)


class FailsUnderLoad(Broken):
    def __init__(self):
        super().__init__()
        self.busy = Lock()

    def append(self, id, commits, *, version):
        if not self.busy.acquire(blocking=False):
            raise StoreError("database is locked")
        try:
            if id == "race":
                pause()
            return super().append(id, commits, version=version)
        finally:
            self.busy.release()


class ShowsHalfAWrite(Broken):
    def append(self, id, commits, *, version):
        for commit in commits:
            version = super().append(id, [commit], version=version)
            pause()
        return version if commits else super().append(id, commits, version=version)


class ShowsNothingWhileItReplaces(Broken):
    def replace(self, id, commits, *, version):
        if id == "moment":
            self._commits[id] = []
            pause()
        return super().replace(id, commits, version=version)


WORDS = {
    WithoutDelete: "has no method delete",
    NeverWrittenIsNone: "two handles on one session: raised ConflictError",
    ReadMakesASession: "is in sessions(); only those that hold commits are",
    DeleteSaysNothing: "delete of a session is not True",
    DeleteOfNothingIsTrue: "delete of a session that was never written is True; it is False",
    AppendAnswersTheNumberOfCommits: "that it is at version",
    NumbersWritesNotCommits: "an append of two commits to version",
    SkipsNumbers: "numbered on, without a gap",
    ReadsAll: "gives the version and ()",
    ReadsFromAfterOn: "gives the version and ()",
    ReadsNoVersionWhereNothingIsNew: "gives version 0 with ()",
    ReadsNewestFirst: "the first handle reads what another wrote",
    KeepsTheFirstOfSeveral: "after an append of three commits",
    WritesOneByOne: "append of two commits failed at the second one",
    ReplacesBeforeItLooks: "replace of two commits failed at the second one",
    WritesNothingAsASession: "of no commits to a session that is not there changes the version",
    ReplacesByNothing: "after replace of no commits",
    TakesAnyVersion: "append of 1 commits at version",
    TakesAnyVersionToReplace: "replace of 1 commits at version",
    TakesAnyVersionToWriteNothing: "append of 0 commits at version",
    TakesNewerVersions: "append of 1 commits at version",
    TakesZeroAlways: "append of 1 commits at version 0",
    RefusesByAnotherError: "raised ValueError: too late; raise ConflictError",
    WritesAndRefuses: "after a write that was refused",
    IsStuckAfterAConflict: "a wrong version: raised ConflictError: still",
    ReplaceKeepsWhatWasThere: "the first handle reads what another replaced",
    ReplaceSkipsNumbers: "its numbers go on",
    ReplaceWantsASession: "StoreError: there is no such session",
    ReplaceErasesOthers: "replace of one session changed another",
    DeleteKeepsTheVersion: "that another handle deleted, is at version",
    DeleteErasesOthers: "after another session was deleted",
    BeginsWithOne: "begin with first_version, so that nobody takes it for the one before",
    KeepsTheListItWasGiven: "after the list that was appended grew",
    GivesItsOwnListOfSessions: "give a list of its own each time",
    ListsUnsorted: "it is sorted, each id once",
    ListsTwice: "lists ['shared', 'shared']",
    ListsOnlyAHundredCharacters: "lists every id as it was given",
    ListsOnlyFifty: "lists every id as it was given",
    IgnoresCase: "session 'A' was never written",
    IgnoresTrailingBlanks: "session ' ' was never written",
    IgnoresLeadingBlanks: "session ' ' was never written",
    CutsAtNul: "session 'a\\x00' was never written",
    EscapesNulOneWay: "session 'a\\\\u0000' was never written",
    ComposesCharacters: "session 'e\u0301' was never written",
    CutsLongIds: "is taken for another id",
    TakesNumbersForNumbers: "session '01' was never written",
    JoinsEmptyAndNone: "session 'None' was never written",
    DeletesByPattern: "an id is no pattern, and no other one",
    LosesNul: "a message with every field came back changed",
    LosesTimes: "its changes, and what happened to it came back changed",
    TurnsTimesIntoUtc: "its changes, and what happened to it came back changed",
    CutsTimesToSeconds: "came back changed",
    SortsArguments: "a message with every field came back changed",
    CutsText: "a text of 100,000 characters came back changed",
    LosesEvents: "what happened to it came back changed",
    LosesChanges: "what happened to it came back changed",
    LosesLines: "what happened to it came back changed",
    LosesFlags: "what happened to it came back changed",
    LosesMetadata: "a message with every field came back changed",
    LosesExtra: "a message with every field came back changed",
    LosesSummaries: "what happened to it came back changed",
    DropsMessagesThatSayNothing: "text that says nothing came back changed",
    OrdersByTimeAndText: "fifty messages of one moment came back changed",
    LooksAndThenWrites: "are told that they were first; exactly one is",
    FailsUnderLoad: "those that come too late get a ConflictError",
    ShowsHalfAWrite: "a write is seen whole or not at all",
    ShowsNothingWhileItReplaces: "a write is seen whole or not at all",
}


@pytest.mark.parametrize("kind", WORDS, ids=lambda kind: kind.__name__)
def test_a_broken_store_is_caught(kind):
    store = kind()
    with pytest.raises(AssertionError) as raised:
        check_store(lambda: store, examples=3)
    assert str(raised.value).startswith("Broken(")
    assert WORDS[kind] in str(raised.value)
