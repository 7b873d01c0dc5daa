# Quelea. `make` lists the targets; each does its own set-up.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYPROJECTS := $(wildcard proto/pyproject.toml libs/*/pyproject.toml services/*/pyproject.toml cli/pyproject.toml evaluation/pyproject.toml)
PROTOS := $(shell find proto -name '*.proto')
PACKAGES := libs/kit/quelea_kit services/*/quelea_* cli/quelea_cli evaluation/quelea_evaluation
.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(STAMP) ## Make .venv with every service, the tools and the default encoder.

$(STAMP): constraints.txt requirements/build.txt requirements/dev.txt $(PYPROJECTS) $(PROTOS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -r requirements/build.txt
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install -q --disable-pip-version-check --no-build-isolation -r requirements/dev.txt
	@touch $@
