# make demo   install the base into .venv and see a report on the demo pipelines
# make test   install everything but torch and run the test suite, on all processors
# make slow   run the slow tests, which make test leaves out
# make nightly  run the tests that take a minute each, which CI leaves out
# make models install torch too and test the plugin for checkpoints
# make lint   ruff, mypy and the import contracts
# make audit  scan the code, and ask whether the pinned packages have known vulnerabilities
# make build  build the wheel and the source distribution into dist/
# make distributions  build what is published under the frameworks' own names into dist/distributions/
# make bom    write the bill of materials of the built wheel (CycloneDX) into dist/, and check it
# make release-pins  write the hashes of what a release is made with anew
# make dev-pins  write the hashes of the packages that CI tests with anew, in the versions of constraints.txt
# make docs   build the site of the documentation into build/docs; a link that leads nowhere fails it
# make clean  remove what these made

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
OUT    ?= rag-cover-demo

.PHONY: help demo test slow nightly models lint audit build distributions bom release-pins dev-pins docs clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# make/make/p' Makefile

demo: $(VENV)/.base
	@$(BIN)/rag-cover demo --out $(OUT)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow and not nightly" $(PYTEST_ARGS)

slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "slow and not nightly" $(PYTEST_ARGS)

nightly: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist loadgroup -m nightly $(PYTEST_ARGS)

models: $(VENV)/.models
	$(BIN)/python -m pytest tests/transformers plugins/rag_cover_transformers $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

audit: $(VENV)/.dev
	$(BIN)/bandit -q -c pyproject.toml -r rag_cover plugins adapters
	$(BIN)/python .ci/audit.py

build: $(VENV)/.dev
	$(BIN)/hatchling build -d dist

distributions: $(VENV)/.dev
	for folder in distributions/*/; do (cd "$$folder" && "$(abspath $(BIN))/hatchling" build -d "$(CURDIR)/dist/distributions") || exit 1; done

# The tools' own environment is left out: the bill names what the wheel brings.
bom: build/release/.tools
	rm -rf build/release/wheel
	$(PYTHON) -m venv --without-pip build/release/wheel
	$(PYTHON) -m pip --python build/release/wheel/bin/python install --quiet -c constraints.txt dist/*.whl
	build/release/bin/cyclonedx-py environment build/release/wheel/bin/python --output-format JSON -o dist/rag-cover.cdx.json
	$(PYTHON) .ci/bom.py dist/rag-cover.cdx.json

build/release/.tools: .ci/requirements-release.txt
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --require-hashes -r .ci/requirements-release.txt
	@touch $@

release-pins:
	cd .ci && uv pip compile --quiet --upgrade --generate-hashes --no-annotate --no-header --python-version 3.11 \
	  --python-platform x86_64-unknown-linux-gnu requirements-release.in -o requirements-release.txt

# For every system and Python: pip itself is whatever the environment has, and torch is not among the extras.
dev-pins:
	uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --no-emit-package pip --python-version 3.11.7 \
	  --extra all --extra dev -c constraints.txt pyproject.toml -o .ci/requirements-dev.txt

docs: $(VENV)/.docs
	$(BIN)/python .ci/reference.py --check
	$(BIN)/zensical build --strict --clean

clean:
	rm -rf $(VENV) dist build $(OUT) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is younger than what it was made from, so a second run installs nothing.
$(VENV)/.models: $(VENV)/.dev
	$(PIP) install --quiet -c constraints.txt -e '.[transformers]' 'transformers[serving]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) install --quiet -c constraints.txt -e '.[docs]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) install --quiet -c constraints.txt -e '.[all,dev]'
	@touch $@

$(VENV)/.base: $(VENV)/.venv pyproject.toml constraints.txt
	$(PIP) install --quiet -c constraints.txt -e .
	@touch $@

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "rag_cover needs Python 3.11 or later, and '$(PYTHON)' is not that. Name one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@
