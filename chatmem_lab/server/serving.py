"""`serve`: a Jupyter Server that answers for sessions and for nothing else."""

from __future__ import annotations

import os
import secrets
import signal
import socket
from collections.abc import Callable

from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from chatmem_lab.server import add_to
from chatmem_lab.server.configuration import ChatmemLab
from chatmem_lab.server.handlers import PLACE
from chatmem_lab.server.session_desk import SessionDesk

__all__ = ["serve"]

HOST = "127.0.0.1"


class _Server(ServerApp):
    """Without kernels, files and terminals, and without what the user set for other servers."""

    default_services = ("auth",)  # type: ignore[assignment]
    no_browser_open_file = True

    def load_config_file(self, *_: object, **__: object) -> None:  # type: ignore[override]
        """Read none."""


def serve(desk: SessionDesk, *, port: int, tell: Callable[[str], None]) -> None:
    """Answer on this machine's own address until Ctrl-C.

    Parameters
    ----------
    desk : SessionDesk
    port : int
        0 for any that is free.
    tell : callable
        Called once with the URL, which holds the token: that of ``JUPYTER_TOKEN``, or a new one.

    Raises
    ------
    OSError
        If the port cannot be had.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as taken:
            raise OSError(
                f"port {port} of {HOST} cannot be had ({taken.strerror}): choose another one "
                "with --port, or 0 for any that is free"
            ) from None
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    config = Config()
    config.ServerApp.update(
        ip=HOST,
        port=port,
        port_retries=0,
        default_url=PLACE,
        open_browser=False,
        allow_root=True,
        log_level="ERROR",
    )
    config.IdentityProvider.token = token
    app = _Server(config=config)
    app.initialize(argv=[], find_extensions=False)
    add_to(app, ChatmemLab(desk))
    # After the call that binds the port, which is waiting already.
    app.io_loop.add_callback(lambda: tell(f"http://{HOST}:{app.port}{PLACE}?token={token}"))
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: app.stop(from_signal=True))
    app.start()
