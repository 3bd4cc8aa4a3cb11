"""The house holds: what an import loads, what names collide, what the floors forbid."""

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "chatmem_lab"
HEAVY = ("pandas", "matplotlib", "ipywidgets", "IPython")

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FLOORS_CONTRACT = next(
    contract
    for contract in PYPROJECT["tool"]["importlinter"]["contracts"]
    if contract["id"] == "floors"
)


def layer_names(layer):
    return [name.strip().strip("()") for name in layer.split("|")]


# Lowest first. DESIGN's floor 15 is three layers here, all others are one layer each.
LAYERS = [layer_names(layer) for layer in reversed(FLOORS_CONTRACT["layers"])]
ENGINE_LAYER = next(i for i, names in enumerate(LAYERS) if "engine" in names)
LIGHT = [name for names in LAYERS[:ENGINE_LAYER] for name in names]


def fresh_python(code, *arguments):
    """Run `code` in a new interpreter of this environment and return what it prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def modules_of(name):
    """`name` below the package and every module under it that exists."""
    if (PACKAGE / f"{name}.py").is_file():
        return [f"chatmem_lab.{name}"]
    folder = PACKAGE / name
    return [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(folder.rglob("*.py"))
    ]


LOADED = """
import importlib, json, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
print(json.dumps([name for name in sys.argv[1].split(",") if name in sys.modules]))
"""


def test_the_probe_sees_a_heavy_package_that_is_loaded():
    assert fresh_python(LOADED, ",".join(HEAVY), "matplotlib") == ["matplotlib"]


def test_importing_the_package_loads_nothing_heavy():
    assert fresh_python(LOADED, ",".join(HEAVY), "chatmem_lab") == []


def test_ten_layers_lie_below_the_engine():
    # Otherwise the test of the light floors would look at too few of them.
    assert ENGINE_LAYER == 10
    assert {"errors", "html", "messages", "keeper", "memory", "adapters"} <= set(LIGHT)


@pytest.mark.parametrize("name", LIGHT)
def test_no_module_of_the_lower_floors_loads_anything_heavy(name):
    modules = modules_of(name)
    if not modules:
        assert f"({name})" in " ".join(FLOORS_CONTRACT["layers"]), f"{name} is gone"
        return
    assert fresh_python(LOADED, ",".join(HEAVY), *modules) == []


def packages():
    found = ["chatmem_lab"]
    for path in sorted(PACKAGE.rglob("__init__.py")):
        relative = path.parent.relative_to(ROOT)
        if len(relative.parts) > 1:
            found.append(".".join(relative.parts))
    return found


def public_names(package):
    names = set(getattr(package, "__all__", ()))
    return names | {name for name in dir(package) if not name.startswith("_")}


@pytest.mark.parametrize("name", packages())
def test_no_public_name_hides_a_sibling_module(name):
    package = importlib.import_module(name)
    hidden = []
    for child in pkgutil.iter_modules(package.__path__):
        if child.name in public_names(package):
            module = importlib.import_module(f"{name}.{child.name}")
            if getattr(package, child.name) is not module:
                hidden.append(child.name)
    assert hidden == []


def test_mypy_is_strict_up_to_the_engine():
    mypy = PYPROJECT["tool"]["mypy"]
    assert mypy["strict"] is True
    relaxed = {
        module.split(".")[1]
        for override in mypy["overrides"]
        if not override.get("disallow_untyped_defs", True)
        for module in override["module"]
    }
    above = {name for names in LAYERS[ENGINE_LAYER + 1 :] for name in names}
    assert relaxed == above | {"testing"}


# The contract itself, on a house of empty modules: does it forbid what it must?


@pytest.fixture
def house(tmp_path):
    """An empty module for every name in the contract, under the project's own contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = tmp_path / "chatmem_lab"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in [*(name for names in LAYERS for name in names), "testing"]:
        (package / f"{name}.py").touch()
    return package


def broken_contracts(house):
    """Names of the contracts that import-linter finds broken."""
    code = "import sys; from importlinter import cli; sys.exit(cli.lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=house.parent,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert done.returncode in (0, 1), done.stdout + done.stderr
    broken = {line.removesuffix(" BROKEN") for line in lines if line.endswith(" BROKEN")}
    assert bool(broken) == bool(done.returncode), done.stdout + done.stderr
    return broken


FLOORS = FLOORS_CONTRACT["name"]


def test_the_contract_is_exhaustive():
    assert FLOORS_CONTRACT["exhaustive"] is True
    assert FLOORS_CONTRACT["exhaustive_ignores"] == ["testing"]
    named = {name for names in LAYERS for name in names} | {"testing", "_bundled"}
    there = {child.name for child in pkgutil.iter_modules([str(PACKAGE)])}
    assert there <= named


def test_downward_imports_are_allowed(house):
    (house / "study.py").write_text("from chatmem_lab import engine, errors, messages\n")
    (house / "testing.py").write_text("from chatmem_lab import policies, study\n")
    assert broken_contracts(house) == set()


def test_a_module_outside_the_floors_breaks_the_contract(house):
    (house / "utils.py").touch()
    assert broken_contracts(house) == {FLOORS}


@pytest.mark.parametrize(
    ("importer", "imported"),
    [("messages", "window"), ("keeper", "memory"), ("engine", "study"), ("errors", "cli")],
)
def test_an_upward_import_inside_a_function_breaks_the_contract(house, importer, imported):
    (house / f"{importer}.py").write_text(
        f"def late():\n    from chatmem_lab import {imported}\n    return {imported}\n"
    )
    assert broken_contracts(house) == {FLOORS}


@pytest.mark.parametrize(
    ("one", "other"),
    [("tokens", "needs"), ("window", "transcripts"), ("errors", "html"), ("widgets", "report")],
)
def test_siblings_do_not_know_each_other(house, one, other):
    (house / f"{one}.py").write_text(f"import chatmem_lab.{other}\n")
    assert broken_contracts(house) == {FLOORS}


def test_the_top_of_the_package_is_no_way_around(house):
    (house / "keeper.py").write_text("import chatmem_lab as cml\n")
    (top,) = (
        contract["name"]
        for contract in PYPROJECT["tool"]["importlinter"]["contracts"]
        if contract["id"] == "top"
    )
    assert broken_contracts(house) == {top}


def test_nothing_but_tests_imports_testing(house):
    (house / "study.py").write_text("from chatmem_lab import testing\n")
    assert broken_contracts(house) == {"Only tests import testing"}
