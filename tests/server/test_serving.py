"""``chatmem-lab sessions serve``: a real server, asked with and without its token."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import stat
from contextlib import closing
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from typer.testing import CliRunner

import chatmem_lab as cml
from chatmem_lab.cli import app
from jupyter_servers import served

CODE = "from chatmem_lab.cli import app; app()"
PLACE = "/chatmem-lab/memory"
HOSTILE = [
    "a/b",
    "../x",
    "..",
    "%2F",
    "房 é",
    "<img src=x>",
    "'; DROP TABLE x; --",
    "a?b#c",
    "\x00",
]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('store')}/chat.db"


@pytest.fixture(scope="module")
def server(url, tmp_path_factory):
    cml.ChatMemories(store=url).close()
    folder = tmp_path_factory.mktemp("jupyter")
    with served(CODE, "sessions", "serve", "--store", url, "--port", "0", folder=folder) as server:
        yield server


@pytest.fixture(scope="module")
def token(server):
    return parse_qs(urlsplit(server.path).query)["token"][0]


@pytest.fixture(autouse=True)
def memories(url, server):
    with cml.ChatMemories(cml.MessageWindow(2), store=url) as memories:
        for id in memories.list():
            memories.delete(id)
        memories["ann"].add_user("left behind")
        memories["ann"].clear()
        for text in ("one", "two", "three"):
            memories["ann"].add_user(text)
        memories["bo"].add_user("hi")
        yield memories


def test_the_list(server, token):
    answer = server.ask("GET", PLACE, token=token)
    assert (answer.status, answer.body) == (200, {"sessions": ["ann", "bo"]})
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_url_that_was_told_is_enough(server):
    assert urlsplit(server.path).path == PLACE
    assert server.ask("GET", server.path).body == {"sessions": ["ann", "bo"]}


def test_info_in_numbers(server, token, memories):
    answer = server.ask("GET", f"{PLACE}/ann/info", token=token)
    assert answer.status == 200
    body = answer.body
    assert (body["id"], body["messages"], body["window_messages"], body["branches"]) == (
        "ann",
        3,
        2,
        1,
    )
    assert body["version"] == memories.store.version("ann")
    assert body["created_at"] < body["updated_at"]
    assert body["policy"] is None
    assert body["count_kind"] == "estimate"


def test_delete_erases_for_good(server, token, memories):
    answer = server.ask("DELETE", f"{PLACE}/ann", token=token)
    assert answer.status == 200
    assert (answer.body["id"], answer.body["deleted"]) == ("ann", True)
    assert "branches" in answer.body["note"]
    assert memories.list() == ["bo"]
    assert server.ask("DELETE", f"{PLACE}/ann", token=token).status == 404
    assert server.ask("GET", f"{PLACE}/ann/info", token=token).status == 404


@pytest.mark.parametrize("given", ["", "wrong"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", ""), ("GET", "/ann/info"), ("DELETE", "/ann")]
)
def test_nothing_without_the_token(server, memories, method, path, given):
    answer = server.ask(method, PLACE + path, token=given)
    assert answer.status == 403
    assert set(answer.body) <= {"message", "reason"}
    assert memories.list() == ["ann", "bo"]


def test_a_cookie_alone_deletes_nothing(server, memories):
    """Another site could make a browser send the cookie; it cannot read the XSRF token."""
    answers = server.ask("GET", "/login"), server.ask("GET", server.path)
    given = [cookie for answer in answers for cookie in answer.headers.get_all("Set-Cookie")]
    cookies = [cookie.partition(";")[0] for cookie in given]
    named = dict(cookie.split("=", 1) for cookie in cookies)
    headers = {"Cookie": "; ".join(cookies)}
    assert server.ask("DELETE", f"{PLACE}/ann", headers=headers).status == 403
    assert memories.list() == ["ann", "bo"]
    headers["X-XSRFToken"] = named["_xsrf"]
    assert server.ask("DELETE", f"{PLACE}/ann", headers=headers).status == 200
    assert memories.list() == ["bo"]


@pytest.mark.parametrize("id", HOSTILE)
def test_any_id_is_data(server, token, memories, id):
    memories[id].add_user("hi")
    path = f"{PLACE}/{quote(id, safe='')}"
    answer = server.ask("GET", f"{path}/info", token=token)
    assert (answer.status, answer.body["id"], answer.body["messages"]) == (200, id, 1)
    assert server.ask("DELETE", path, token=token).body["id"] == id
    assert memories.list() == ["ann", "bo"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nobody%20100%25/info", 404, "there is no session 'nobody 100%'"),
        ("/%20/info", 400, "an id is required"),
        ("/%FF/info", 400, "Invalid unicode"),
    ],
)
def test_what_is_wrong_is_said_as_json(server, token, path, status, words):
    answer = server.ask("GET", PLACE + path, token=token)
    assert answer.status == status
    assert words in answer.body["message"]


@pytest.mark.parametrize("path", ["/api/kernels", "/api/contents", "/api/terminals", "/lab"])
def test_nothing_else_is_served(server, token, path):
    assert server.ask("GET", path, token=token).status == 404


def test_a_store_that_goes_away(tmp_path):
    path = tmp_path / "chat.db"
    url = f"sqlite:///{path}"
    cml.ChatMemories(store=url).close()
    with served(CODE, "sessions", "serve", "--store", url, "--port", "0", folder=tmp_path) as own:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE chatmem_sessions")
        answer = own.ask("GET", own.path)
        assert answer.status == 503
        assert "the tables are gone" in answer.body["message"]


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_it_says_one_line_and_stops_when_asked(url, tmp_path, by):
    with served(CODE, "sessions", "serve", "--store", url, "--port", "0", folder=tmp_path) as own:
        files = list((tmp_path / "jupyter_runtime_dir").glob("jpserver-*.json"))
        assert own.ask("GET", own.path).status == 200
        assert own.stop(by) == 0
        assert own.process.stdout.read() == ""
        assert own.said == ""
        # Its token is in a file that is its owner's alone, and gone when it has ended.
        assert not any(file.exists() for file in files)


def test_a_token_of_ones_own(url, tmp_path, monkeypatch):
    with served(
        f"import os; os.environ['JUPYTER_TOKEN'] = 'mine'; {CODE}",
        *("sessions", "serve", "--store", url, "--port", "0"),
        folder=tmp_path,
    ) as own:
        assert own.path == f"{PLACE}?token=mine"
        assert own.ask("GET", PLACE, token="mine").status == 200
        (file,) = (tmp_path / "jupyter_runtime_dir").glob("jpserver-*.json")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text())["hostname"] == "127.0.0.1"


def test_a_port_that_is_taken(url):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = CliRunner().invoke(
            app, ["sessions", "serve", "--store", url, "--port", str(port)]
        )
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"port {port} of 127.0.0.1 cannot be had" in result.stderr
    assert "--port" in result.stderr
