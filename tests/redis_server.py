"""A real Redis server on a free port of this machine, for tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest
import redis

__all__ = ["RedisServer", "redis_program"]


def redis_program():
    """The server program; where it is missing, a skip, or a failure if services are required."""
    program = shutil.which("redis-server")
    if program is None:
        missing = "redis-server is not installed (Debian: apt-get install redis-server)"
        if os.environ.get("CHATMEM_LAB_REQUIRE_SERVICES") == "1":
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)
    return program


class RedisServer:
    """Starts on entering and stops on leaving; `stop` and `start` in between keep the port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.program = redis_program()
        self.folder = folder
        self.options = options
        self.port = _free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self, **options):
        return redis.Redis(host="127.0.0.1", port=self.port, **options)

    def start(self) -> None:
        for _ in range(5):
            with (self.folder / "redis.log").open("ab") as log:
                self.process = subprocess.Popen(self._command(), stdout=log, stderr=log)
            if self._answers():
                return
            # Another program may have taken the port in between.
            self.stop()
            self.port = _free_port()
        pytest.fail((self.folder / "redis.log").read_text(), pytrace=False)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _command(self) -> list[str]:
        fixed = {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": self.folder,
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "daemonize": "no",
        }
        given = [word for name, value in fixed.items() for word in (f"--{name}", str(value))]
        return [self.program, *given, *self.options]

    def _answers(self) -> bool:
        deadline = time.monotonic() + 20
        while self.process is not None and self.process.poll() is None:
            try:
                with self.client() as client:
                    client.ping()
                return True
            except redis.BusyLoadingError:
                pass
            except redis.AuthenticationError:
                return True
            except redis.ConnectionError:
                if time.monotonic() > deadline:
                    return False
            time.sleep(0.02)
        return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
