# Tilegrade. `make` alone lists the targets. Written for GNU make 3.81 and later.

VENV ?= .venv
PY := $(VENV)/bin/python
GRADER := $(PY) -m grader
PYTEST_ARGS ?= -n auto --dist worksteal

# A message names the command that its reader typed: `make hint 02`, not `grader hint 02`.
export TILEGRADE_COMMAND := make

.DEFAULT_GOAL := help
.SUFFIXES:
.PHONY: help check hint explain reset

# The words after these targets are their arguments. Then no other target is defined below, so that
# `make check test` asks for an exercise named test, and an unknown target still fails without them.
VERB := $(filter check hint explain reset,$(firstword $(MAKECMDGOALS)))
WORDS := $(if $(VERB),$(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS)))
SWALLOWED := $(filter-out check hint explain reset,$(WORDS))
ifneq (,$(SWALLOWED))
.PHONY: $(SWALLOWED)
$(SWALLOWED):
	@:
endif

# FILE and HINT count only where they were typed, not where the environment happens to have them.
OPTIONS :=
ifeq (command line,$(origin FILE))
OPTIONS += --file "$$FILE"
endif
ifeq (command line,$(origin HINT))
HINTS := --hint "$$HINT"
endif

# Without a Python in it, whatever the stamps say, an environment is made anew.
ifneq (yes,$(shell test -x $(PY) && echo yes))
ANEW := FORCE
endif
.PHONY: FORCE
FORCE:

$(VENV)/.for-check: requirements.lock pyproject.toml $(ANEW)
	@sh tools/venv.sh $(VENV) requirements.lock $@

$(VENV)/.for-test: requirements-dev.lock pyproject.toml $(ANEW)
	@sh tools/venv.sh $(VENV) requirements-dev.lock $@
	@touch $(VENV)/.for-check

$(VENV)/.for-ci: requirements-ci.lock pyproject.toml $(ANEW)
	@sh tools/venv.sh $(VENV) requirements-ci.lock $@
	@touch $(VENV)/.for-check $(VENV)/.for-test

$(VENV)/.for-gpu: requirements-gpu.lock $(VENV)/.for-test
	@sh tools/venv.sh $(VENV) requirements-gpu.lock $@

check: $(VENV)/.for-check ## NAME [FILE=path] [HINT=n]: grade an exercise; a prefix of its name will do
	@$(GRADER) check $(WORDS) $(OPTIONS) $(HINTS)

hint: $(VENV)/.for-check ## NAME [FILE=path]: show the next hint
	@$(GRADER) hint $(WORDS) $(OPTIONS)

explain: $(VENV)/.for-check ## DIAGNOSTIC: open its page
	@$(GRADER) explain $(WORDS)

reset: $(VENV)/.for-check ## NAME: put the skeleton back, keeping a backup
	@$(GRADER) reset $(WORDS) $(OPTIONS)

ifeq (,$(VERB))
.PHONY: list test test-gpu ladder soak lint format bench batch matrix outputs lock setup setup-ci clean

list: $(VENV)/.for-check ## list the exercises
	@$(GRADER) list

test: $(VENV)/.for-test ## run all tests that need no GPU
	@$(PY) -m pytest $(PYTEST_ARGS)

soak: $(VENV)/.for-ci ## kill a batch a hundred times, with real gradings
	@TILEGRADE_REAL_KILLS=100 $(PY) -m pytest tests/batch/test_kill.py -k real

batch: $(VENV)/.for-check ## SUBMISSIONS=folder [OUT=folder]: grade a class
	@$(GRADER) batch "$(SUBMISSIONS)" --out "$(or $(OUT),grades)"

# Without a driver there is nothing to install hundreds of megabytes for: the command says why it cannot run.
DRIVER := $(wildcard /dev/nvidiactl /dev/dxg)
test-gpu: $(VENV)/$(if $(DRIVER),.for-gpu,.for-test) ## run the tests that need a GPU
	@$(PY) -m pytest -m gpu

ladder: $(VENV)/$(if $(DRIVER),.for-gpu,.for-check) ## [MDIM=1000]: Lab 1, the ladder of kernels timed on a GPU beside cuBLAS
	@$(GRADER) ladder --lab1 $(if $(MDIM),--size "$(MDIM)")

lint: $(VENV)/.for-test ## ruff and mypy
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

format: $(VENV)/.for-test ## let ruff format and mend what it can
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

bench: $(VENV)/.for-test ## measure against peers, in one run
	@$(PY) benchmarks/run.py

outputs: $(VENV)/.for-test ## write the sample outputs of the READMEs anew
	@$(PY) tools/outputs.py README.md exercises/README.md

matrix: $(VENV)/.for-test ## grade the mutants and write docs/diagnosis-matrix.md
	@$(PY) -m tools.diagnosis_matrix

lock: ## pin every version anew (needs uv)
	@sh tools/lock.sh

setup-ci: $(VENV)/.for-ci ## make the environment that CI tests in, and nothing else

setup: $(VENV)/.for-test ## make the environment for development, and nothing else

clean: ## remove the environment and the caches
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
endif

help:
	@echo "make TARGET, one of:"
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target text; \
	    do printf '  %-9s %s\n' "$$target" "$$text"; done
