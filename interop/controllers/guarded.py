"""A cluster of one controller and a real broker that requires passwords (SCRAM) on a listener of
its own, and clients that authenticate there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import confluent_kafka
import confluent_kafka.admin

from interop.clients.confluent import translated_errors
from interop.clients.shape import PATIENCE
from tests.support.ports import HOST, free_ports
from tests.support.waiting import eventually

from .kinds import Kind
from .mixed import Mixed, mixed
from .plan import broker, controller

ck: Any = confluent_kafka
ca: Any = confluent_kafka.admin

LISTENER = "SASL"
MECHANISMS = ["SCRAM-SHA-256", "SCRAM-SHA-512"]
ROUNDS = 4096
AUTHENTICATION: int = ck.KafkaError._AUTHENTICATION
"""librdkafka's error code for a failed authentication."""


class Guarded(NamedTuple):
    """A cluster, and the address at which its broker requires passwords."""

    cluster: Mixed
    bootstrap: str


@contextmanager
def opened(folder: Path, ours: Kind, real: Kind, overrides: Mapping[str, str]) -> Iterator[Guarded]:
    """The cluster, as long as the `with` block runs; `overrides` are settings of both nodes."""
    members, (port,) = [controller(0, ours), broker(0, real)], free_ports(1)
    with mixed(folder, *members, overrides=overrides, running=False) as cluster:
        (node,) = cluster.brokers
        addresses = f"PLAINTEXT://{node.bootstrap},{LISTENER}://{HOST}:{port}"
        jaas = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        users = {f"listener.name.sasl.{name.lower()}.sasl.jaas.config": jaas for name in MECHANISMS}
        node.configure(
            listeners=addresses,
            advertised_listeners=addresses,
            listener_security_protocol_map=f"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{LISTENER}:SASL_PLAINTEXT",
            sasl_enabled_mechanisms=",".join(MECHANISMS),
            **users,
        )
        for each in cluster.nodes:
            each.begin()
        for each in cluster.nodes:
            each.wait_ready()
        yield Guarded(cluster, f"{HOST}:{port}")


def client_settings(guarded: Guarded, user: str, password: str, mechanism: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": guarded.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
        "log_level": 0,
        "error_cb": lambda error: None,
    }


def let_in(guarded: Guarded, user: str, password: str, mechanism: str) -> None:
    """Waits until a user can authenticate: a broker learns of a password a moment after the
    controller has stored it."""
    eventually(lambda: came(guarded, user, password, mechanism), lambda code: code == 0)


def came(guarded: Guarded, user: str, password: str, mechanism: str) -> int:
    """0 if the user could authenticate, else the client's error code."""
    codes: list[int] = []
    settings = client_settings(guarded, user, password, mechanism) | {
        "error_cb": lambda error: codes.append(error.code())
    }
    client = ca.AdminClient(settings)
    for _ in range(40):
        try:
            client.list_topics(timeout=0.25)
        except ck.KafkaException:
            client.poll(0)
            if AUTHENTICATION in codes:
                return AUTHENTICATION
        else:
            return 0
    raise AssertionError(f"neither in nor out: {codes}")


def set_password(guarded: Guarded, user: str, password: str, mechanism: str) -> None:
    scram(guarded, upsertion(user, password, mechanism))


def upsertion(user: str, password: str, mechanism: str) -> Any:
    info = ca.ScramCredentialInfo(getattr(ca.ScramMechanism, mechanism.replace("-", "_")), ROUNDS)
    return ca.UserScramCredentialUpsertion(user, info, password.encode())


def scram(guarded: Guarded, change: Any) -> None:
    client = ca.AdminClient({"bootstrap.servers": guarded.cluster.bootstrap})
    (future,) = client.alter_user_scram_credentials([change]).values()
    with translated_errors():
        future.result(PATIENCE)
