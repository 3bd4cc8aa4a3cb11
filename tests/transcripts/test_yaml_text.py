import pytest

from chatmem_lab.transcripts.json_text import BrokenJson
from chatmem_lab.transcripts.yaml_text import decode_yaml, looks_like_yaml


def test_what_json_could_hold():
    text = b"history:\n- role: user\n  at: 2026-01-02\n  n: [1, 2.5, yes, null, 0x10]\n  1: x\n"
    assert decode_yaml(text) == {
        "history": [{"role": "user", "at": "2026-01-02", "n": [1, 2.5, True, None, 16], "1": "x"}]
    }


def test_aliases_are_copies():
    value = decode_yaml(b"a: &x {n: 1}\nb: *x\n")
    assert value == {"a": {"n": 1}, "b": {"n": 1}}


def test_aliases_of_aliases_do_not_fill_the_memory():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(BrokenJson, match="stands for more than 1,000,000 values"):
        decode_yaml("\n".join(lines).encode())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"a: &a [*a]", "nested too deeply|stands for more"),
        (b"a: .nan", "holds nan"),
        (b"a: [-.inf]", "holds -inf"),
        (b"a: !!binary AAAA", "holds a bytes"),
        (b"a: !!set {x}", "holds a set"),
        (
            b"a: !!python/object/apply:os.getcwd []",
            "is no YAML: could not determine a constructor",
        ),
        (b"a: [", "is no YAML"),
        (b"a: 2026-13-45", "is no YAML"),
        (b"a: \xff", "is no YAML"),
        (b"a: " + b"[" * 3000, "nested too deeply|is no YAML"),
    ],
)
def test_anything_else_is_named(text, what):
    with pytest.raises(BrokenJson, match=what):
        decode_yaml(text)


def test_the_line():
    with pytest.raises(BrokenJson) as caught:
        decode_yaml(b"history:\n- a: 1\n- b: [1\n- c: 2\n")
    assert caught.value.line == 4


def test_what_looks_like_it():
    assert looks_like_yaml(b"# a demonstration\nhistory:\r\n- role: user")
    assert not looks_like_yaml(b"my history: long\nhistory: none\n  history:\n")
