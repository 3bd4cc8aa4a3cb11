"""Real Jupyter Servers for tests: started as a user starts them, asked by HTTP, stopped."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

URL = re.compile(r"http://127\.0\.0\.1:(\d+)(/\S*)")


class Answer(NamedTuple):
    status: int
    body: dict
    headers: http.client.HTTPMessage


class Served:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen, port: int, path: str, errors: Path) -> None:
        self.process, self.port, self.path, self._errors = process, port, path, errors

    def ask(self, method: str, path: str, *, token: str = "", headers=None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        given = dict(headers or {})
        if token:
            given["Authorization"] = f"token {token}"
        try:
            connection.request(method, path, headers=given)
            reply = connection.getresponse()
            text = reply.read().decode()
        finally:
            connection.close()
        is_json = reply.headers.get_content_type() == "application/json"
        return Answer(reply.status, json.loads(text) if is_json else {}, reply.headers)

    def wait_until_bound(self) -> None:
        """Jupyter tells its URL before it listens."""
        deadline = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=30).close()
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def stop(self, by: int = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait(timeout=30)

    @property
    def said(self) -> str:
        """What it has written to stderr so far."""
        return self._errors.read_text()


@contextmanager
def served(code: str, *arguments: str, folder: Path, url_on: str = "stdout") -> Iterator[Served]:
    """Run `code` until it has told its URL, on stdout or stderr; ended when left."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "CHATMEM_LAB"))
    }
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        environment[name] = str(folder / name.lower())
    errors = folder / "stderr.txt"
    with errors.open("wb") as to_file:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=to_file if url_on == "stdout" else subprocess.STDOUT,
            text=True,
        )
    try:
        heard = []
        for line in process.stdout:
            heard.append(line)
            if found := URL.search(line):
                break
        else:
            raise AssertionError("".join(heard) + errors.read_text())
        server = Served(process, int(found[1]), found[2], errors)
        server.wait_until_bound()
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=30)
        process.stdout.close()
