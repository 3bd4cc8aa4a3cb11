# Every target does its own set-up in .venv (test-parity: in .parity too): with uv if it is there, else with venv and pip.
# `make PYTHON=/path/to/python compare` chooses the interpreter.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

BIN := .venv/bin
# What was installed, and when: newer than pyproject.toml means that nothing is to do.
LAB := .venv/.installed
DEV := .venv/.installed-dev

.PHONY: help compare test test-parity lab notebooks docs defaults check format wheel clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

compare: $(LAB) ## replay datasets/ under six policies; table here, report and data in out/
	@$(BIN)/chatmem-lab compare datasets/ --out out $(ARGS)

test: $(DEV) ## run the core suite (ARGS="-k window" for a part)
	@$(BIN)/python tests/fetch_vocabulary.py
	@$(BIN)/python -m pytest -n auto $(ARGS)

test-parity: $(DEV) ## compare presets with the frameworks themselves (ARGS="strands" for one)
	@$(BIN)/python tests/fetch_vocabulary.py
	@$(BIN)/python tests/parity/environments.py $(ARGS)

lab: $(LAB) ## open JupyterLab on the notebooks
	@$(BIN)/jupyter lab --notebook-dir=notebooks $(ARGS)

notebooks: $(DEV) ## run the notebooks anew, clean them, write them
	@$(BIN)/ruff format --quiet notebooks
	@$(BIN)/python tests/notebooks.py $(ARGS)

docs: $(DEV) ## write docs/policies.md anew
	@$(BIN)/python docs/generate_policies.py

defaults: $(DEV) ## write docs/framework-defaults.md anew (makes the frameworks' environments)
	@$(BIN)/python tests/fetch_vocabulary.py
	@$(BIN)/python benchmarks/framework_defaults.py $(ARGS)

check: $(DEV) ## format, lint, types, import layers, then the core suite
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	@$(MAKE) --no-print-directory test

format: $(DEV) ## format the code and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

wheel: $(DEV) ## build dist/*.tar.gz and, from it, dist/*.whl
	$(BIN)/python -m build

clean: ## remove what was built and cached; .venv stays
	rm -rf build dist out .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -path ./.venv -prune -o -path ./.parity -prune -o -name __pycache__ -type d -print | xargs -r rm -rf

$(LAB): pyproject.toml | $(BIN)/python
	$(call install,.)
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(call install,.[dev])
	@touch $(LAB) $@

$(BIN)/python:
	@if command -v uv > /dev/null; then \
	  uv venv --quiet --allow-existing --python '$(or $(PYTHON),>=3.11)' .venv; exit; \
	fi; \
	for python in $(or $(PYTHON),python3.12 python3.11 python3 python3.13 python3.14 python); do \
	  if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
	      2> /dev/null; then \
	    "$$python" -m venv .venv; exit; \
	  fi; \
	done; \
	echo 'chatmem_lab needs Python 3.11 or newer with its venv module, or uv; neither is here' \
	  '(tried: $(or $(PYTHON),python3.12 python3.11 python3 python3.13 python3.14 python)).' \
	  'Install one (on Debian: apt-get install python3 python3-venv)' \
	  'or name an interpreter: make PYTHON=/path/to/python' >&2; \
	exit 1

# An interpreter too old, or gone, is said before an installer says it in a hundred lines.
define install
@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo '.venv holds a Python that does not run or is older than 3.11: remove .venv and run make again' >&2; \
  exit 1; \
}; \
echo 'Installing chatmem_lab into .venv (a minute or two the first time) ...'; \
if command -v uv > /dev/null; then \
  uv pip install --quiet --python $(BIN)/python --editable '$(1)'; \
else \
  $(BIN)/python -m pip --version > /dev/null 2>&1 || $(BIN)/python -m ensurepip > /dev/null; \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '$(1)'; \
fi
endef
