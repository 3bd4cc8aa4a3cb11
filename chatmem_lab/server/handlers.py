"""What is answered under ``/chatmem-lab/memory``: JSON, to those who are logged in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from chatmem_lab.errors import ChatMemLabError, MessageError, StoreError
from chatmem_lab.server.configuration import ChatmemLab
from chatmem_lab.server.session_desk import NoSessionError, SessionDesk

__all__ = ["HANDLERS", "PLACE"]

PLACE = "/chatmem-lab/memory"


class _Handler(APIHandler):
    """Asks the desk in a thread, since stores block, and says what is wrong as JSON."""

    auth_resource = "chatmem-lab"

    def initialize(self, configuration: ChatmemLab) -> None:
        self._configuration = configuration

    async def answer(self, ask: Callable[[SessionDesk], dict[str, Any]]) -> None:
        try:
            reply = await asyncio.to_thread(lambda: ask(self._configuration.desk()))
        except ChatMemLabError as error:
            status = _status(error)
            self.set_status(status)
            reply = {"message": str(error)}
            if status >= 500:
                self.log.warning("chatmem-lab: %s", error)
        self.set_header("Cache-Control", "no-store")
        await self.finish(reply)


class SessionsHandler(_Handler):
    """``GET``: the ids of all sessions."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        await self.answer(lambda desk: {"sessions": desk.ids()})


class SessionHandler(_Handler):
    """``DELETE``: the session is erased for good."""

    @web.authenticated
    @authorized
    async def delete(self, id: str) -> None:
        await self.answer(lambda desk: desk.delete(id))


class InfoHandler(_Handler):
    """``GET``: the session in numbers."""

    @web.authenticated
    @authorized
    async def get(self, id: str) -> None:
        await self.answer(lambda desk: desk.info(id))


def _status(error: ChatMemLabError) -> int:
    if isinstance(error, NoSessionError):
        return 404
    if isinstance(error, MessageError):
        return 400
    return 503 if isinstance(error, StoreError) else 500


# An id is percent-encoded, a slash in it too; Tornado decodes it after the match.
HANDLERS: list[tuple[str, type[_Handler]]] = [
    (PLACE, SessionsHandler),
    (rf"{PLACE}/([^/]+)/info", InfoHandler),
    (rf"{PLACE}/([^/]+)", SessionHandler),
]
