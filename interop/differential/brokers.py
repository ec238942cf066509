"""The two brokers of a comparison: an Apache Kafka, and a kafkadouble with the same
server.properties, each a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interop.controllers.kinds import DOUBLE
from interop.local import cluster
from interop.quorum import CONTROLLER
from tests.support.ports import free_ports
from tests.support.serving import serving

SETTINGS = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 300,
    "group.max.size": 3,
    "group.streams.max.size": 3,
    "group.streams.assignment.interval.ms": 0,
    "offset.metadata.max.bytes": 40,
}
"""Fifty partitions of each internal topic would only be slower. The delay is the double's default.
The limits are small enough for scripts to reach them."""


FOLDER = "{folder}"
"""Stands in settings for a folder of the broker; with `log.dirs` the double keeps its logs there,
too, instead of in memory."""

Addresses = tuple[str, str]
"""The addresses of the kafkadouble and of the Apache Kafka."""


@contextmanager
def both(folder: Path, more: tuple[str, ...] = ()) -> Iterator[Addresses]:
    """The addresses of a kafkadouble and an Apache Kafka, both with the settings `more` as
    `key=value`. Raises Missing."""
    with _both_listeners(folder, more) as (brokers, _):
        yield brokers


@contextmanager
def controllers(folder: Path, more: tuple[str, ...] = ()) -> Iterator[Addresses]:
    """The addresses of the controllers of such two. Most brokers exist for them only in the
    requests of tests, and are fenced after two minutes without a heartbeat. Raises Missing."""
    with _both_listeners(folder, ("broker.session.timeout.ms=120000", *more)) as (_, found):
        yield found


@contextmanager
def _both_listeners(folder: Path, more: tuple[str, ...]) -> Iterator[tuple[Addresses, Addresses]]:
    """The addresses of their brokers, and those of their controllers."""
    folder.mkdir(exist_ok=True)
    theirs, ours = f"{folder}/theirs", f"{folder}/ours"
    given = dict(each.replace(FOLDER, theirs).split("=", 1) for each in more)
    with cluster(folder, overrides={**SETTINGS, **given}) as kafka:
        config = next(folder.rglob("server.properties"))
        host, port = kafka.nodes[0].seat.known[CONTROLLER]
        own_port, own_controller_port = free_ports(2)
        controller, own_controller = f"{host}:{port}", f"{host}:{own_controller_port}"
        own = config.with_name("double.properties")
        properties = (
            config.read_text()
            .replace(f":{kafka.bootstrap.rpartition(':')[2]}", f":{own_port}")
            .replace(controller, own_controller)
            .replace(str(kafka.nodes[0].data), f"{folder}/own")
            .replace(theirs, ours)
        )
        own.write_text(properties)
        if "log.dirs" in given:
            subprocess.run(DOUBLE.format(own, kafka.nodes[0].cluster_id, ()), check=True, capture_output=True)
        with serving("--config", str(own)) as double:
            yield (double.startup["bootstrap.servers"], kafka.bootstrap), (own_controller, controller)
