"""HTTP on this machine: requests with a JSON body, answered whole, in pieces, or not at all."""

from __future__ import annotations

import json
import select
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chatmem_lab.testing.served_reply import Refused

__all__ = ["LoopbackRequest", "LoopbackServer"]

#: What paths end with; before it stands what a kind of client makes of its base URL.
_APIS = {"/chat/completions": "chat", "/responses": "responses"}
_ERRORS = {
    401: ("invalid_request_error", "invalid_api_key", "The key is not accepted."),
    429: ("requests", "rate_limit_exceeded", "Too many requests: try again later."),
    500: ("server_error", None, "The server had an error."),
}


class LoopbackServer(ThreadingHTTPServer):
    """Listens on a free port of this machine; `answer` is called for each request.

    >>> with LoopbackServer(lambda body, request, api: None) as server:
    ...     server.port > 0
    True
    """

    daemon_threads = True

    def __init__(self, answer: Callable[[dict[str, Any], LoopbackRequest, str], None]) -> None:
        self.answer = answer
        super().__init__(("127.0.0.1", 0), LoopbackRequest)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class LoopbackRequest(BaseHTTPRequestHandler):
    """One request, and the ways to answer it."""

    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    #: What is written in pieces arrives at once, and not when a timer of the system runs out.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Read the body and have it answered."""
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.partition("?")[0]
        api = next((api for end, api in _APIS.items() if path.endswith(end)), None)
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        if api is None:
            self.send_error_body(404, f"there is nothing at {self.path}")
        elif not isinstance(body, dict):
            self.send_error_body(400, "the body must be a JSON object")
        else:
            self._answer(body, api)

    def _answer(self, body: dict[str, Any], api: str) -> None:
        try:
            self.server.answer(body, self, api)
        except Refused as wrong:
            self.send_error_body(400, wrong.message, wrong.param, wrong.code)
        except OSError:
            self.close_connection = True
        except Exception as wrong:
            # The script's own function is wrong: the test that wrote it should see why.
            self.send_error_body(500, f"{type(wrong).__name__}: {wrong}")

    def do_GET(self) -> None:
        """Nothing is to be got."""
        self.send_error_body(404, f"there is nothing at {self.path}")

    def send_error_body(
        self,
        status: int,
        message: str | None = None,
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        """An error in OpenAI's form."""
        kind, usual_code, usual = _ERRORS.get(
            status,
            ("invalid_request_error", None, "The request is not accepted.")
            if status < 500
            else _ERRORS[500],
        )
        error = {"message": message or usual, "type": kind, "param": param}
        self.send_json(status, {"error": {**error, "code": code or usual_code}})

    def send_json(self, status: int, value: Any, *, whole: bool = True) -> None:
        """A body in one piece; without its second half if it is not to be whole."""
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status in (429, 503):
            self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(data if whole else data[: len(data) // 2])
        self.close_connection = self.close_connection or not whole

    def send_stream(self, lines: list[str], chunks: int | None) -> None:
        """Server-sent events; only the first `chunks` of them if that is a number."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for line in lines[:chunks]:
            data = line.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        if chunks is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def hang_up(self, closing: threading.Event | None) -> None:
        """Close the connection; with `closing`, not before the client or the server does."""
        self.close_connection = True
        while closing is not None and not closing.is_set():
            if select.select([self.connection], [], [], 0.02)[0]:
                return

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""
