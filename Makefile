# The two commands of the README: `make evaluate` and `make test`. Both create and reuse .venv.
PYTHON ?= python3
# The build of torch to use; override for a GPU build.
TORCH ?= torch==2.13.0
# Processes that run tests side by side; beside them run the tests that must be alone.
WORKERS ?= 2
BIN := .venv/bin
# Not where the user keeps a corpus: the examples are always evaluated against their own.
EXAMPLE := ASSAYER_CORPUS__PATH=build/example-corpus
# What is imported is a seventh of what is installed: its bytecode is written when it is first imported.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
# Also where the shell forbids it: otherwise every process compiles torch and its like anew, which takes ten seconds.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest
# One of thousands that fails is run once more, and listed as such: a machine that others use too is late now and then.
ONCE_MORE := --reruns 1 -rR --durations=20 --durations-min=5
# A file's tests stay together, as they share what they look at.
SIDE_BY_SIDE := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Those on Ray, one after another; and those that schemathesis makes, which share one name, of which pytest-xdist runs one.
ALONE := tests/cluster tests/chaos tests/contract/api/test_schema_fuzzing.py

.PHONY: evaluate test check test-alone test-side-by-side test-unit test-contract test-e2e test-cluster lint format browser

evaluate: .venv/.installed  ## build the example corpus, evaluate the example ideas, show the reports
	$(EXAMPLE) $(BIN)/assayer corpus build examples/corpus.jsonl
	@# Only where there is none, so that `assayer evaluate` works at once and nobody's own corpus is ever replaced.
	@if $(BIN)/assayer corpus info 2>&1 | grep -q "There is no corpus in"; then \
		$(BIN)/assayer corpus build examples/corpus.jsonl; \
	fi
	$(EXAMPLE) $(BIN)/assayer evaluate examples/ideas --out out

test:  ## everything: style, types, imports and all tests
	$(MAKE) --jobs=2 .venv/.installed-dev browser
	$(MAKE) --jobs=2 --output-sync=target test-side-by-side lint test-alone

check: lint test-unit  ## what every commit must pass

# The longest first, so that no worker is left alone with one of them.
test-side-by-side: .venv/.installed-dev browser
	$(PYTEST) $(ONCE_MORE) $(SIDE_BY_SIDE) tests/e2e tests/contract tests/unit $(ALONE:%=--ignore=%)

test-alone: .venv/.installed-dev
	$(PYTEST) $(ONCE_MORE) $(ALONE)

test-unit: .venv/.installed-dev
	$(PYTEST) $(SIDE_BY_SIDE) tests/unit

test-contract: .venv/.installed-dev browser
	$(PYTEST) $(SIDE_BY_SIDE) tests/contract --ignore=tests/contract/api/test_schema_fuzzing.py

test-e2e: .venv/.installed-dev
	$(PYTEST) $(SIDE_BY_SIDE) tests/e2e

test-cluster: .venv/.installed-dev
	$(PYTEST) tests/cluster tests/chaos

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

browser:  ## the Chromium in which pages are tested: installed where there is none
	$(PYTHON) tests/chromium.py

.venv/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) "$(TORCH)"
	$(PIP) --editable ./client --editable ".[local]"
	touch $@

.venv/.installed-dev: pyproject.toml .venv/.installed
	$(PIP) --editable ./client --editable ".[dev]"
	@# Once, on two processors, before as many workers as there are would each compile the same.
	$(BIN)/python -c "import sentence_transformers, torch_geometric" & \
		$(BIN)/python -W ignore -c "import ray.data, ray.serve, schemathesis, playwright.async_api" && wait $$!
	touch $@
