PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
SAY := @printf '%s\n'
STATE ?= delta
STORE ?= delta
HOURS ?= 1
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install machine classes demo test torture soak lint bench bench-full docs openapi wheel pins clean

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | \
	  while IFS='|' read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

install: $(STAMP) ## put everything into .venv, in the pinned versions

$(STAMP): constraints.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
	  echo "error: $(PYTHON) is not installed; install Python 3.11 or newer, or name one: make PYTHON=..." >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: $(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(SAY) "creating .venv ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(SAY) "installing the pinned packages (a few minutes the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input \
	  --require-hashes -r constraints.txt
	$(SAY) "installing duestream ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input \
	  --no-deps --no-build-isolation -e .
	@touch $@

# Java, and the jars of Spark and the broker; both are told in one sentence when they are missing.
machine: $(STAMP)
	@$(BIN)/python -m pipeline.jvm

demo: machine ## messages wait and go out, on a broker of its own; STATE=mongo, UI=1: with a console
	@$(BIN)/duestream demo --state $(STATE) --keep data/demo $(if $(UI),--ui)

# Spark's classes in an archive: every later start is quicker.
classes: machine
	@$(BIN)/python -m pipeline.keep_classes

test: lint classes ## lint, types, imports, then all tests
	$(SAY) "pytest ..."
	@$(BIN)/python -m pytest -q --durations=25 -n $(WORKERS) --dist loadscope --no-loadscope-reorder

torture: classes ## kill job and servers at random for five minutes, count what is lost; STORE=mongo
	@$(BIN)/python -m tests.torture --store $(STORE)

soak: classes ## mixed load with kills for HOURS=1, does anything grow? plots in build/soak; STORE=mongo
	@$(BIN)/python -m bench.soak --hours $(HOURS) --store $(STORE) $(if $(SEED),--seed $(SEED))

lint: $(STAMP) ## check style, types and who may import whom
	$(SAY) "ruff ..."
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	$(SAY) "mypy ..."
	@$(BIN)/mypy -p pipeline -p state --no-error-summary
	$(SAY) "lint-imports ..."
	@$(BIN)/lint-imports > .venv/imports.log 2>&1 || { cat .venv/imports.log; exit 1; }

bench: classes ## measure for ten minutes, and write docs/benchmarks.md; STORE=mongo or both
	@$(BIN)/python -m bench --store $(STORE)

bench-full: classes ## measure everything on both stores, and write docs/benchmarks.md
	@$(BIN)/python -m bench --set full --store both

wheel: $(STAMP) ## build the wheel, for spark-submit and Databricks, into dist
	@$(BIN)/python -m hatchling build -t wheel -d dist

docs: $(STAMP) ## build the documentation as a site into build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(SAY) "built: build/site/index.html"

openapi: $(STAMP) ## write the description of the HTTP API anew, into conf/openapi.json
	@$(BIN)/python -m pipeline.admin.api.document > conf/openapi.json

pins: ## resolve constraints.txt anew from pyproject.toml
	$(SAY) "resolving (some minutes) ..."
	@$(PYTHON) -m venv build/pins
	@build/pins/bin/python -m pip install --quiet --disable-pip-version-check pip-tools
	@build/pins/bin/pip-compile --quiet --upgrade --all-extras --generate-hashes --strip-extras \
	  --allow-unsafe --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	  --no-emit-trusted-host --output-file build/constraints.txt pyproject.toml
	@{ head -1 constraints.txt; cat build/constraints.txt; } > build/pinned.txt
	@mv build/pinned.txt constraints.txt

clean: ## remove .venv and whatever was built; the cache of jars stays
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
