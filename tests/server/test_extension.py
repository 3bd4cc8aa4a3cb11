"""The extension in a Jupyter Server of the user's own: off, on, configured, with a bad store."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import chatmem_lab as cml
import chatmem_lab.server
from jupyter_servers import served

CODE = "from jupyter_server.serverapp import main; main()"
OPTIONS = (
    "--ip=127.0.0.1",
    "--port=0",
    "--no-browser",
    "--allow-root",
    "--IdentityProvider.token=secret-token",
)


def own_server(folder, *options, is_on=True):
    settings = folder / "jupyter_config_dir" / "jupyter_server_config.json"
    settings.parent.mkdir(parents=True)
    extensions = {"chatmem_lab.server": is_on, "jupyterlab": False}
    settings.write_text(json.dumps({"ServerApp": {"jpserver_extensions": extensions}}))
    return served(CODE, *OPTIONS, *options, folder=folder, url_on="stderr")


def test_it_is_off_by_default():
    package = Path(chatmem_lab.server.__file__).parent
    settings = json.loads((package / "chatmem_lab.json").read_text())
    assert settings == {"ServerApp": {"jpserver_extensions": {"chatmem_lab.server": False}}}


def test_what_jupyter_imports_to_know_it_is_light():
    code = (
        "import sys, chatmem_lab.server as server; "
        "print(server._jupyter_server_extension_points(), "
        "[m for m in ('jupyter_server', 'pandas', 'sqlalchemy', 'msgspec') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[{'module': 'chatmem_lab.server'}] []\n"


def test_in_a_server_of_ones_own(tmp_path):
    url = f"sqlite:///{tmp_path}/chat.db"
    with cml.ChatMemories(store=url) as memories:
        memories["ann"].add_user("hi")
    options = (
        "--ServerApp.base_url=/team/",
        f"--ChatmemLab.store={url}",
        "--ChatmemLab.policy=message-window:5",
        "--ChatmemLab.model=gpt-5",
    )
    with own_server(tmp_path, *options) as server:
        place = "/team/chatmem-lab/memory"
        info = server.ask("GET", f"{place}/ann/info", token="secret-token")
        assert info.status == 200
        assert (info.body["policy"], info.body["count_kind"]) == ("MessageWindow(5)", "exact")
        assert server.ask("GET", f"{place}/ann/info").status == 403
        # the rest of the server is there as ever
        assert server.ask("GET", "/team/api/status", token="secret-token").status == 200


@pytest.mark.parametrize(
    ("store", "words"),
    [
        ("postgresql://ann:geheim@127.0.0.1:1/chat", "start the server"),
        ("", "c.ChatmemLab.store"),
    ],
)
def test_a_store_that_cannot_be_read_is_503_without_secrets(tmp_path, store, words):
    with own_server(tmp_path, f"--ChatmemLab.store={store}") as server:
        for _ in range(2):
            answer = server.ask("GET", "/chatmem-lab/memory", token="secret-token")
            assert answer.status == 503
            assert words in answer.body["message"]
            assert "geheim" not in answer.body["message"]
        assert server.stop() == 0
        heard = server.process.stdout.read()
        assert words in heard
        assert "geheim" not in heard


def test_a_server_where_it_is_off_knows_nothing_of_it(tmp_path):
    with own_server(tmp_path, is_on=False) as server:
        answer = server.ask("GET", "/chatmem-lab/memory", token="secret-token")
        assert answer.status == 404
