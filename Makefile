# The two commands of the README: `make evaluate` and `make test`. Both create and reuse .venv.
PYTHON ?= python3
# The build of torch to use; override for a GPU build.
TORCH ?= torch==2.13.0
BIN := .venv/bin
# Not where the user keeps a corpus: the examples are always evaluated against their own.
EXAMPLE := ASSAYER_CORPUS__PATH=build/example-corpus
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest
# Real processes on shared machines: a failed test is run once more, and the report says which needed it and why.
ONCE_MORE := --reruns 1 --rerun-show-tracebacks

.PHONY: evaluate test check test-unit test-contract test-e2e test-clusters lint format

evaluate: .venv/.installed  ## build the example corpus, evaluate the example ideas, show the reports
	$(EXAMPLE) $(BIN)/assayer corpus build examples/corpus.jsonl
	@# Only where there is none, so that `assayer evaluate` works at once and nobody's own corpus is ever replaced.
	@if $(BIN)/assayer corpus info 2>&1 | grep -q "There is no corpus in"; then \
		$(BIN)/assayer corpus build examples/corpus.jsonl; \
	fi
	$(EXAMPLE) $(BIN)/assayer evaluate examples/ideas --out out

test: .venv/.installed-dev  ## everything: style, types, imports, unit, contract, cluster, chaos and end-to-end tests
	@# Three at a time also on two processors: most of them wait, for processes that start and for slow services.
	$(MAKE) --jobs=3 --output-sync=target lint test-clusters test-contract test-unit test-e2e

check: lint test-unit  ## what every commit must pass

test-unit: .venv/.installed-dev
	$(PYTEST) tests/unit

test-contract: .venv/.installed-dev
	$(PYTEST) tests/contract $(ONCE_MORE)

test-e2e: .venv/.installed-dev
	$(PYTEST) tests/e2e $(ONCE_MORE)

test-clusters: .venv/.installed-dev
	$(PYTEST) tests/cluster tests/chaos $(ONCE_MORE)

lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) "$(TORCH)"
	$(PIP) --editable ".[local]"
	touch $@

.venv/.installed-dev: pyproject.toml .venv/.installed
	$(PIP) --editable ".[dev]"
	touch $@
