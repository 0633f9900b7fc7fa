# Two commands do everything on a fresh machine: make run, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run test lint wheel clean

run: $(VENV)/installed
	$(BIN)/askgraph demo

test: $(VENV)/tested
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The wheel, built and installed where nothing else is, runs the demo.
wheel: $(VENV)/tested
	rm -rf build dist
	$(BIN)/python -m build --wheel
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip install --quiet dist/*.whl
	cd build && clean/bin/askgraph demo -o demo.png

$(VENV)/bin/python:
	@$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'askgraph needs Python 3.11 or newer; name one: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/tested: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[test]"
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
