# Needs Python 3.11+ and Java 17+; everything else is fetched into .venv and the user's cache directory.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
CLASSES := $(VENV)/classes.jsa
PAGE   := src/skipstone/server/page/sources.sha256
NPM    := $(BIN)/python .ci/build_page.py
# Tests to run, and what else to tell pytest: make test TESTS=tests/spark ARGS=-x
TESTS  ?=
ARGS   ?=
# Processes, each with a Spark of its own; 0 is this one: make test WORKERS=0 ARGS=--pdb
WORKERS ?= 2
FUZZ_CASES ?= 200000
# Scale factor of TPC-H, and a step of its benchmark: make bench-tpch SF=0.1 ONLY=qdtree
SF     ?= 1
ONLY   ?=

.DEFAULT_GOAL := help
.PHONY: help setup hooks demo test test-python test-cluster test-s3 coverage fuzz mutants lint lint-java format docs examples lock bench bench-skip bench-log bench-benefit bench-replay bench-tpch bench-hyper bench-server bench-page test-page test-browser bench-replicas bench-adapt bench-joins bench-gsop clean

help:  ## Show this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) $(PAGE)  ## Create .venv from requirements.lock, fetch Delta's jars and build the page (once)

# The recipe runs again only when what it installs from has changed.
$(READY): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
	  echo "skipstone needs Python 3.11 or newer, but $(PYTHON) was not found; install it." >&2; exit 1; }
	@$(PYTHON) .ci/check_machine.py
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "skipstone needs Python's venv module; install it (for example the package python3-venv)." >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(BIN)/python -c "from skipstone.spark.jars import main; raise SystemExit(main())"
	@touch $@

# The page of "skipstone serve"; the script builds it only if its sources have changed.
$(PAGE): $(READY) $(shell find web -path web/node_modules -prune -o -type f -print 2>/dev/null)
	$(NPM)
	@touch $@

# Java's own archive of loaded classes, with which a JVM of the tests is ready in half the time.
$(CLASSES): $(READY)
	$(BIN)/python tests/light_java.py

hooks: $(READY)  ## Check style, format and types before every commit (.pre-commit-config.yaml)
	$(BIN)/pre-commit install

demo: $(READY) $(PAGE)  ## Generate data, index it, run queries with skipping on and off
	$(BIN)/skipstone demo

test: test-python  ## Run all tests, or some: TESTS=tests/spark ARGS=-x
	$(if $(TESTS)$(findstring -k,$(ARGS)),,$(MAKE) -j2 test-cluster test-page test-browser)

test-python: $(READY) $(CLASSES) $(PAGE)  ## Run the tests in Python but those on a cluster
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS) $(TESTS)

test-cluster: $(READY) $(CLASSES)  ## Run the tests on a cluster of processes: a master and two workers, one of which is killed
	$(BIN)/python -m pytest $(ARGS) tests/cluster

test-page: $(READY)  ## Run the tests of the page's own parts, without a browser
	$(NPM) run --silent test

# Only where Chromium is not there and cannot be installed is it left out, and that is said.
test-browser: $(READY) $(CLASSES) $(PAGE)  ## Run the whole story of the page in Chromium, which is installed where it may be
	@$(BIN)/python .ci/find_chromium.py --install; found=$$?; \
	  if [ $$found -eq 0 ]; then $(NPM) run --silent story; \
	  elif [ $$found -eq 3 ]; then echo "NOT RUN: the story of the page in a browser, for what the line above says." >&2; \
	  else exit $$found; fi

# The AWS SDK alone is 600 MB to fetch, so this is no part of "test".
test-s3: $(READY)  ## Run the tests on an object store: s3a, against a server on this machine
	$(PYTHON) -m venv $(VENV)/s3
	$(VENV)/s3/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tests/s3/requirements.lock
	SKIPSTONE_S3_SERVER=$(VENV)/s3/bin/moto_server $(BIN)/python -m pytest $(ARGS) tests/s3

# Branches count too. Workers report to the process that started them.
coverage: $(READY) $(CLASSES)  ## Run all tests but those on a cluster, and show which lines of src/ none of them runs
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --cov --cov-report=term-missing $(ARGS) $(TESTS)

fuzz: $(READY)  ## Run the property tests for longer (FUZZ_CASES=200000)
	SKIPSTONE_FUZZ_CASES=$(FUZZ_CASES) $(BIN)/python -m pytest -k "property or fuzz" $(ARGS) $(TESTS)

mutants: $(READY)  ## Plant mutants in the pruning core; the tests must kill all (half an hour; ONLY=exclude for some)
	$(BIN)/python -m tests.mutants.run $(ONLY)

lint: $(READY)  ## Check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(NPM) run --silent check
	$(MAKE) lint-java

lint-java: $(READY)  ## Check the Java sources: warnings and format (needs a JDK)
	$(BIN)/python .ci/lint_java.py

format: $(READY)  ## Fix style and format, of the Java sources too
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python .ci/lint_java.py --format
	$(NPM) run --silent format

docs: $(READY)  ## Write docs/api.md from the docstrings
	$(BIN)/python docs/make_api.py

examples: $(READY)  ## Run the notebooks and store their outputs
	$(BIN)/python examples/run.py

bench: bench-skip bench-replicas bench-log bench-benefit bench-replay  ## Run every benchmark but TPC-H; figures go to benchmarks/results

bench-skip: $(READY)  ## Decision time, planning overhead and indexing time
	$(BIN)/python -m benchmarks skip

bench-replicas: $(READY)  ## What three replicas of 10,000 files each add to planning
	$(BIN)/python -m benchmarks replicas

bench-log: $(READY)  ## What the query log adds to 1,000 small queries
	$(BIN)/python -m benchmarks log

bench-benefit: $(READY)  ## The benefit estimate against what is really skipped
	$(BIN)/python -m benchmarks benefit

bench-replay: $(READY)  ## Inserts and scans interleaved: automatic against others (hours; ONLY=none for one)
	$(BIN)/python -m benchmarks replay $(if $(ONLY),--only $(ONLY))

bench-tpch: $(READY)  ## Layouts on denormalised TPC-H (SF=1; ONLY=step for one step)
	$(BIN)/python -m benchmarks tpch --sf $(SF) $(if $(ONLY),--only $(ONLY))

bench-hyper: $(READY)  ## Hyper-partitioning of TPC-H's lineitem (SF=1; ONLY=simulate, files or costs for one step)
	$(BIN)/python -m benchmarks hyper --sf $(SF) $(if $(ONLY),--only $(ONLY))

bench-server: $(READY)  ## Answers of the server beside a job, polling clients, a day of history, memory
	$(BIN)/python -m benchmarks server

bench-page: $(READY) $(PAGE)  ## The block map in Chromium: drawing 100,000 blocks, and frames a second while hovering
	$(BIN)/python .ci/find_chromium.py --install
	$(NPM) run --silent bench

bench-adapt: $(READY)  ## Adapting a tree to queries on three attributes (SF=1; ONLY=simulate or files for one step)
	$(BIN)/python -m benchmarks adapt --sf $(SF) $(if $(ONLY),--only $(ONLY))

bench-joins: $(READY)  ## Joins of lineitem with small tables that have all the filters (SF=1; ONLY=date, qdtree, features, ssb or grouped)
	$(BIN)/python -m benchmarks joins --sf $(SF) $(if $(ONLY),--only $(ONLY))

bench-gsop: $(READY)  ## Column groups: grouping, sensitivity, cells and queries of TPC-H (SF=1; ONLY=step for one step)
	$(BIN)/python -m benchmarks gsop --sf $(SF) $(if $(ONLY),--only $(ONLY))

lock: $(READY)  ## Resolve the newest versions into requirements.lock, and those of the S3 server and of Node.js
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(VENV)/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev \
	  --generate-hashes --annotation-style line --no-header --no-emit-index-url --no-emit-find-links \
	  --output-file requirements.lock pyproject.toml
	$(VENV)/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	  --generate-hashes --annotation-style line --no-header --no-emit-index-url --no-emit-find-links \
	  --output-file tests/s3/requirements.lock tests/s3/requirements.in
	$(VENV)/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	  --generate-hashes --annotation-style line --no-header --no-emit-index-url --no-emit-find-links \
	  --output-file web/requirements.lock web/requirements.in

clean:  ## Remove .venv and everything generated
	rm -rf $(VENV) web/node_modules src/skipstone/server/page build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find benchmarks src tests -name __pycache__ -type d -prune -exec rm -rf {} +
