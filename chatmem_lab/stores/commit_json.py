"""Commits as JSON text, as stores keep them."""

from __future__ import annotations

import msgspec

from chatmem_lab.errors import StoreError
from chatmem_lab.html.text import cut
from chatmem_lab.stores.commit import Commit

__all__ = ["decode_commit", "encode_commit"]

_decode = msgspec.json.Decoder(Commit).decode


def encode_commit(session_id: str, commit: Commit) -> bytes:
    """`commit` as JSON, in UTF-8; a NUL is escaped.

    Raises
    ------
    StoreError
        For what JSON cannot hold; `ChatMemory` lets none of it in.

    Examples
    --------
    >>> encode_commit("ann", Commit(is_over=True))
    b'{"is_over":true}'
    """
    try:
        return msgspec.json.encode(commit)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"a commit of session {cut(repr(session_id), 80)} cannot be kept as JSON: {error}; "
            "ChatMemory refuses or mends such messages when they are added, nothing was written"
        ) from error


def decode_commit(session_id: str, number: int, text: str | bytes) -> Commit:
    """The commit that `encode_commit` wrote.

    Raises
    ------
    StoreError
        For any other text; the session and the commit's number are named.

    Examples
    --------
    >>> decode_commit("ann", 7, '{"is_over":1}')
    Traceback (most recent call last):
    ...
    chatmem_lab.errors.StoreError: session 'ann', commit 7 cannot be read: Expected `bool`, got \
`int` - at `$.is_over`; it was changed by hand, or written by a newer version of this package
    """
    try:
        return _decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StoreError(
            f"session {cut(repr(session_id), 80)}, commit {number} cannot be read: {error}; it "
            "was changed by hand, or written by a newer version of this package"
        ) from error
