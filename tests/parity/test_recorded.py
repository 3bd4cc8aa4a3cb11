"""What is written down for the core suite is what the installed frameworks send now."""

import json

import pytest
from frameworks import here
from recorded import FOLDER, written_down


@pytest.mark.parametrize("framework", here())
def test_the_recorded_windows_are_those_of_the_installed_version(framework):
    recorded = json.loads((FOLDER / f"{framework}.json").read_text())
    assert written_down(framework) == recorded["sent"]
