"""docs/policies.md is what its script writes now."""

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_the_page_is_current():
    script = runpy.run_path(str(DOCS / "generate_policies.py"))
    assert (DOCS / "policies.md").read_text() == script["page"](), "run `make docs`"
