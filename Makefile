# The two commands of the README: `make evaluate` and `make test`. Both create and reuse .venv.
PYTHON ?= python3
# The build of torch to use; override for a GPU build.
TORCH ?= torch==2.13.0
BIN := .venv/bin
# Not where the user keeps a corpus: the examples are always evaluated against their own.
EXAMPLE := ASSAYER_CORPUS__PATH=build/example-corpus
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile

.PHONY: evaluate test test-one-machine test-clusters check lint format

evaluate: .venv/.installed  ## build the example corpus, evaluate the example ideas, show the reports
	$(EXAMPLE) $(BIN)/assayer corpus build examples/corpus.jsonl
	@# Only where there is none, so that `assayer evaluate` works at once and nobody's own corpus is ever replaced.
	@if $(BIN)/assayer corpus info 2>&1 | grep -q "There is no corpus in"; then \
		$(BIN)/assayer corpus build examples/corpus.jsonl; \
	fi
	$(EXAMPLE) $(BIN)/assayer evaluate examples/ideas --out out

test: check  ## everything: style, types, imports, unit, contract, cluster, chaos and end-to-end tests
	@# Both mostly wait, for processes that start and for services that are slow.
	$(MAKE) --jobs=2 --output-sync=target test-one-machine test-clusters

# Real processes on shared machines: a failed test is run once more, and the report says which needed it.
test-one-machine: .venv/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/contract tests/e2e --reruns 1

test-clusters: .venv/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/cluster tests/chaos --reruns 1

check: lint  ## what every commit must pass
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/unit

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
