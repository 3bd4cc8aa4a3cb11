import pytest

from chatmem_lab.needs import find_items


def paths(text):
    return [item.text for item in find_items(text) if item.kind == "path"]


@pytest.mark.parametrize(
    "path",
    [
        "/usr/local/bin", "/etc/hosts.conf", "~/notes", "./run.sh", "../x", "src/app.py", "app.py",
        "README.md", "a/b-c/d_e.test.ts", "node_modules/@scope/pkg/index.js", "/tmp/报告/表.csv",
        "C:\\Users\\me\\My Docs\\a.txt", "C:/data/a.csv", "D:\\x",
        "src\\app.py", "/var/log/", "archive.tar.gz",
    ],
)  # fmt: skip
def test_what_is_one(path):
    assert paths(f"see {path}, please") == [path]
    assert paths(f'"{path}"') == [path]


def test_shares_of_windows():
    assert paths("see \\\\server\\share\\a, please") == ["\\\\server\\share\\a"]


@pytest.mark.parametrize(
    "text",
    ["and/or", "km/h", "/help", "</div>", "a / b", "//", "12/5/7", "e.g.", "i.e.", "Node.js"[:4],
     "example.org", "3.5", "C:", "end.Start", "1/2", "n/a"],
)  # fmt: skip
def test_what_is_none(text):
    assert paths(f"see {text}, please") == []


def test_values_have_one_form():
    items = find_items("./src/app.py src\\app.py src/app.py. /var/log/ (/var/log)")
    assert [item.value for item in items] == ["src/app.py"] * 3 + ["/var/log"] * 2


def test_a_path_ends_where_chinese_goes_on():
    assert paths("看/data/表.csv谢谢") == ["/data/表.csv"]
    assert paths("打开src/app.py看看") == ["src/app.py"]


def test_line_numbers_are_numbers():
    items = find_items("app.py:42")
    assert [(item.kind, item.text) for item in items] == [("path", "app.py"), ("number", "42")]


def test_json_doubles_backslashes():
    [item] = find_items('{"path": "C:\\\\new\\\\table.csv"}')
    assert (item.kind, item.value) == ("path", "C:/new/table.csv")
