"""Each framework's tests are collected where that framework is: in its own environment.

`make test-parity` makes the environments; there a framework that is missing is a failure.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from frameworks import FRAMEWORKS, here  # it lies beside this file

collect_ignore = [f"test_{name}.py" for name in FRAMEWORKS if name not in here()]
if not here():
    collect_ignore.append("test_recorded.py")
