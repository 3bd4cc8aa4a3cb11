"""Each framework's tests are collected where that framework is: in its own environment.

`make test-parity` makes the environments; there a framework that is missing is a failure.
"""

import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

with (HERE / "frameworks.toml").open("rb") as file:
    FRAMEWORKS = tomllib.load(file)

collect_ignore = [
    f"test_{name}.py"
    for name, framework in FRAMEWORKS.items()
    if find_spec(framework["imports"]) is None
]
