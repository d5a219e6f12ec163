# The two commands: `make demo` and `make test`. Everything else is for people who change memvault.
# PYTHON=/path/to/python3.11 chooses the interpreter that .venv is made with.

BIN := .venv/bin
PYTHON ?=
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help setup ready python lint format proto proto-check test golden demo up down bench eval peers tradeoffs lock clean distclean fit

help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: python ## make .venv and install the locked packages
	@sh scripts/setup.sh

python:
	@sh scripts/find_python.sh >/dev/null

# What measures needs data: said before anything is set up.
MEASURED := $(firstword $(filter eval peers fit,$(MAKECMDGOALS)))
ifneq ($(MEASURED),)
ifeq ($(strip $(DATA)),)
$(error name the folder of data: make $(MEASURED) DATA=folder; docs/data.md says what belongs into it)
endif
ifneq ($(shell test -d "$(DATA)" && echo there),there)
$(error $(DATA) is no folder: make $(MEASURED) DATA=folder; docs/data.md says what belongs into it)
endif
endif

# Sets up only when .venv is missing or older than the lock.
ready: python
	@test -x $(BIN)/python && cat requirements/*.txt pyproject.toml | cksum | cmp -s - .venv/memvault-setup || sh scripts/setup.sh

lint: ready ## style, types, layers, contract, YAML
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint proto
	$(BIN)/yamllint --strict .

format: ready ## let ruff put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

proto: ready ## generate the code of the contract from proto/
	$(BIN)/python scripts/generate_proto.py

proto-check: ready ## prove that the generated code is fresh
	$(BIN)/python scripts/generate_proto.py --check

# Those without a memvault of their own run on up to four cores; the others would wait for one another.
test: ready ## every test; needs no network beyond this machine
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile tests/unit tests/contract tests/parity tests/architecture
	$(BIN)/python -m pytest tests/integration tests/e2e tests/golden

golden: ready ## golden queries only
	$(BIN)/python -m pytest tests/golden

demo: ready ## start everything, load a sample vault, ask it questions, stop
	$(BIN)/python -m memvault_demo

up: ready ## start the services and detach; MEMVAULT_HOME says where data lives
	$(BIN)/memvault up

down: ready ## stop them
	$(BIN)/memvault down

bench: ready ## speed by size of the vault against its floors: make bench ARGS="--sizes 1k,10k,100k"
	$(BIN)/python -m memvault_evals.bench $(ARGS)

eval: ready ## quality against public data: make eval DATA=folder ARGS="--suite recall,chinese"
	$(BIN)/memvault eval --data "$(DATA)" $(ARGS)

peers: ready ## memvault beside other products: make peers DATA=folder ARGS="--sets madial_zh"
	$(BIN)/python -m memvault_evals.peers --data "$(DATA)" $(ARGS)

tradeoffs: ready ## write docs/tradeoffs.md from runs: make tradeoffs EVAL="results.json ..." BENCH=bench.json
	$(BIN)/python -m memvault_evals.tradeoffs $(EVAL) $(addprefix --bench ,$(BENCH))

fit: ready ## fit the router and the tuned profile on public data: make fit DATA=folder ARGS=--dry
	$(BIN)/python -m memvault_evals.fitting --data "$(DATA)" $(ARGS)

lock: ready ## resolve and lock the packages anew
	UV_PYTHON_DOWNLOADS=never uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" pyproject.toml -o requirements/runtime.txt
	UV_PYTHON_DOWNLOADS=never uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" --extra dev -c requirements/runtime.txt pyproject.toml -o requirements/dev.txt
	UV_PYTHON_DOWNLOADS=never uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" --extra dev --extra mlx -c requirements/dev.txt pyproject.toml \
		-o requirements/dev-mlx.txt

clean: ## remove what tools left behind
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv too
	rm -rf .venv
