# make train   train a digit classifier, eagerly and compiled to C
# make test    run the tests, on up to four processors
# make long    run the tests that take minutes: 400 random programs, generated C under sanitizers, faults
# make exhaustive   run all of these, which takes hours
# make lint    ruff and mypy
# make docs    the documentation, docs/build/index.html
#
# Each target works in its own environment, .venv, and installs what it needs there: a system Python refuses
# plain `pip install` (PEP 668). PYTHON=... chooses the interpreter, ARGS=... is handed to the program.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

.PHONY: train test long exhaustive lint docs clean compiler

train: $(VENV)/.examples compiler
	$(BIN)/python examples/train_digits.py $(ARGS)

test: $(VENV)/.test compiler
	$(BIN)/python -m pytest tests -q -n auto --maxprocesses 4 $(ARGS)

long: $(VENV)/.test compiler
	$(BIN)/python -m pytest tests -q --long -n auto --maxprocesses 4 $(ARGS)

exhaustive: $(VENV)/.test compiler
	$(BIN)/python -m pytest tests -q --exhaustive -n auto --maxprocesses 4 $(ARGS)

# mypy does not follow an editable install; it finds the package through a link of that name.
lint: $(VENV)/.test
	$(BIN)/ruff check .
	mkdir -p $(VENV)/mypy && ln -sfn ../.. $(VENV)/mypy/tracegrad
	MYPYPATH=$(VENV)/mypy $(BIN)/mypy -p tracegrad

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q docs docs/build $(ARGS)
	@echo docs/build/index.html

clean:
	rm -rf $(VENV) build dist *.egg-info docs/build docs/api docs/examples

# The stamps: a change of pyproject.toml installs again; the environment itself is made once.
$(VENV)/.examples: pyproject.toml $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[examples]'
	touch $@

$(VENV)/.test: pyproject.toml $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[examples,test]'
	touch $@

$(VENV)/.docs: pyproject.toml $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo 'tracegrad needs Python 3.10 or newer, and "$(PYTHON)" is not: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo '$(PYTHON) has no venv module: install it (Debian: apt install python3-venv make gcc libc6-dev)' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

compiler:
	@for cc in '$(CC)' gcc clang cc; do command -v $$cc >/dev/null 2>&1 && exit 0; done; \
	  echo 'no C compiler found: install one (Debian: apt install python3-venv make gcc libc6-dev) or set CC' >&2; exit 1
