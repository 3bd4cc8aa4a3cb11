"""`ChatmemLab`: what a Jupyter configuration says of the store."""

from __future__ import annotations

from threading import Lock

from traitlets import Unicode
from traitlets.config import Configurable

from chatmem_lab.policies.registry import parse_policy
from chatmem_lab.server.session_desk import SessionDesk, open_existing_store

__all__ = ["ChatmemLab"]


class ChatmemLab(Configurable):
    """The store that the extension serves; it is opened when it is first asked for.

    Examples
    --------
    In ``jupyter_server_config.py``::

        c.ServerApp.jpserver_extensions = {"chatmem_lab.server": True}
        c.ChatmemLab.store = "sqlite:///chat.db"
        c.ChatmemLab.policy = "token-window:8000"
    """

    store = Unicode(
        help="The store's URL; without one, that of the environment variable CHATMEM_LAB_STORE."
    ).tag(config=True)
    policy = Unicode(
        help="The product's policy as a recipe, such as token-window:8000; without one the "
        "window is shown as the store holds it."
    ).tag(config=True)
    model = Unicode(help="Whose tokens are counted; without one counts are estimates.").tag(
        config=True
    )

    def __init__(self, desk: SessionDesk | None = None, **options: object) -> None:
        super().__init__(**options)
        self._desk = desk
        self._lock = Lock()

    def desk(self) -> SessionDesk:
        """The desk, opened once; where that fails, it is tried again the next time.

        Raises
        ------
        StoreError, PolicyError
        """
        with self._lock:
            if self._desk is None:
                policy = parse_policy(self.policy) if self.policy else None
                store = open_existing_store(self.store)
                self._desk = SessionDesk(store, policy, self.model or None)
            return self._desk
