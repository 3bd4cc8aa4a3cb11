"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A slow machine is no failure; in CI the same examples are drawn every time.
settings.register_profile(
    "chatmem_lab",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("chatmem_lab")


@pytest.fixture(scope="session")
def transcripts():
    """The folder of real transcripts, which are not part of the project."""
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "transcripts"
    folder = Path(os.environ.get("CHATMEM_LAB_TRANSCRIPTS", beside))
    if not folder.is_dir():
        pytest.skip(f"no real transcripts in {folder}: set CHATMEM_LAB_TRANSCRIPTS")
    return folder
