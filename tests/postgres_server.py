"""A real PostgreSQL server of the tests' own: on this machine, in a folder that goes away."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

#: Whom the server belongs to, where the tests run as root: root may not start it.
_OWNER = "postgres"


class PostgresServer:
    """A server on a free port of the loopback address.

    Attributes
    ----------
    password : str
        Of the user ``tester``; there is no way in without it.
    """

    password = "not-to-be-shown"

    def __init__(self, binaries: Path, folder: Path) -> None:
        self._binaries, self._folder = binaries, folder
        self._data = folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        secret = folder / "password"
        secret.write_text(self.password)
        if os.geteuid() == 0:
            for path in (folder, secret):
                shutil.chown(path, _OWNER)
        self._run("initdb", "-D", self._data, "-U", "tester", "--pwfile", secret,
                  "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync")  # fmt: skip
        self.start()

    def url(self, database: str = "postgres", *, password: str = password) -> str:
        """As `SQLStore` takes it."""
        return f"postgresql://tester:{password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -k '' -c listen_addresses=127.0.0.1 -c fsync=off"
        log = self._folder / "log"
        self._run("pg_ctl", "start", "-w", "-D", self._data, "-l", log, "-o", options)

    def stop(self) -> None:
        """Stop it at once; whoever is connected is cut off."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", self._data)

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        return (self._data / "postmaster.pid").exists()

    def _run(self, program: str, *arguments: str | Path) -> None:
        as_owner = ["runuser", "-u", _OWNER, "--"] if os.geteuid() == 0 else []
        done = subprocess.run(
            [*as_owner, self._binaries / program, *arguments],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            # Not a pipe: the server would hold it open.
            stdout=(self._folder / "output").open("w"),
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        if done.returncode:
            said = [(self._folder / name) for name in ("output", "log")]
            raise RuntimeError(
                f"{program} failed: "
                + " ".join(path.read_text() for path in said if path.exists())
            )


def _binaries() -> Path | None:
    """The folder of `initdb` and `pg_ctl`; the newest where there are several."""
    found = shutil.which("initdb")
    if found and shutil.which("pg_ctl"):
        return Path(found).parent
    folders = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(folders, key=lambda path: int(path.parts[-3]), default=None)
    return newest.parent if newest is not None else None


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server while the block runs; where there is none to start, the test is skipped.

    With ``CHATMEM_LAB_REQUIRE_SERVICES=1`` it fails instead.
    """
    binaries = _binaries()
    if binaries is None:
        missing = "PostgreSQL is not installed: install the package postgresql"
        if os.environ.get("CHATMEM_LAB_REQUIRE_SERVICES") == "1":
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(binaries, Path(folder))
        try:
            yield server
        finally:
            if server.is_running:
                server.stop()
