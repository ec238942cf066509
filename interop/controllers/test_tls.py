"""A mixed quorum and mixed brokers that reach one another by TLS alone, with certificates of both
ends: an Apache Kafka's controller and broker beside ours.

    pytest interop/controllers/test_tls.py --broker local
"""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.clients import CREATOR
from interop.clients.shape import Record
from interop.one_node import pem_stores
from interop.quorum import BROKERS, CLIENTS, CONTROLLER
from interop.support import create_topic
from kafkadouble.access.certificates import Certificates
from tests.support.ports import HOST, free_ports
from tests.support.waiting import eventually

from . import admin
from .kinds import DOUBLE, Kafka
from .mixed import mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(600)


def test_nodes_of_both_kinds_reach_one_another_by_tls(real: Kafka, tmp_path: Path) -> None:
    certificates = Certificates("valid", ["localhost", HOST])
    overrides = {
        "listener.security.protocol.map": f"{CLIENTS}:PLAINTEXT,{BROKERS}:SSL,{CONTROLLER}:SSL",
        **pem_stores(certificates),
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
        create_topic(cluster.bootstrap, "t", 4, {"min.insync.replicas": "2"}, replication=2)
        with CREATOR.producer(cluster.bootstrap, acks="all") as producer:
            producer.send("t", [Record(b"%d" % number, partition=number % 4) for number in range(40)])
    certificates.close()
