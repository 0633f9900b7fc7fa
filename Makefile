# Two commands do everything on a fresh machine: make run, make test; make test-rest runs the tests that take long.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# A library compiles to bytecode what is imported of it; pip would compile everything, which is 50 of the 77 s of installing the tests'.
INSTALL = -m pip install --quiet --no-compile
# Tests start hundreds of processes, which read the bytecode that the first one wrote.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-rest quick coverage test-lowest test-python test-petsc test-one-rank test-ranks test-embed test-clients test-notebook lint lint-page docs wheel release compiled clean

run: $(VENV)/installed
	$(BIN)/askgraph demo

# Processes that run tests which keep a core busy.
WORKERS ?= 2

# What make test leaves to make test-rest.
REST = long or mpi

# Four at a time: on two cores, tests that wait for a clock, a browser or a server leave room for others.
test: compiled
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not ($(REST))" $(PYTEST)

test-rest: compiled
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "$(REST)" $(PYTEST)
	$(if $(PETSC_HERE),$(MAKE) test-petsc,@echo "left out: make test-petsc, the engine over MPI; it needs $(PETSC_NEEDS)")

# Compiled loops in numba's cache: without them each process of a first `make test` compiles its own, 80 s of work.
compiled: $(VENV)/tested
	$(BIN)/python -m tests.helpers.compiled

# What needs no server, browser, dataset or special hardware and takes little time: under a minute on two idle cores.
QUICK = "not (long or slow or server or browser or mpi or gpu or data)"

quick: $(VENV)/tested
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m $(QUICK) $(PYTEST)

# Lines per package that run in tests without server, browser, dataset or special hardware. Compiled code (numba, CUDA) and
# processes that tests start are not counted.
coverage: $(VENV)/tested
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not (server or browser or mpi or gpu or data)" --cov --cov-report= $(PYTEST)
	$(BIN)/python .ci/coverage_by_package.py

# The core of the suite on another Python, in an environment of its own: make test-python PYTHON=python3.13
PYTHON_VENV = .venv-$(notdir $(PYTHON))

test-python: $(PYTHON_VENV)/tested
	$(PYTHON_VENV)/bin/python -m pytest $(CORE:%=tests/%) $(PYTEST)

$(PYTHON_VENV)/tested: pyproject.toml
	$(PYTHON) -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/python -m pip install --quiet -e ".[networkx,plot,tables]" httpx hypothesis pandas polars pytest pytest-xdist schemathesis
	touch $@

# The lowest versions that pyproject.toml allows, in an environment of their own, on what works with these libraries; old
# libraries warn of newer ones, so here a warning is not an error.
LOWEST_VENV ?= .venv-lowest
CORE = cli end_to_end/test_cli.py end_to_end/test_web.py graph/test_graph.py io/test_readers.py laws/test_laws.py kinds/test_diagnostics.py \
  learner/test_learner.py test_estimator.py workbench/test_project.py

test-lowest: $(LOWEST_VENV)/tested
	$(LOWEST_VENV)/bin/python -m pytest -W default $(CORE:%=tests/%)

$(LOWEST_VENV)/tested: pyproject.toml
	$(PYTHON) -m venv $(LOWEST_VENV)
	$(PYTHON) -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; extras = p['optional-dependencies']; \
	  print('\n'.join(x.replace('>=', '==') for x in p['dependencies'] + extras['networkx'] + extras['plot'] + extras['tables']))" > $(LOWEST_VENV)/lowest.txt
	$(LOWEST_VENV)/bin/python -m pip install --quiet -e ".[networkx,plot,tables]" -c $(LOWEST_VENV)/lowest.txt httpx hypothesis "pandas<3" polars pytest schemathesis
	touch $@

# The engine over MPI, with Debian's petsc4py (built for its own Python and numpy 1) in an environment of its own; where
# petsc4py is installed otherwise, name that Python: make test-petsc PETSC_PYTHON=...
PETSC_VENV ?= .venv-petsc
PETSC_PYTHON ?= $(PETSC_VENV)/bin/python
DEBIAN_PETSC = $(lastword $(sort $(wildcard /usr/lib/petscdir/petsc3*/*-real/lib/python3/dist-packages/petsc4py)))
DEBIAN_MPI = /usr/lib/python3/dist-packages/mpi4py
PETSC = house/test_benchmarks.py house/test_docs.py laws plan priors/test_petsc.py readouts

PETSC_TESTED = $(if $(filter $(PETSC_VENV)/%,$(PETSC_PYTHON)),$(PETSC_VENV)/tested)
PETSC_HERE = $(if $(PETSC_TESTED),$(and $(DEBIAN_PETSC),$(wildcard $(DEBIAN_MPI))),$(PETSC_PYTHON))
PETSC_NEEDS = apt install python3-petsc4py python3-mpi4py python3-venv, or PETSC_PYTHON=...

test-petsc: test-one-rank test-ranks

test-one-rank: $(PETSC_TESTED)
	ASKGRAPH_PETSC=required $(PETSC_PYTHON) -m pytest -n $(WORKERS) --dist worksteal -k petsc $(PETSC:%=tests/%) $(PYTEST)

# Jobs of several ranks run one at a time: a rank that waits for another keeps a core busy.
test-ranks: $(PETSC_TESTED)
	ASKGRAPH_PETSC=required $(PETSC_PYTHON) -m pytest tests/end_to_end/test_petsc.py $(PYTEST)

$(PETSC_VENV)/tested: pyproject.toml
	$(if $(PETSC_HERE),,@echo "needed: $(PETSC_NEEDS)"; exit 1)
	/usr/bin/python3 -m venv $(PETSC_VENV)
	ln -sfn $(DEBIAN_PETSC) $(DEBIAN_MPI) $(PETSC_VENV)/lib/python3*/site-packages/
	$(PETSC_VENV)/bin/python $(INSTALL) -e ".[plot]" "numpy<2" "pyarrow<21" hypothesis pytest pytest-xdist
	touch $@

# Models of sentence-transformers and transformers, tiny ones that the tests make: in an environment of its own, for torch is large.
EMBED_VENV ?= .venv-embed

test-embed: $(EMBED_VENV)/tested
	ASKGRAPH_EMBED=required $(EMBED_VENV)/bin/python -m pytest tests/workbench/test_embedding.py $(PYTEST)

$(EMBED_VENV)/tested: pyproject.toml
	$(PYTHON) -m venv $(EMBED_VENV)
	$(EMBED_VENV)/bin/python -m pip install --quiet -e ".[embed]" pytest
	touch $@

# Beside the libraries of docs/clients.md, in an environment of its own, for they are large. The template of tests of scikit-activeml
# is in its wheels up to 0.6.0.
CLIENTS_VENV ?= .venv-clients

test-clients: $(CLIENTS_VENV)/tested
	ASKGRAPH_CLIENTS=required $(CLIENTS_VENV)/bin/python -m pytest tests/clients $(PYTEST)
	$(CLIENTS_VENV)/bin/python -m pytest -W default tests/house/test_docs.py -k clients.md
	ASKGRAPH_CLIENTS=required $(CLIENTS_VENV)/bin/python -m pytest tests/house/test_benchmarks.py -k activeml

# The labeling card in JupyterLab, in a real browser: needs chromium.
test-notebook: $(CLIENTS_VENV)/tested
	ASKGRAPH_NOTEBOOK=required $(CLIENTS_VENV)/bin/python -m pytest tests/end_to_end/test_notebook.py $(PYTEST)

$(CLIENTS_VENV)/tested: pyproject.toml
	$(PYTHON) -m venv $(CLIENTS_VENV)
	$(CLIENTS_VENV)/bin/python -m pip install --quiet -e ".[test-clients]"
	$(CLIENTS_VENV)/bin/python -m pip download --quiet --no-deps --only-binary :all: -d $(CLIENTS_VENV)/template scikit-activeml==0.6.0
	cd $(CLIENTS_VENV)/template && ../bin/python -m zipfile -e scikit_activeml-*.whl . && cp -r skactiveml/tests ../lib/python3*/site-packages/skactiveml/
	touch $@

lint: $(VENV)/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The scripts of the page and of the card of notebooks: eslint, and the types in their JSDoc comments. Needs npm with Node.js 20.19 or newer.
PAGE_TOOLS = tools/page/node_modules/.package-lock.json

lint-page: $(PAGE_TOOLS)
	npm --prefix tools/page run --silent lint
	npm --prefix tools/page run --silent types

$(PAGE_TOOLS): tools/page/package-lock.json
	cd tools/page && npm ci --silent
	touch $@

# The site, in docs/_build/html: a warning is an error, links and anchors within it are checked, and nothing is fetched.
DOCS_VENV ?= .venv-docs

docs: $(DOCS_VENV)/installed
	rm -rf docs/api docs/gallery
	$(DOCS_VENV)/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html

$(DOCS_VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet -e ".[docs,networkx,tables]"
	touch $@

# The wheel, built and installed where nothing else is, runs the demo.
wheel: $(VENV)/tested
	rm -rf build dist
	$(BIN)/python -m build --wheel
	$(PYTHON) -m venv build/clean
	build/clean/bin/python $(INSTALL) dist/*.whl
	cd build && clean/bin/askgraph demo -o demo.png

# What goes to a registry: both archives, checked by twine, the quick tests of the source archive run from where it is unpacked,
# the types of the public names, the conda recipe read by rattler-build, and the workflow by its schema. It ends with an error
# while release.toml is not filled in.
RELEASE_VENV ?= .venv-release

release: $(RELEASE_VENV)/installed
	rm -rf build/release
	$(RELEASE_VENV)/bin/python -m build -o build/release .
	$(RELEASE_VENV)/bin/python -m twine check --strict build/release/*
	$(RELEASE_VENV)/bin/python conda/check_recipe.py
	mkdir build/release/unpacked && tar -xzf build/release/*.tar.gz -C build/release/unpacked --strip-components 1
	cd build/release/unpacked && PYTHONPATH=src $(CURDIR)/$(RELEASE_VENV)/bin/python -m pytest -m $(QUICK) -p no:cacheprovider
	. $(RELEASE_VENV)/bin/activate && pyright --verifytypes askgraph --ignoreexternal --outputjson | python .ci/known_types.py
	$(RELEASE_VENV)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml
	$(RELEASE_VENV)/bin/python .ci/filled.py

$(RELEASE_VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(RELEASE_VENV)
	$(RELEASE_VENV)/bin/python -m pip install --quiet -e ".[test]" check-jsonschema py-rattler-build pyright twine
	touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'askgraph needs Python 3.11 or newer; name one: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python $(INSTALL) -e ".[plot]"
	touch $@

$(VENV)/tested: $(VENV)/bin/python pyproject.toml
	$(BIN)/python $(INSTALL) -e ".[test]"
	touch $@ $(VENV)/installed

clean:
	rm -rf tools/page/node_modules $(VENV) $(LOWEST_VENV) $(PETSC_VENV) $(EMBED_VENV) $(CLIENTS_VENV) $(DOCS_VENV) $(RELEASE_VENV) .venv-python* docs/_build docs/api docs/gallery build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
