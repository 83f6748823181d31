# Two commands need nothing but Python >= 3.11 (with venv) and make:  `make demo`  and  `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: demo test lint types check bench bench-attention clean

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "drillgen needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Set PYTHON=python3.12, say."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "Python's venv module is missing: on Debian or Ubuntu, 'apt install python3-venv'."; exit 1; }

$(VENV)/.core: $(VENV)/bin/python requirements/core.lock pyproject.toml
	@echo "setting up $(VENV) (once) ..."
	@$(PIP) install --require-hashes -r requirements/core.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.core requirements/dev.lock requirements/torch.lock
	@echo "adding torch and the test tools (once) ..."
	@$(PIP) install --require-hashes -r requirements/dev.lock
	@$(PIP) install --no-deps -r requirements/torch.lock
	@touch $@

demo: $(VENV)/.core
	@$(BIN)/python examples/demo.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n auto

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

bench-attention: $(VENV)/.dev
	$(BIN)/python benchmarks/attention.py

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache
