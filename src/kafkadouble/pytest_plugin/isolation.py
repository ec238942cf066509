"""Isolation of tests: the broker that a test gets, and the work after the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from kafkadouble.common.on_first_use import OnFirstUse

from . import options
from .options import FRESH, NAMESPACE, NONE, RESET
from .real_arguments import of_real_kafka

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble

    from . import external_kafka, known_doubles, targets
else:  # a start waits for none of them
    known_doubles = OnFirstUse("kafkadouble.pytest_plugin.known_doubles")
    external_kafka = OnFirstUse("kafkadouble.pytest_plugin.external_kafka")
    targets = OnFirstUse("kafkadouble.pytest_plugin.targets")

USED_ADDRESSES = pytest.StashKey[set[str]]()
"""The addresses of all fresh brokers of this process so far."""

Factory = Callable[..., "KafkaDouble"]


def _fresh(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    from kafkadouble import KafkaDouble  # a test session without a double needs none

    used = request.config.stash.setdefault(USED_ADDRESSES, set())
    given = options.for_double(request.node)
    arguments = options.arguments(request.config, lambda: request.getfixturevalue("tmp_path"), given)
    # The operating system may assign a port again that was closed a moment ago.
    with ExitStack() as elsewhere:
        while used & _addresses(double := KafkaDouble(**arguments).start()):
            elsewhere.callback(double.stop)
    used |= _addresses(double)
    known = known_doubles.known_doubles(request.config)
    known.add(double)
    try:
        with double:
            yield double
    finally:
        known.drop(double)


def _addresses(double: KafkaDouble) -> set[str]:
    return set(double.bootstrap_servers.split(","))


def _reset(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    double: KafkaDouble = request.getfixturevalue("_kafka_double_reset")
    if options.value(request.config, "kafkadouble_scenario"):
        double.reset()  # the times of its steps begin with the test
    yield double
    double.start().reset()  # a test may have stopped it


def _shared(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    double: KafkaDouble = request.getfixturevalue("kafka_double_session")
    yield double
    double.start()
    double.clear_rules()
    double.requests.clear()


ISOLATED: dict[str, Callable[[pytest.FixtureRequest], Iterator[KafkaDouble]]] = {
    FRESH: _fresh,
    RESET: _reset,
    NAMESPACE: _shared,
    NONE: _shared,
}


def shared_external(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A Kafka that is not a double; what the test creates is deleted after it."""
    try:
        target = targets.target_of(request.config)
    except pytest.UsageError as problem:  # as every other test of the run would find
        request.session.shouldfail = str(problem)
        raise
    given = of_real_kafka(request.config, target, options.for_double(request.node))
    if given:
        kafka = request.getfixturevalue("_kafka_marked").with_settings(given)
    else:
        kafka = request.getfixturevalue("_kafka_external")
    before = external_kafka.shared_metadata(kafka)
    yield kafka
    external_kafka.clean(kafka, before, is_own=target in targets.STARTED)
