"""Names that an API takes: of functions that are called, of those who speak."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from chatmem_lab.errors import ProjectionError
from chatmem_lab.messages import ToolCall, assistant, system, tool_output, user
from chatmem_lab.projections import to_anthropic, to_chat, to_responses

ALL = [to_chat, to_responses, to_anthropic]
LONG = "n" * 64


def calling(name):
    return [user("q"), assistant(tool_calls=[ToolCall("c1", name)]), tool_output("c1", "r")]


def kinds(sent):
    return [(r.index, r.call_id, r.what) for r in sent.repairs]


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("shop.find", "shop_find"),
        ("where is it?", "where_is_it_"),
        ("où", "o_"),
        ("now\n", "now_"),
        (LONG + "n", LONG),
        ("", "unnamed"),
    ],
)
def test_functions_that_no_api_knows_by_such_a_name(project, name, spelt):
    with pytest.raises(ProjectionError) as refused:
        project(calling(name))
    assert f'message 1 makes call "c1" of a function named "{name[:40]}' in str(refused.value)
    mended = project(calling(name), repair=True)
    assert mended == project(calling(spelt))
    assert kinds(mended) == [(1, "c1", "bad_function_name")]
    with pytest.raises(ProjectionError, match="message 0 makes call"):
        project(calling(name)[1])


@pytest.mark.parametrize("project", ALL)
@pytest.mark.parametrize("name", ["f", "find_Order-2", LONG])
def test_functions_with_a_good_name(project, name):
    sent = project(calling(name))
    assert f"'name': '{name}'" in str(sent)
    assert sent.repairs == ()


@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("Ada Lovelace", "Ada_Lovelace"),
        ("a<b|c\\d/e>f\tg", "a_b_c_d_e_f_g"),
        (LONG + "n", LONG),
        (" ", "_"),
    ],
)
@pytest.mark.parametrize("message", [system("s"), user("q"), assistant("a")])
def test_speakers_that_chat_refuses(message, name, spelt):
    messages = [system("first"), replace(message, name=name)]
    with pytest.raises(ProjectionError, match='message 1 is spoken by "'):
        to_chat(messages)
    mended = to_chat(messages, repair=True)
    assert [m.get("name") for m in mended] == [None, spelt]
    assert kinds(mended) == [(1, None, "bad_speaker_name")]


@pytest.mark.parametrize("name", ["ada", "Ada.Lovelace@example.org", "愛", LONG])
def test_speakers_that_chat_takes(name):
    assert to_chat([user("q", name=name)]) == [{"role": "user", "name": name, "content": "q"}]


def test_names_that_are_not_sent_are_not_looked_at():
    named = [*calling("f")[:2], tool_output("c1", "r", name="not a name")]
    assert to_chat(named).repairs == ()
    for project in (to_responses, to_anthropic):
        assert project([user("q", name="not a name")]).repairs == ()
