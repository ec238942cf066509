"""Kafka Connect and MirrorMaker run with the settings that docs/recipes.md shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.local import Missing
from interop.support import unique
from kafkadouble import KafkaDouble
from tests.support.ports import HOST, free_ports
from tests.support.waiting import eventually

from .connect import CONNECT, MIRROR_MAKER, Worker, class_path, running

pytestmark = pytest.mark.timeout(600)
ORDERS = ["two pears", "three plums"]
FILES = "org.apache.kafka.connect.file.FileStream"
PATIENCE = 60.0
KINDS = ("config", "offset", "status")
"""The internal topics of a worker."""


@pytest.fixture(autouse=True)
def _needs_java() -> None:
    try:
        class_path()
    except Missing as reason:
        pytest.skip(f"KAFKA CONNECT WAS NOT RUN: {reason}")


def test_connect_writes_lines_in_transactions_and_reads_them(broker: Broker, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    topic, worker, plugins = unique("connect"), Worker(HOST, port), tmp_path / "plugins"
    lines, copy = tmp_path / "lines", tmp_path / "copy"
    plugins.mkdir()
    lines.write_text("".join(f"{order}\n" for order in ORDERS))
    own = {
        "bootstrap.servers": broker.bootstrap,
        "listeners": f"http://{HOST}:{port}",
        "plugin.path": str(plugins),
        **{name: unique("connect") for name in ("group.id", *(f"{kind}.storage.topic" for kind in KINDS))},
    }
    source = {"connector.class": f"{FILES}SourceConnector", "file": str(lines), "topic": topic}
    sink = {"connector.class": f"{FILES}SinkConnector", "file": str(copy), "topics": topic}
    with running(CONNECT, tmp_path, own):
        _start(worker, "source", {**source, "exactly.once.support": "required"})
        _start(worker, "sink", {**sink, "consumer.override.auto.offset.reset": "earliest"})
        eventually(lambda: copy.exists() and copy.read_text().split("\n"), lambda found: found == [*ORDERS, ""])


def _start(worker: Worker, name: str, config: Mapping[str, str]) -> None:
    """Creates a connector, and waits until its only task runs."""
    eventually(lambda: worker.put(name, config), lambda status: status == 201, within=PATIENCE)
    eventually(lambda: worker.states(name), lambda found: found == ["RUNNING", "RUNNING"], within=PATIENCE)


def test_mirror_maker_copies_records_and_offsets_of_groups(broker: Broker, tmp_path: Path) -> None:
    topic, group = unique("mirror"), unique("mirror")
    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(topic, 1, {})
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for order in ORDERS:
        producer.produce(topic, order, "42")
    assert producer.flush(PATIENCE) == 0
    with KafkaDouble() as target:
        own = {"a.bootstrap.servers": broker.bootstrap, "b.bootstrap.servers": target.bootstrap_servers}
        with running(MIRROR_MAKER, tmp_path, {**own, "a->b.topics": topic}):
            mirrored = target.wait_for_records(f"a.{topic}", 2, timeout=PATIENCE)
            assert [record.text() for record in mirrored] == ORDERS
            consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
            consumer.commit(offsets=[TopicPartition(topic, 0, 2)], asynchronous=False)
            consumer.close()
            found = eventually(target.groups, lambda groups: group in groups, within=PATIENCE)
            assert found[group].offsets[f"a.{topic}", 0].offset == 2
