"""The Kafka of the fixture kafka_double: a double, or a real one.

pytest --kafka-broker=double          (the default)
pytest --kafka-broker=local           Apache Kafka from --kafka-home, started once
pytest --kafka-broker=container       Apache Kafka in Docker, by testcontainers, started once
pytest --kafka-broker=HOST:PORT       a Kafka that runs

With `local` a marked test has a Kafka of its own, with the settings of its marker. Tests that
follow one another with the same marker share it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkadouble.common.on_first_use import OnFirstUse

from . import options
from .real_arguments import LOCAL, of_real_kafka, skip_of_double

if TYPE_CHECKING:
    from kafkadouble.common import errors
    from kafkadouble.external import given_client, real_kafka
    from kafkadouble.external.local import local_kafka, own_kafka
    from kafkadouble.external.local import local_settings as kafka_settings
    from kafkadouble.external.local.own_kafka import OwnKafka
    from kafkadouble.external.real_kafka import RealKafka

    from . import external_kafka
    from .metadata_changes import SharedMetadata
else:  # a start waits for none of them
    kafka_settings = OnFirstUse("kafkadouble.external.local.local_settings")
    errors = OnFirstUse("kafkadouble.common.errors")
    external_kafka = OnFirstUse("kafkadouble.pytest_plugin.external_kafka")
    given_client = OnFirstUse("kafkadouble.external.given_client")
    local_kafka = OnFirstUse("kafkadouble.external.local.local_kafka")
    own_kafka = OnFirstUse("kafkadouble.external.local.own_kafka")
    real_kafka = OnFirstUse("kafkadouble.external.real_kafka")

Folder = Callable[[], Path]


def target_of(config: pytest.Config) -> str:
    """The target of the run. Raises pytest.UsageError for an unknown one."""
    target = str(options.value(config, "kafka_broker"))
    if target not in ("double", *STARTED) and not _is_address(target):
        choices = ", ".join(["double", *STARTED])
        raise pytest.UsageError(f"kafka_broker is {choices} or HOST:PORT, not {target!r}")
    return target


def _is_address(target: str) -> bool:
    return all(each.rpartition(":")[2].isdecimal() and each.rpartition(":")[0] for each in target.split(","))


@contextmanager
def external(config: pytest.Config, folders: pytest.TempPathFactory) -> Iterator[RealKafka]:
    """The real Kafka of this run, for tests without a marker."""
    target = target_of(config)
    start = STARTED.get(target, _running)
    with start(config, lambda: folders.mktemp("kafka")) as kafka:
        external_kafka.check_answers(kafka)
        yield kafka


@contextmanager
def _running(config: pytest.Config, folder: Folder) -> Iterator[real_kafka.RealKafka]:
    target, file = target_of(config), options.value(config, "kafka_client_config")
    try:
        given = given_client.client_properties(config.rootpath / file) if file else {}
        kafka = real_kafka.RealKafka(target, {**given, "bootstrap.servers": target}, target)
    except errors.UsageError as problem:
        raise pytest.UsageError(f"kafka_client_config: {problem}") from None
    with kafka:
        yield kafka


@contextmanager
def _local(config: pytest.Config, folder: Folder) -> Iterator[OwnKafka]:
    with started(config, folder, {}) as kafka:
        yield kafka


def started(config: pytest.Config, folder: Folder, given: Mapping[str, Any]) -> own_kafka.OwnKafka:
    """A Kafka on this machine, with the settings of the run and these arguments."""
    arguments = options.arguments(config, folder, given)
    home = options.value(config, "kafka_home") or os.environ.get("KAFKA_HOME", "")
    at = folder()
    kafka = None
    try:
        settings = kafka_settings.local_settings(
            at, **{name: argument for name, argument in arguments.items() if name in kafka_settings.TAKEN}
        )
        kafka = own_kafka.OwnKafka(local_kafka.LocalKafka(at, str(home), settings))
        return kafka.begin()
    except BaseException as problem:
        if kafka is not None:
            kafka.close()
        if isinstance(problem, errors.UsageError):
            raise pytest.UsageError(f"--kafka-broker={LOCAL}: {problem}") from None
        raise


class MarkedKafka:
    """The Kafka of the tests whose markers give it settings: one at a time, which the next test
    with the same settings uses again."""

    def __init__(self, config: pytest.Config, folder: Folder) -> None:
        self._config, self._folder = config, folder
        self._kafka: OwnKafka | None = None
        self._given: Mapping[str, Any] = {}

    def with_settings(self, given: Mapping[str, Any]) -> OwnKafka:
        """The Kafka with these settings; another one is started if they have changed."""
        if self._kafka is None or self._given != given or self._kafka.has_other_certificate:
            self.close()
            self._kafka, self._given = started(self._config, self._folder, given), dict(given)
        return self._kafka

    def close(self) -> None:
        """Ends it, if there is one."""
        if self._kafka is not None:
            self._kafka.close()
        self._kafka = None


class FactoryKafkas:
    """The Kafkas that kafka_double_factory started on this machine. What a test changes of them
    besides topics, records and groups is brought back, as in doubles."""

    def __init__(self, config: pytest.Config, folder: Folder) -> None:
        self._config, self._folder = config, folder
        self._known: list[tuple[OwnKafka, SharedMetadata]] = []

    def start(self, **arguments: Any) -> OwnKafka:
        """One with these arguments of KafkaDouble; skips a test that gives others."""
        given = of_real_kafka(self._config, LOCAL, arguments, "kafka_double_factory")
        kafka = started(self._config, self._folder, given)
        self._known.append((kafka, external_kafka.shared_metadata(kafka)))
        return kafka

    def begin_test(self) -> None:
        """Remembers what is there, which fixtures of a wider scope did."""
        self._known = [
            (kafka, external_kafka.shared_metadata(kafka)) for kafka, _ in self._known if not kafka.is_closed
        ]

    def end_test(self) -> None:
        """Brings back what was there."""
        for kafka, before in self._known:
            if not kafka.is_closed:
                external_kafka.restore(kafka, before)

    def close(self) -> None:
        """Ends them."""
        for kafka, _ in self._known:
            kafka.close()


FACTORY_KAFKAS = pytest.StashKey[FactoryKafkas]()
"""Those of this run, if the factory was used with --kafka-broker=local."""


@contextmanager
def factory_of_target(config: pytest.Config, folder: Folder) -> Iterator[Callable[..., Any]]:
    """The factory of kafka_double_factory where `kafka_double` is a real Kafka."""
    if target_of(config) != LOCAL:
        yield partial(skip_of_double, config, "kafka_double_factory")
        return
    kafkas = config.stash[FACTORY_KAFKAS] = FactoryKafkas(config, folder)
    yield kafkas.start
    kafkas.close()


@contextmanager
def _container(config: pytest.Config, folder: Folder) -> Iterator[real_kafka.RealKafka]:
    try:
        from testcontainers.kafka import KafkaContainer  # an extra
    except ImportError:
        raise pytest.UsageError("--kafka-broker=container needs testcontainers: pip install testcontainers") from None
    with KafkaContainer().with_kraft() as container:
        address = str(container.get_bootstrap_server())
        with real_kafka.RealKafka(address, {"bootstrap.servers": address}, "container") as kafka:
            yield kafka


STARTED: dict[str, Callable[[pytest.Config, Folder], AbstractContextManager[RealKafka]]] = {
    LOCAL: _local,
    "container": _container,
}
"""The kinds of Kafka that the plugin starts."""
