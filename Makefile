# Two commands do everything on a fresh machine: make run, make test.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run test test-lowest test-petsc lint wheel clean

run: $(VENV)/installed
	$(BIN)/askgraph demo

test: $(VENV)/tested
	$(BIN)/python -m pytest -n 2

# The lowest versions that pyproject.toml allows, in an environment of their own, on what works with these libraries; old
# libraries warn of newer ones, so here a warning is not an error.
LOWEST_VENV ?= .venv-lowest
LOWEST = test_cli test_commands test_estimator test_graph test_judging test_laws test_learner test_project test_readers test_web

test-lowest: $(LOWEST_VENV)/tested
	$(LOWEST_VENV)/bin/python -m pytest -W default $(LOWEST:%=tests/%.py)

$(LOWEST_VENV)/tested: pyproject.toml
	$(PYTHON) -m venv $(LOWEST_VENV)
	$(PYTHON) -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; extras = p['optional-dependencies']; \
	  print('\n'.join(x.replace('>=', '==') for x in p['dependencies'] + extras['networkx'] + extras['tables']))" > $(LOWEST_VENV)/lowest.txt
	$(LOWEST_VENV)/bin/python -m pip install --quiet -e ".[networkx,tables]" -c $(LOWEST_VENV)/lowest.txt httpx hypothesis "pandas<3" polars pytest schemathesis
	touch $@

# The engine over MPI, with Debian's petsc4py (built for its own Python and numpy 1) in an environment of its own; where
# petsc4py is installed otherwise, name that Python: make test-petsc PETSC_PYTHON=...
PETSC_VENV ?= .venv-petsc
PETSC_PYTHON ?= $(PETSC_VENV)/bin/python
DEBIAN_PETSC = $(lastword $(sort $(wildcard /usr/lib/petscdir/petsc3*/*-real/lib/python3/dist-packages/petsc4py)))
DEBIAN_MPI = /usr/lib/python3/dist-packages/mpi4py

test-petsc: $(if $(filter $(PETSC_VENV)/%,$(PETSC_PYTHON)),$(PETSC_VENV)/tested)
	ASKGRAPH_PETSC=required $(PETSC_PYTHON) -m pytest -k petsc tests/test_laws.py tests/test_rows.py tests/test_promises.py tests/test_petsc.py tests/test_docs.py

$(PETSC_VENV)/tested: pyproject.toml
	@test -d "$(DEBIAN_PETSC)" -a -d $(DEBIAN_MPI) || { echo "needed: apt install python3-petsc4py python3-mpi4py python3-venv, or make test-petsc PETSC_PYTHON=..."; exit 1; }
	/usr/bin/python3 -m venv $(PETSC_VENV)
	ln -sfn $(DEBIAN_PETSC) $(DEBIAN_MPI) $(PETSC_VENV)/lib/python3*/site-packages/
	$(PETSC_VENV)/bin/python -m pip install --quiet -e . "numpy<2" "pyarrow<21" hypothesis pytest
	touch $@

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
	rm -rf $(VENV) $(LOWEST_VENV) $(PETSC_VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
