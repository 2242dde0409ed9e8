# Everything on a machine that has Python 3.11 or newer: `make demo`, `make test`, `make site`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(abspath $(VENV))/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check generated site bench release clean

# Made again when an install was interrupted or pyproject.toml is newer; hatchling, so that the demo needs no network.
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev 'hatchling>=1.27'
	touch $@

# The adapter is installed into a folder of its own: the tests expect none beside aqlgen.
demo: $(STAMP)
	rm -rf demo/petstore-adapter demo/site
	$(BIN)/aqlgen from-openapi fixtures/petstore.yaml --output demo/petstore-adapter
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --target demo/site ./demo/petstore-adapter
	PYTHONPATH=demo/site $(BIN)/python -m bench demo demo/site/bin/petstore-adapter

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --durations=10 --durations-min=1

check: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy aqlgen

# The files that follow from the code, and the expected projects of the tests: review the difference.
generated: $(STAMP)
	$(BIN)/python -m aqlgen.diagnostics.catalogue > docs/diagnostics.md
	$(BIN)/python -m aqlgen.cli.commands_page > docs/commands.md
	$(BIN)/python -m aqlgen.render.settings_texts > docs/settings.md
	$(BIN)/python -m aqlgen.table.schema
	$(BIN)/python -m tests.diagrams
	$(BIN)/python -m tests.check.probe
	$(BIN)/python -m pytest -q --update-goldens -k test_the_project_is_what_it_was tests/generator/test_goldens.py

# The site of docs/, in site/; a broken link ends it.
site: $(STAMP)
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/zensical build --clean --strict

bench: $(STAMP)
	$(BIN)/python -m bench generate
	$(BIN)/python -m bench startup
	$(BIN)/python -m bench overhead
	$(BIN)/python -m bench gate
	$(BIN)/python -m bench tokens
	AQLGEN_ALL_EXAMPLES=1 $(BIN)/python -m pytest -q -n auto -m hypothesis

# A tag, sdist and wheel built twice, SBOM and provenance, on this machine alone: make release VERSION=0.2.0
release: $(STAMP)
	$(BIN)/python -m pip install --quiet --group release
	$(BIN)/python release.py $(VERSION)

clean:
	rm -rf $(VENV) demo site
