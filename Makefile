# The verbs of the project. `make demo` and `make test` each do all the set-up they need, on a fresh machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test interop interop-all bench lint types house generate coverage fuzz clean

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group clients
	touch $@

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group peers
	touch $@

# What needs Apache Kafka or its tools: the codecs, the comparison, clients and tools of others.
APART := interop/witness interop/differential interop/walks interop/tools

demo: $(VENV)/.demo
	$(BIN)/python -m examples.demo

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

house: $(VENV)/.test
	$(BIN)/lint-imports
	$(BIN)/python -m codegen --check

test: lint types house
	$(BIN)/python -m pytest tests interop -n 2 $(APART:%=--ignore=%)

fuzz: $(VENV)/.test  # a million hostile frames instead of the hundred thousand of `make test`; KAFKADOUBLE_FUZZ_SEED takes other ones
	KAFKADOUBLE_FUZZ_FRAMES=1000000 $(BIN)/python -m pytest tests/hostile/test_fuzz.py -n 2

BROKERS ?= --broker double --broker local
interop: $(VENV)/.test
	$(BIN)/python -m pytest interop -n 2 $(BROKERS) $(APART:%=--ignore=%)
	$(BIN)/python -m pytest interop/witness -n 2
	$(BIN)/python -m pytest interop/differential
	$(BIN)/python -m pytest interop/walks interop/tools --broker double --broker local

interop-all: $(VENV)/.test  # the walks of all foreign clients, those that compile for minutes, too; writes docs/clients.md
	KAFKADOUBLE_INTEROP_ALL=1 $(BIN)/python -m pytest interop/walks --broker double --broker local --results interop/walks/results.json
	$(BIN)/python -m interop.walks.page

coverage: $(VENV)/.test
	$(BIN)/python -m coverage run -m pytest tests -q
	$(BIN)/python -m coverage report --skip-covered --sort=cover

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

generate: $(VENV)/.demo
	$(BIN)/python -m codegen
	$(BIN)/kafkadouble supported --markdown > docs/supported.md

clean:
	rm -rf $(VENV) build dist src/*.egg-info
