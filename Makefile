# One entry point for people and CI. Every target sets itself up in a fresh clone; `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help setup fuzz test replay repro minimize bench bench-oracle bless lint format type ci clean

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

SEED ?= 0
WORKERS ?= 2
TIME ?=
FILE ?=
JSON ?=
QUICK ?=

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  make fuzz TIME=60s SEED=0 WORKERS=2    (without TIME: until Ctrl-C)"
	@echo "  make repro FILE=corpus/NAME.kina       (also: minimize)"

setup: $(READY) ## make .venv from the pinned requirements (the other targets do it too)

$(READY): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "setup: $(PYTHON) is too old, Python 3.11 or later is needed: make PYTHON=python3.11" >&2; exit 2; }
	@command -v cc >/dev/null || { echo "setup: no C compiler: install one that answers to 'cc'" >&2; exit 2; }
	@echo "setup: installing the pinned requirements into $(VENV) (about 2 GB, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@touch $@

fuzz: $(READY) ## run the fuzzer: StoryLM programs and op graphs on drawn pipelines, findings go to corpus/
	@$(RUN) -m fuzz run --seed $(SEED) --workers $(WORKERS) $(if $(TIME),--time $(TIME))

test: $(READY) ## run the tests
	@$(RUN) -m pytest

replay: $(READY) ## run every corpus entry on every engine
	@$(RUN) -m fuzz replay

repro: $(READY) ## judge one case: make repro FILE=case.kina
	@test -n "$(FILE)" || { echo "repro: say which case: make repro FILE=corpus/NAME.kina" >&2; exit 2; }
	@$(RUN) -m fuzz check $(FILE)

minimize: $(READY) ## make one failing case smaller: make minimize FILE=case.kina
	@test -n "$(FILE)" || { echo "minimize: say which case: make minimize FILE=case.kina" >&2; exit 2; }
	@$(RUN) -m fuzz minimize $(FILE)

bench: $(READY) ## how fast a campaign's work is, where its time goes, and the command-line tools beside it
	@$(RUN) -m bench.speed $(if $(JSON),--json)

bench-oracle: $(READY) ## what the oracle promises, measured, in 15 minutes on two free cores; QUICK=1 takes one
	@$(RUN) -m bench.oracle --seed $(SEED) --workers $(WORKERS) $(if $(QUICK),--quick) $(if $(JSON),--json)

bless: $(READY) ## rewrite the golden files from what the compiler emits now
	@$(RUN) -m tests.bless

lint: $(READY) ## ruff: rules and format
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .

format: $(READY) ## ruff: mend what can be mended
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

type: $(READY) ## mypy --strict
	@$(VENV)/bin/mypy

ci: lint type test replay ## what CI runs

clean: ## remove what the targets made, but no run, no finding and no corpus entry
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
