"""An extension of Jupyter Server: sessions by HTTP, for those who look after a product.

===================================  ====================================================
``GET /chatmem-lab/memory``          ``{"sessions": [id, …]}``
``GET /chatmem-lab/memory/ID/info``  what `SessionInfo` holds: ``id``, ``messages``, …
``DELETE /chatmem-lab/memory/ID``    ``{"id": …, "deleted": true, "note": …}``: erased for good
===================================  ====================================================

An id is percent-encoded, as UTF-8. Whoever asks needs Jupyter's token; a browser that is
logged in by its cookie sends ``X-XSRFToken`` too. What is wrong is ``{"message": …}``: 400 for
what is no id, 404 for a session that is not there, 503 for a store that cannot be read.

It is off unless it is asked for: ``chatmem-lab sessions serve --store URL`` runs a server with
nothing else, and ``jupyter server extension enable chatmem_lab.server`` adds it to one's own,
where `ChatmemLab` has the settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from chatmem_lab.server.configuration import ChatmemLab

__all__ = ["add_to"]


def add_to(server_app: ServerApp, configuration: ChatmemLab) -> None:
    """Let a server answer for the sessions of `configuration`."""
    from jupyter_server.utils import url_path_join

    from chatmem_lab.server.handlers import HANDLERS

    base, options = server_app.web_app.settings["base_url"], {"configuration": configuration}
    server_app.web_app.add_handlers(
        ".*$", [(url_path_join(base, place), handler, options) for place, handler in HANDLERS]
    )


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "chatmem_lab.server"}]


def _load_jupyter_server_extension(server_app: ServerApp) -> None:
    from chatmem_lab.server.configuration import ChatmemLab

    add_to(server_app, ChatmemLab(parent=server_app))
