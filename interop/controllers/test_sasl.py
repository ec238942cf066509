"""Brokers and controllers of both kinds that log in to one another, over TLS (SASL_SSL) and without
(SASL_PLAINTEXT): an Apache Kafka's broker on our controller, ours on Kafka's, and quorums of both.

    pytest interop/controllers/test_sasl.py --broker local

Nodes log in to controllers by PLAIN, since the credentials of SCRAM are in the metadata that a
controller has only when it has logged in. Brokers log in to one another by PLAIN or by SCRAM, and
the clients of the tests by SCRAM, to the same listener.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import confluent_kafka
import confluent_kafka.admin
import pytest

from interop.one_node import MODULES, pem_stores
from interop.quorum import BROKERS, CLIENTS, CONTROLLER
from interop.support import create_topic
from kafkadouble.access.certificates import Certificates
from tests.support.ports import HOST, free_ports
from tests.support.waiting import PATIENCE

from . import admin
from .guarded import AUTHENTICATION
from .kinds import DOUBLE, Kafka, Kind
from .mixed import Mixed, mixed
from .plan import Member, broker, controller

ck: Any = confluent_kafka
ca: Any = confluent_kafka.admin

pytestmark = pytest.mark.timeout(600)

SASL_SSL, SASL_PLAINTEXT = "SASL_SSL", "SASL_PLAINTEXT"
SCRAM, PLAIN = "SCRAM-SHA-512", "PLAIN"
NODE = 'username="node" password="node-secret"'
PLAIN_LOGIN = f'{MODULES}.plain.PlainLoginModule required {NODE} user_node="node-secret";'
SCRAM_LOGIN = f"{MODULES}.scram.ScramLoginModule required {NODE};"
USERS = {"node": "node-secret", "alice": "alice-secret"}
TOPIC, PARTITIONS, COUNT = "t", 4, 40


class Secured(NamedTuple):
    """A cluster, where and by which protocol clients log in, and the certificates."""

    cluster: Mixed
    bootstrap: str
    protocol: str
    certificates: Certificates

    def client(self, password: str = USERS["alice"], **more: Any) -> dict[str, Any]:
        return {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": self.protocol,
            "ssl.ca.location": str(self.certificates.authority_file),
            "sasl.mechanism": SCRAM,
            "sasl.username": "alice",
            "sasl.password": password,
            "log_level": 0,
            "error_cb": lambda error: None,
            **more,
        }


def settings(certificates: Certificates, protocol: str, mechanism: str) -> Mapping[str, str]:
    """Those that all nodes have."""
    return {
        "listener.security.protocol.map": f"{CLIENTS}:PLAINTEXT,{BROKERS}:{protocol},{CONTROLLER}:{protocol}",
        "sasl.mechanism.controller.protocol": PLAIN,
        "sasl.mechanism.inter.broker.protocol": mechanism,
        "listener.name.controller.sasl.enabled.mechanisms": PLAIN,
        "listener.name.controller.plain.sasl.jaas.config": PLAIN_LOGIN,
        "listener.name.brokers.sasl.enabled.mechanisms": f"{PLAIN},{SCRAM}",
        "listener.name.brokers.plain.sasl.jaas.config": PLAIN_LOGIN,
        f"listener.name.brokers.{SCRAM.lower()}.sasl.jaas.config": SCRAM_LOGIN,
        **pem_stores(certificates),
    }


@contextmanager
def opened(folder: Path, protocol: str, mechanism: str, members: Sequence[Member]) -> Iterator[Secured]:
    certificates = Certificates("valid", ["localhost", HOST])
    common = settings(certificates, protocol, mechanism)
    users = [f"{SCRAM}=[name={name},password={password}]" for name, password in USERS.items()]
    words = [word for user in users for word in ("--add-scram", user)]
    with mixed(folder / "nodes", *members, overrides=common, running=False, formatted_with=words) as cluster:
        addresses = []
        for node in cluster.brokers:
            [port] = free_ports(1)
            addresses.append(f"{HOST}:{port}")
            listeners = f"{CLIENTS}://{node.bootstrap},{BROKERS}://{addresses[-1]}"
            node.configure(listeners=listeners, advertised_listeners=listeners, inter_broker_listener_name=BROKERS)
        cluster.start()
        yield Secured(cluster, ",".join(addresses), protocol, certificates)
    certificates.close()


def write(secured: Secured, first: int, count: int) -> None:
    """Writes numbers as a client that has logged in, to each partition in turn."""
    producer, failures = ck.Producer(secured.client(acks="all")), []

    def noted(error: Any, _: Any) -> None:
        if error is not None:
            failures.append(error)

    for number in range(first, first + count):
        producer.produce(TOPIC, b"%d" % number, partition=number % PARTITIONS, on_delivery=noted)
    assert producer.flush(PATIENCE) == 0
    assert failures == []


def read(secured: Secured, count: int) -> list[int]:
    """The numbers that a client that has logged in reads, in order of their size."""
    consumer = ck.Consumer({**secured.client(), "group.id": "none", "enable.auto.commit": False})
    try:
        consumer.assign([ck.TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])
        found: list[int] = []
        while len(found) < count:
            got = consumer.consume(count - len(found), PATIENCE)
            assert got, f"{len(found)} of {count} records"
            found += [int(each.value()) for each in got if each.error() is None]
        return sorted(found)
    finally:
        consumer.close()


def is_refused(secured: Secured) -> bool:
    """Whether a wrong password is refused, as the client reports it."""
    codes: list[int] = []
    client = ca.AdminClient(secured.client("wrong", error_cb=lambda error: codes.append(error.code())))
    for _ in range(int(PATIENCE)):
        client.poll(1)
        if AUTHENTICATION in codes:
            return True
    return False


def carries(secured: Secured) -> None:
    """Records are replicated in both directions: each broker in turn leads every partition, is
    written to, and is killed; the other then has everything."""
    cluster = secured.cluster
    at, ids = cluster.brokers[0].bootstrap, sorted(node.id for node in cluster.brokers)
    create_topic(at, TOPIC, PARTITIONS, replication=2)
    admin.settled(at, TOPIC, [ids] * PARTITIONS)
    assert is_refused(secured)
    written = COUNT
    write(secured, 0, written)
    for killed, other in ((0, 1), (1, 0)):
        cluster.brokers[killed].kill()
        remaining = cluster.brokers[other]
        admin.led(remaining.bootstrap, TOPIC, [remaining.id] * PARTITIONS)
        assert read(secured, written) == list(range(written))
        write(secured, written, COUNT)
        written += COUNT
        cluster.brokers[killed].start()
        admin.settled(remaining.bootstrap, TOPIC, [ids] * PARTITIONS)
    assert read(secured, written) == list(range(written))


def test_a_broker_of_each_kind_on_our_controller(real: Kafka, ours: Kind, tmp_path: Path) -> None:
    members = [controller(0, ours), broker(0, real), broker(1, DOUBLE)]
    with opened(tmp_path, SASL_SSL, SCRAM, members) as secured:
        carries(secured)


LONG = [
    pytest.param(SASL_SSL, PLAIN, "ours", id="our controller, PLAIN"),
    pytest.param(SASL_SSL, SCRAM, "theirs", id="Kafka's controller, SCRAM"),
    pytest.param(SASL_SSL, PLAIN, "theirs", id="Kafka's controller, PLAIN"),
    pytest.param(SASL_SSL, SCRAM, "both", id="a quorum of both"),
    pytest.param(SASL_PLAINTEXT, SCRAM, "both", id="a quorum of both, without TLS"),
]


@pytest.mark.long
@pytest.mark.parametrize(("protocol", "mechanism", "led_by"), LONG)
def test_other_controllers_and_mechanisms(
    real: Kafka, tmp_path: Path, protocol: str, mechanism: str, led_by: str
) -> None:
    kinds: Mapping[str, Sequence[Kind]] = {"ours": [DOUBLE], "theirs": [real], "both": [DOUBLE, real, DOUBLE]}
    controllers = [controller(number, kind) for number, kind in enumerate(kinds[led_by])]
    with opened(tmp_path, protocol, mechanism, [*controllers, broker(0, real), broker(1, DOUBLE)]) as secured:
        carries(secured)
