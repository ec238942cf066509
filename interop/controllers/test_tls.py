"""A mixed quorum and mixed brokers that reach one another by TLS alone, with certificates of both
ends: an Apache Kafka's controller and broker beside ours.

    pytest interop/controllers/test_tls.py --broker local
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from interop.clients import CREATOR
from interop.quorum import BROKERS, CLIENTS, CONTROLLER
from kafkadouble.access.certificates import Certificates
from tests.support.ports import HOST, free_ports
from tests.support.waiting import eventually

from . import admin
from .kinds import DOUBLE, Kafka
from .mixed import mixed
from .plan import broker, controller

ck: Any = confluent_kafka

pytestmark = pytest.mark.timeout(600)

PATIENCE_S = 60


def test_nodes_of_both_kinds_reach_one_another_by_tls(real: Kafka, tmp_path: Path) -> None:
    certificates = Certificates("valid", ["localhost", HOST])
    pair, own = certificates.of_brokers(), tmp_path / "own.pem"
    own.write_text(pair.key + pair.certificate)
    overrides = {
        "listener.security.protocol.map": f"{CLIENTS}:PLAINTEXT,{BROKERS}:SSL,{CONTROLLER}:SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(own),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.authority_file),
        "ssl.client.auth": "required",
    }
    controllers = [controller(0, DOUBLE), controller(1, real), controller(2, DOUBLE)]
    members = [*controllers, broker(0, real), broker(1, DOUBLE)]
    with mixed(tmp_path / "nodes", *members, overrides=overrides, running=False) as cluster:
        for node in cluster.brokers:
            [port] = free_ports(1)
            listeners = f"{CLIENTS}://{node.bootstrap},{BROKERS}://{HOST}:{port}"
            node.configure(listeners=listeners, advertised_listeners=listeners, inter_broker_listener_name=BROKERS)
        cluster.start()
        eventually(lambda: admin.registered(cluster.bootstrap), lambda known: known == {1: False, 2: False})
        with CREATOR.admin(cluster.bootstrap) as client:
            client.create_topic("t", 4, {"min.insync.replicas": "2"}, replication=2)
        producer = ck.Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "log_level": 0})
        failures: list[Any] = []

        def noted(error: Any, _: Any) -> None:
            if error is not None:
                failures.append(error)

        for number in range(40):
            producer.produce("t", b"%d" % number, partition=number % 4, callback=noted)
        assert producer.flush(PATIENCE_S) == 0
        assert failures == []
    certificates.close()
