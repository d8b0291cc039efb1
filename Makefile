# make book   install, run every chapter, build the pages, say where to open them
# make test   everything that CI runs
# make lab    lay out your workbook and open it in JupyterLab
# make clean  remove the environment and the built book; your workbook stays
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: help book test lab lint clean

help:
	@sed -n 's/^# make/  make/p' Makefile

book: $(INSTALLED)
	$(BIN)/python -m bookkit.build

lab: $(INSTALLED)
	$(BIN)/autograder start
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/jupyter-lab workbook  # !autograder finds itself

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One run of pytest, so that its last line counts everything: unit tests, every chapter
# under nbval, and the built book in a browser. The book has just run the chapters, so
# nbval compares what that run gave. A file's tests stay in one process; there is one
# more than cores, since many wait for a page or a program.
test: lint book
	$(BIN)/python -m bookkit.browser
	OMP_NUM_THREADS=1 JUPYTER_PATH="$(abspath bookkit/jupyter)" \
	$(BIN)/python -m pytest tests chapters \
	  -n $$($(BIN)/python -c 'import os; print(min(8, os.cpu_count() + 1))') \
	  --dist loadfile \
	  --nbval --nbval-kernel-name replay --nbval-sanitize-with tests/nbval.cfg

clean:
	rm -rf _build $(VENV)

$(INSTALLED): requirements.txt requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -r requirements.txt -c requirements.lock
	$(BIN)/python -m pip install -e . --no-deps
	@touch $@
