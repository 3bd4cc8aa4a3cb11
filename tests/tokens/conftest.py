"""tiktoken built from the files that `fetch_vocabulary.py` brought, never from a download."""

from __future__ import annotations

import pytest
import tiktoken

from fetch_vocabulary import CACHE, FILES, is_there


@pytest.fixture(scope="session")
def reference():
    """Encodings by name."""
    if not is_there():
        pytest.fail("tiktoken's vocabularies are missing: run python tests/fetch_vocabulary.py")
    from tiktoken.load import load_tiktoken_bpe
    from tiktoken_ext import openai_public

    encodings = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(CACHE))
        for _, (name, digest) in FILES.items():
            arguments = getattr(openai_public, name)()
            encodings[name] = tiktoken.Encoding(**arguments)
            assert digest
    assert load_tiktoken_bpe
    return encodings
