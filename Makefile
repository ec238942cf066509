# The verbs of the project. `make demo` and `make test` each do all the set-up they need, on a fresh machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test page helpers binary test-spark pipeline interop interop-suite interop-codecs interop-differential interop-clients interop-sample-of-controllers interop-spark interop-soak interop-all interop-controllers bench lint types house generate site coverage fuzz clean

$(VENV)/.demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group clients
	touch $@

# The compiled part of wire/columns, for which it takes a C compiler; without it the same tests run, but for its own, and the same benchmarks.
FAST = if command -v $${CC:-cc} >/dev/null; then $(BIN)/python -m pip install --quiet ./fast; else echo "no C compiler: kafkadouble-fast is not built"; fi

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --group test
	$(FAST)
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group peers
	touch $@

$(VENV)/.spark: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group spark
	touch $@

# Tests of single parts beside Kafka's own classes. `make test` leaves them out: they need its jars.
BESIDE_KAFKA := $(sort $(wildcard tests/server/*/test*_against_kafka.py tests/server/*/*/test*_against_kafka.py))

# What needs Apache Kafka or its tools, a browser, or Go, Java and Node: the codecs, the comparison, clients and tools of others, controllers, the page.
APART := interop/page interop/helpers interop/witness interop/differential interop/walks interop/tools interop/controllers interop/spark

demo: $(VENV)/.demo
	$(BIN)/python -m examples.demo

# Images of containers often set this. The tests start hundreds of interpreters, and each would compile the whole server again.
unexport PYTHONDONTWRITEBYTECODE

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m checks.language
	$(BIN)/python -m checks.commits
	$(BIN)/python -m tests.docs.links

types: $(VENV)/.test
	$(BIN)/mypy

house: $(VENV)/.test
	$(BIN)/lint-imports
	$(BIN)/python -m checks.house
	$(BIN)/python -m codegen --check

test: lint house  # six at once on two cores: much of it waits for answers; types are checked beside them
	$(BIN)/mypy & types=$$!; $(BIN)/python -m pytest tests interop -n 6 --ignore=tests/spark $(APART:%=--ignore=%) $(BESIDE_KAFKA:%=--ignore=%) && { wait $$types || { echo "mypy has found errors: see above"; exit 1; }; }

$(VENV)/.page: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group page
	touch $@

page: $(VENV)/.page  # the live page in Debian's Chromium; KAFKADOUBLE_SCREENSHOTS=1 writes the pictures of docs/page.md
	$(BIN)/python -m pytest interop/page

helpers: $(VENV)/.test  # the libraries for Go, Java and Node, with real clients of these languages
	$(BIN)/python -m pytest interop/helpers

# An environment of its own: the binary gets nothing that only tests need.
$(VENV)/binary/.made: pyproject.toml
	$(PYTHON) -m venv $(VENV)/binary
	$(VENV)/binary/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/binary/bin/python -m pip install --quiet '.[control,security,scenario,telemetry]' --group binary
	touch $@

# The binary is two processes until it serves.
OF_ONE_PROCESS := test_serve_prints_its_address_and_answers_there test_a_signal_before_it_serves_ends_it_too

binary: $(VENV)/.test $(VENV)/binary/.made  # one file with Python in it, for this platform: dist/kafkadouble; tests of processes that are run with it
	$(VENV)/binary/bin/python -m pip install --quiet --no-deps --force-reinstall .
	$(VENV)/binary/bin/python -m binary
	KAFKADOUBLE_BINARY=$(CURDIR)/dist/kafkadouble $(BIN)/python -m pytest tests/front/test_cli.py tests/front/test_serve_cluster.py tests/front/test_serve_scenario.py tests/front/test_tls.py tests/front/test_oauthbearer.py -n 2 $(OF_ONE_PROCESS:%=--deselect=tests/front/test_cli.py::TestServe::%)

test-spark: $(VENV)/.spark  # the sources and the sink in one Spark session; needs Java 17
	$(BIN)/python -m pytest tests/spark

MASTER ?= local[2]
pipeline: $(VENV)/.spark  # orders through a cluster that loses some, and an audit; needs Java 17; MASTER is where Spark runs
	$(BIN)/python -m examples.pipeline --master '$(MASTER)'

fuzz: $(VENV)/.test  # a million hostile frames instead of the forty thousand of `make test`, a part of that at controllers and between replicas, and histories of compacted logs; KAFKADOUBLE_FUZZ_SEED takes other ones
	KAFKADOUBLE_FUZZ_FRAMES=1000000 KAFKADOUBLE_HISTORIES=2000 $(BIN)/python -m pytest tests/hostile/test_fuzz.py tests/hostile/test_fuzz_controllers.py tests/hostile/test_fuzz_replicas.py tests/server/log/compaction/test_histories.py -n 2

# Two or three files of tests at once: most of what needs Apache Kafka is waiting.
FILES := --dist loadfile -n

BROKERS ?= --broker double --broker local
interop: interop-suite interop-codecs interop-differential interop-clients interop-sample-of-controllers

interop-suite: $(VENV)/.test
	$(BIN)/python -m pytest interop $(FILES) 3 $(BROKERS) $(APART:%=--ignore=%)

interop-codecs: $(VENV)/.test  # the codecs beside Kafka's own classes, and its settings, state machines, assignors and coordinators
	$(BIN)/python -m pytest interop/witness $(BESIDE_KAFKA) -n 2

interop-differential: $(VENV)/.test  # the same requests to both
	$(BIN)/python -m pytest interop/differential $(FILES) 2

interop-clients: $(VENV)/.test  # clients of others, and Kafka's tools
	$(BIN)/python -m pytest interop/walks interop/tools --broker double --broker local $(FILES) 3

interop-sample-of-controllers: $(VENV)/.test  # our controllers with Apache Kafka's nodes
	$(BIN)/python -m pytest interop/controllers --broker local -p no:randomly $(FILES) 2

interop-spark: $(VENV)/.spark  # beside Spark's own connector, on Apache Kafka; needs Java 17 and Maven
	$(BIN)/python -m pytest interop/spark --broker local $(FILES) 2

interop-soak: $(VENV)/.spark  # a stream while an Apache Kafka of three brokers does all that clusters do; some minutes
	KAFKADOUBLE_INTEROP_ALL=1 $(BIN)/python -m pytest interop/spark/test_wire_soak.py --broker local -s

interop-controllers: $(VENV)/.test  # our controllers with Apache Kafka's nodes: every quorum, older releases, small pieces; some 30 minutes
	KAFKADOUBLE_INTEROP_ALL=1 $(BIN)/python -m pytest interop/controllers --broker local -p no:randomly $(FILES) 2

interop-all: $(VENV)/.test  # the walks of all foreign clients, those that compile for minutes, too; writes docs/clients.md; starts on every kind of damaged file; the steps of every wide request; and thousands of simulations
	KAFKADOUBLE_INTEROP_ALL=1 $(BIN)/python -m pytest interop/walks --broker double --broker local --results interop/walks/results.json
	$(BIN)/python -m interop.walks.page
	KAFKADOUBLE_INTEROP_ALL=1 $(BIN)/python -m pytest interop/test_damaged_files.py --broker local -p no:randomly
	KAFKADOUBLE_INTEROP_ALL=1 $(BIN)/python -m pytest tests/hostile/test_steps.py tests/control/test_words_of_callers.py
	KAFKADOUBLE_INTEROP_ALL=1 $(BIN)/python -m pytest interop/test_resets.py --broker local
	$(BIN)/python -m tests.simulation --seeds 2000
	$(BIN)/python -m tests.simulation.brokers --seeds 1000
	$(BIN)/python -m tests.simulation.lives --seeds 200
	$(BIN)/python -m tests.server.groups.consumer.test_random_schedules 100 600

coverage: $(VENV)/.test
	$(BIN)/python -m coverage run -m pytest tests -q
	$(BIN)/python -m coverage report --skip-covered --sort=cover

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

site: $(VENV)/.test  # the documentation as a site, in site/; mkdocs.yml says why with Zensical
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/zensical build --clean --strict

generate: $(VENV)/.test  # writes messages/generated/, every generated page and table in docs/, and the verbs of the libraries in helpers/
	$(BIN)/python -m codegen
	$(BIN)/python -m tests.docs.generate
	$(BIN)/python -m interop.generated_pages
	$(BIN)/python -m helpers.generate

clean:
	rm -rf $(VENV) build dist site src/*.egg-info
