# Each target is one line that calls musakit or a script in ci/. `make` alone lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TARGET ?=

.PHONY: help
help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

.PHONY: patch-and-build
patch-and-build: $(READY) ## Fetch the pins, apply the series, build and verify the wheels [TARGET=vllm-0.20]
	@$(BIN)/musakit build $(TARGET)

.PHONY: test
test: $(READY) ## Lint, type-check and run every test, those on the real upstreams included
	@PATH="$(CURDIR)/$(BIN):$$PATH" ci/test

.PHONY: test-fast
test-fast: $(READY) ## Lint and the tests that need no real upstream and no torch
	@echo "leaving out the tests on the real upstreams, the runtime contracts among them" >&2
	@PATH="$(CURDIR)/$(BIN):$$PATH" ci/test -m "not slow"

.PHONY: test-all
test-all: $(READY) ## Every test, and the runtime contracts of every target; takes 3 GB of disk for each
	@PATH="$(CURDIR)/$(BIN):$$PATH" ci/test --all-targets

.PHONY: verify
verify: $(READY) ## Ask the static and the runtime contracts [TARGET=vllm-0.20]
	@$(BIN)/musakit verify --runtime --pristine $(TARGET)

.PHONY: lint
lint: $(READY) ## ruff and mypy
	@PATH="$(CURDIR)/$(BIN):$$PATH" ci/lint

.PHONY: bench
bench: $(READY) ## Time applying 170 patches to vLLM against `git am -3`
	@PATH="$(CURDIR)/$(BIN):$$PATH" python ci/bench.py

.PHONY: clean
clean: ## Remove the virtual environment and what was built; the cache stays
	@rm -rf $(VENV) dist build

# The checkout's own virtual environment; made again when the dependencies change.
$(READY): pyproject.toml
	@ci/environment $(PYTHON) $(VENV)
	@touch $@
