"""Make an environment for each framework, and run its parity tests there.

    python tests/parity/environments.py              all of them
    python tests/parity/environments.py strands      one

The environments lie in `.parity/`; they are made anew where their packages have changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from frameworks import FRAMEWORKS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENVIRONMENTS = ROOT / ".parity"
#: What the package itself needs there: the floors below pandas' tables, and reading files.
NEEDED = ("lazy-loader", "msgspec", "numpy", "pandas", "PyYAML", "tiktoken", "toktok-rs", "tqdm")
TESTING = ("hypothesis>=6.100", "pytest>=8.3")


def main(chosen: list[str]) -> int:
    """Make what is missing, run the tests; the number of frameworks that failed."""
    if unknown := set(chosen) - set(FRAMEWORKS):
        print(f"no framework {', '.join(unknown)}: there are {', '.join(FRAMEWORKS)}")
        return 1
    hosts = {name: framework.get("beside", name) for name, framework in FRAMEWORKS.items()}
    names = chosen or list(FRAMEWORKS)
    packages: dict[str, list[str]] = {}
    for name, host in hosts.items():
        packages.setdefault(host, []).extend(FRAMEWORKS[name]["packages"])
    wanted = sorted({hosts[name] for name in names})
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(pool.map(lambda host: make(host, packages[host]), wanted))
    failed = [name for name in names if not run(name, ENVIRONMENTS / hosts[name])]
    print(f"parity: {len(names) - len(failed)} passed, {len(failed)} failed", *failed)
    return len(failed)


def make(name: str, packages: list[str]) -> None:
    """The environment `name`, unless it is there with just these packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [line for line in project["dependencies"] if re.split(r"[<>=\[ ]", line)[0] in NEEDED]
    everything = [*packages, *needed, *TESTING]
    stamp = hashlib.sha256("\n".join(everything).encode()).hexdigest()
    folder = ENVIRONMENTS / name
    if (folder / "made").is_file() and (folder / "made").read_text() == stamp:
        return
    print(f"making the environment {name} ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    quiet = ["--quiet"]
    if uv := shutil.which("uv"):
        subprocess.run([uv, "venv", *quiet, "--python", sys.executable, folder], check=True)
        install = [uv, "pip", "install", *quiet, "--python", python(folder)]
    else:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [python(folder), "-m", "pip", "install", *quiet, "--disable-pip-version-check"]
    subprocess.run([*install, *everything], check=True)
    subprocess.run([*install, "--no-deps", "--editable", ROOT], check=True)
    (folder / "made").write_text(stamp)


def run(name: str, folder: Path) -> bool:
    """Whether the parity tests of `name` pass; an environment without them fails."""
    print(f"parity with {name}", flush=True)
    tests = [HERE / f"test_{name}.py", HERE / "test_recorded.py"]
    command = [python(folder), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def python(folder: Path) -> Path:
    """The interpreter of an environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
