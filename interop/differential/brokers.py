"""The two brokers of a comparison: an Apache Kafka, and a kafkadouble with the same
server.properties, each a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interop.local import cluster
from interop.quorum import CONTROLLER

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
        controller, own_controller = f"{host}:{port}", f"{host}:{_free_port()}"
        own = config.with_name("double.properties")
        properties = (
            config.read_text()
            .replace(f":{kafka.bootstrap.rpartition(':')[2]}", f":{_free_port()}")
            .replace(controller, own_controller)
            .replace(str(kafka.nodes[0].data), f"{folder}/own")
            .replace(theirs, ours)
        )
        own.write_text(properties)
        if "log.dirs" in given:
            command = [sys.executable, "-m", "kafkadouble", "format", "-c", str(own), "-t", kafka.nodes[0].cluster_id]
            subprocess.run(command, check=True, capture_output=True)
        with _double(own) as bootstrap:
            yield (bootstrap, kafka.bootstrap), (own_controller, controller)


@contextmanager
def _double(config: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "kafkadouble", "serve", "--quiet", "--config", str(config)]
    with (
        config.with_suffix(".log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            key, _, bootstrap = process.stdout.readline().strip().partition("=")
            assert key == "bootstrap.servers", f"the double ended: {config.with_suffix('.log').read_text()}"
            yield bootstrap
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port: int = held.getsockname()[1]
        return port
