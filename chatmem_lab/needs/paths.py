r"""Paths of files and folders, POSIX and Windows.

``src/app.py``, ``/usr/lib``, ``~/notes``, ``C:\data\a.csv`` and ``app.py`` are paths;
``and/or`` is none: a relative path needs an extension, a bare name a known one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from chatmem_lab.needs.detector import WORD, Detector, Found

__all__ = ["PATH"]

_KNOWN = (
    "py pyi ipynb js mjs cjs ts tsx jsx json jsonl ndjson yaml yml toml ini cfg conf md mdx rst "
    "txt csv tsv xml html htm css scss less sql sh bash zsh bat ps1 rb rs go java kt scala c h "
    "cc cpp hpp cs swift php pl r lua m d s v f90 jl ex erl hs ml vue pdf doc docx xls xlsx ppt "
    "pptx odt ods rtf epub tex bib png jpg jpeg gif svg webp bmp ico tif tiff mp3 mp4 m4a wav "
    "flac ogg mov avi mkv webm zip tar gz tgz bz2 xz zst 7z rar whl jar lock log db sqlite "
    "sqlite3 parquet arrow avro pkl npy npz h5 onnx pem crt key env exe dll so dylib dmg deb rpm "
    "apk iso img bin dat diff patch proto graphql tf gradle bak tmp"
)
_EXTENSIONS = frozenset(_KNOWN.split())
_PART = r"\w.@+%~$-"
_ABSOLUTE = re.compile(rf"(?<![{WORD}.@+%~$/\\<-])(?:~|\.{{1,2}})?(?>(?:/[{_PART}]++)+)/?")
_NAME = r"[A-Za-z0-9_@+%~$-]"
_RELATIVE = re.compile(rf"(?<![{WORD}.@+%~$/\\-]){_NAME}++(?>(?:[./\\]++{_NAME}++)+)")
_WINDOWS = re.compile(
    rf"""
    (?<![{WORD}])
    (?: [A-Za-z]:\\{{1,2}} (?: [^\\/:*?"<>|\r\n\t]{{1,64}} \\{{1,2}} )*
        [^\s\\/:*?"<>|,;'`()]{{0,128}}
      | [A-Za-z]:/ [^\s\\:*?"<>|,;'`()]{{1,512}}
      | (?<!\\) \\\\ [A-Za-z0-9._$-]{{1,64}} (?: \\[^\\/:*?"<>|\s,;'`()]{{1,128}} ){{1,64}} )
    """,
    re.VERBOSE,
)
_EXTENSION = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,7})$")
# In 看/data/表.csv谢谢 the path ends with the extension.
_RUN_ON = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}(?=[^\x00-\x7fÀ-ɏ])")


def _find(text: str) -> Iterable[Found]:
    found = [*_find_absolute(text), *_find_relative(text), *_find_windows(text)]
    found.sort()
    return found


def _find_absolute(text: str) -> Iterator[Found]:
    for match in _ABSOLUTE.finditer(text):
        path = match[0]
        run_on = _RUN_ON.search(path)
        if run_on:
            path = path[: run_on.end()]
        path = path.rstrip(".")
        parts = [part for part in path.split("/") if part]
        has_start = path[0] != "/"
        if (len(parts) >= 2 or _EXTENSION.search(path)) and (
            has_start or any(map(str.isalpha, path))
        ):
            yield Found(match.start(), match.start() + len(path), _value(path))


def _find_relative(text: str) -> Iterator[Found]:
    for match in _RELATIVE.finditer(text):
        path = match[0]
        extension = _EXTENSION.search(path)
        if extension is None:
            continue
        is_nested = "/" in path or "\\" in path
        if extension[1].lower() in _EXTENSIONS or (is_nested and len(extension[1]) > 1):
            yield Found(match.start(), match.end(), _value(path))


def _find_windows(text: str) -> Iterator[Found]:
    for match in _WINDOWS.finditer(text):
        path = match[0].rstrip(".!]")
        if len(path) > 3:
            yield Found(match.start(), match.start() + len(path), _value(path))


def _value(path: str) -> str:
    value = re.sub(r"[\\/]+", "/", path).rstrip("/")
    return value.removeprefix("./") or path


PATH = Detector("path", _find)
