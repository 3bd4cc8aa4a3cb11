from chatmem_lab.messages import Conversation, user
from chatmem_lab.transcripts import Conversations, LoadReport, Note, Reading


def test_a_report_in_words():
    report = LoadReport(
        [
            Reading("a", "own", 2, 1_200),
            Reading("b", "tau_bench", 1, 1),
            Reading("c", "own", 0, 0),
        ],
        [Note("d", None, "is empty")],
        [Note("e", i, "mended") for i in range(1, 8)],
    )
    assert repr(report).splitlines() == [
        "read      3 conversations, 1,201 messages from 3 files (own 2, tau_bench 1)",
        "skipped   1",
        "    d: is empty",
        "repaired  7",
        "    e, line 1: mended",
        "    e, line 2: mended",
        "    e, line 3: mended",
        "    e, line 4: mended",
        "    e, line 5: mended",
        "    … and 2 more",
    ]


def test_an_empty_report():
    assert repr(LoadReport()).splitlines() == [
        "read      0 conversations, 0 messages from 0 files",
        "skipped   nothing",
        "repaired  nothing",
    ]


def test_conversations_are_a_list_with_a_short_name():
    four = Conversations(Conversation(name, (user("x"),)) for name in "abcd")
    assert isinstance(four, list)
    assert repr(four) == "Conversations: 4 conversations, 4 messages: 'a', 'b', 'c', …"
    assert repr(Conversations()) == "Conversations: none"
    assert repr(Conversations([Conversation("x")])) == (
        "Conversations: 1 conversation, 0 messages: 'x'"
    )


def test_a_report_in_rows_and_as_plain_values():
    report = LoadReport(
        [Reading("a", "own", 2, 9)], [Note("b", None, "is empty")], [Note("c", 3, "mended")]
    )
    rows = report.rows()
    assert [(r["what"], r["source"], r["line"], r["reason"], r["messages"]) for r in rows] == [
        ("read", "a", None, None, 9),
        ("skipped", "b", None, "is empty", None),
        ("repaired", "c", 3, "mended", None),
    ]
    assert len({tuple(row) for row in rows}) == 1
    assert report.to_dict() == {
        "read": [{"source": "a", "format": "own", "conversations": 2, "messages": 9}],
        "skipped": [{"source": "b", "line": None, "reason": "is empty"}],
        "repaired": [{"source": "c", "line": 3, "reason": "mended"}],
    }
