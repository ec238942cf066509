"""Measures how long no client can write after the leader dies, in real time: with the brokers in
one process, and with one process per broker.

A confluent-kafka producer with acks=all has a record acknowledged, the leader is killed at once,
and the next record is sent. Two times are measured from the death:

- until it is visible: a live broker names another leader in its Metadata, and that leader accepts a
  record (acks=all); both are tried every 20 ms;
- until the producer has its record acknowledged. It has librdkafka's defaults, so that it requests
  Metadata once a second.

A session begins with the last heartbeat before the death; there are 4.5 heartbeats in a session.
This module measures; `replication` compares with the goals.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from interop import quorum
from interop.local.process import Process
from interop.quorum import CLIENTS, CONTROLLER, Seat
from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.support.client import ask
from tests.support.ports import free_ports

REPLICAS, HEARTBEATS = 3, 4.5
"""The heartbeats in a session, as with Kafka's defaults: 9 s and 2 s."""

HOST = "127.0.0.1"
SERVER, READY = (sys.executable, "-m", "kafkadouble"), b"\npid="
PATIENCE_S, LOOK_S = 60, 0.02


class Waited(NamedTuple):
    """Seconds from a death until another leader is visible, and until the client's record is
    acknowledged.
    """

    visible: float
    acknowledged: float


def settings(session_ms: int) -> dict[str, object]:
    return {"broker.session.timeout.ms": session_ms, "broker.heartbeat.interval.ms": int(session_ms / HEARTBEATS)}


class Writer:
    """A producer with one record in flight."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 0, "log_level": 0})
        self._failed: list[KafkaError] = []

    def begin(self) -> None:
        """Sends one record."""
        self._producer.produce(self._topic, b"x" * 100, partition=0, on_delivery=self._delivered)

    def is_done(self, seconds: float) -> bool:
        """Whether the record is acknowledged within this time."""
        left = self._producer.flush(seconds)
        if self._failed:
            raise RuntimeError(f"a record was not acknowledged: {self._failed}")
        return not left

    def write(self) -> None:
        """Sends one record and waits until it is acknowledged."""
        self.begin()
        eventually(lambda: self.is_done(LOOK_S))

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed.append(error)


def create(bootstrap: str, topic: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    eventually(lambda: len(admin.list_topics(timeout=20).brokers) == REPLICAS)
    for future in admin.create_topics([NewTopic(topic, 1, REPLICAS)]).values():
        future.result(20)
    eventually(lambda: in_sync(admin, topic) == REPLICAS)
    return admin


def in_sync(admin: AdminClient, topic: str) -> int:
    return len(admin.list_topics(topic, timeout=20).topics[topic].partitions[0].isrs)


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise RuntimeError("it did not come to pass")
        time.sleep(LOOK_S)


def takes_a_record(living: Iterable[str], topic: str) -> bool:
    """Whether one of these brokers names a leader among them that accepts a record."""
    return any(_leader_takes(address, living, topic) for address in living)


def _leader_takes(address: str, living: Iterable[str], topic: str) -> bool:
    with suppress(OSError):  # no broker listens, or the connection ends
        topic_request = MetadataRequest.MetadataRequestTopic(name=topic)
        metadata = ask(address, MetadataRequest(topics=[topic_request]), 12)
        leader = metadata.topics[0].partitions[0].leader_id
        at = next((f"{broker.host}:{broker.port}" for broker in metadata.brokers if broker.node_id == leader), None)
        return (
            at is not None
            and at in living
            and not ask(at, _one_record(topic), 9).responses[0].partition_responses[0].error_code
        )
    return False


def _one_record(topic: str) -> ProduceRequest:
    batch = encode_batch([Record(0, int(time.time() * 1000), None, b"x" * 100)])
    data = ProduceRequest.PartitionProduceData(index=0, records=batch)
    topic_data = ProduceRequest.TopicProduceData(name=topic, partition_data=[data])
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic_data])


def waited(writer: Writer, topic: str, living: Sequence[str], start: float) -> Waited:
    """The two times from the death at `start`."""
    writer.begin()
    visible = acknowledged = 0.0

    def is_over() -> bool:
        nonlocal visible, acknowledged
        if not acknowledged and writer.is_done(0):
            acknowledged = time.perf_counter() - start
        if not visible and takes_a_record(living, topic):
            visible = time.perf_counter() - start
        return bool(visible and acknowledged)

    eventually(is_over)
    return Waited(visible, acknowledged)


def seconds_together(session_ms: int, deaths: int) -> list[Waited]:
    """Measures with all brokers in this process."""
    took = []
    for _ in range(deaths):
        with KafkaDouble(brokers=3, config=settings(session_ms)) as kafka:
            create(kafka.bootstrap_servers, "watched")
            writer = Writer(kafka.bootstrap_servers, "watched")
            writer.write()
            dying = kafka.brokers[kafka.leader("watched", 0) or 0]
            living = [each for each in kafka.bootstrap_servers.split(",") if each != dying.bootstrap]
            start = time.perf_counter()
            dying.kill()
            took.append(waited(writer, "watched", living, start))
    return took


def seconds_apart(session_ms: int, deaths: int) -> list[Waited]:
    """Measures with one process per broker, and one for the controller."""
    took = []
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, apart(Path(folder), session_ms) as brokers:
        bootstrap = ",".join(f"{host}:{port}" for host, port in (broker.address for broker in brokers))
        admin = create(bootstrap, "watched")
        for left in reversed(range(deaths)):
            writer = Writer(bootstrap, "watched")
            writer.write()
            leader = admin.list_topics("watched", timeout=20).topics["watched"].partitions[0].leader
            dying = next(node for node in brokers if node.id == leader)
            living = ["{}:{}".format(*broker.address) for broker in brokers if broker is not dying]
            start = time.perf_counter()
            dying.kill()
            took.append(waited(writer, "watched", living, start))
            if left:
                dying.start()
                eventually(lambda: in_sync(admin, "watched") == REPLICAS)
    return took


class Apart:
    """One node in a process of its own, with its data in files: `seat`, one of `seats`."""

    def __init__(self, seat: Seat, seats: Sequence[Seat], cluster_id: str, folder: Path, session_ms: int) -> None:
        self.id, self.address = seat.id, next(iter(seat.known.values()))
        self._config, self._log = folder / f"{seat.id}.properties", folder / f"{seat.id}.log"
        config = {**quorum.settings(seat, seats, str(folder / str(seat.id))), **settings(session_ms)}
        self._config.write_text("".join(f"{name}={value}\n" for name, value in config.items()))
        command = [*SERVER, "format", "-t", cluster_id, "-c", str(self._config)]
        subprocess.run(command, check=True, capture_output=True)
        self._process: Process | None = None

    def start(self) -> None:
        self._process = Process([*SERVER, "serve", "--quiet", "--config", str(self._config)], self._log, READY)
        self._process.wait_ready()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()


@contextmanager
def apart(folder: Path, session_ms: int) -> Iterator[list[Apart]]:
    """Three brokers and a controller."""
    ids_and_roles = quorum.roles(REPLICAS, 1)
    addresses = [(HOST, port) for port in free_ports(len(ids_and_roles))]
    seats = [_seat(id, roles, at) for (id, roles), at in zip(ids_and_roles, addresses, strict=True)]
    cluster_id = quorum.cluster_id()
    with ExitStack() as running:
        nodes = [Apart(seat, seats, cluster_id, folder, session_ms) for seat in seats]
        for node in nodes:
            running.callback(node.kill)
            node.start()
        yield [node for node, seat in zip(nodes, seats, strict=True) if seat.is_a("broker")]


def _seat(id: int, roles: tuple[str, ...], at: tuple[str, int]) -> Seat:
    known = {CLIENTS if "broker" in roles else CONTROLLER: at}
    return Seat(id, roles, known, known)
