"""A controller and two brokers in processes of their own, which log in to one another by SASL: to
the controller by PLAIN, to brokers by SCRAM."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource, NewTopic

from tests.front.combined import formatted
from tests.front.replicating import assert_replicated
from tests.support.ports import free_ports
from tests.support.serving import Serving, beginning, serving

LONG_S = 30.0
MODULES = "org.apache.kafka.common.security"
LOGIN = "listener.name.controller.plain.sasl.jaas.config"
ADMIN = 'username="admin" password="secret"'


def settings(folder: Path, id: int, controller_port: int, password: str = "secret") -> Path:
    """Writes the server.properties of the controller, which has the id 3, or of a broker, and
    formats its directory."""
    is_controller = id == 3
    login = ADMIN.replace("secret", password)
    lines = {
        "node.id": id,
        "process.roles": "controller" if is_controller else "broker",
        "listeners": f"CONTROLLER://127.0.0.1:{controller_port}" if is_controller else "SASL://127.0.0.1:0",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "SASL:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "inter.broker.listener.name": "SASL",
        "controller.quorum.voters": f"3@127.0.0.1:{controller_port}",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        LOGIN: f'{MODULES}.plain.PlainLoginModule required {login} user_admin="secret";',
        "listener.name.sasl.scram-sha-512.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required {login};",
        "connections.max.reauth.ms": 60_000,
        "log.dirs": folder / str(id),
        "offsets.topic.replication.factor": 2,
    }
    return formatted(folder, id, lines, "--add-scram", "SCRAM-SHA-512=[name=admin,password=secret]")


def test_brokers_replicate_and_speak_to_their_controller_by_sasl(tmp_path: Path) -> None:
    [port] = free_ports(1)
    files = {id: settings(tmp_path, id, port) for id in (3, 1, 2)}
    with (
        serving("--config", str(files[3])),
        serving("--config", str(files[1])) as one,
        serving("--config", str(files[2])),
    ):
        assert_replicated(client_config(one))


def client_config(broker: Serving) -> dict[str, Any]:
    return {
        "bootstrap.servers": "{}:{}".format(*broker.address),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "admin",
        "sasl.password": "secret",
    }


def test_a_controller_that_refuses_the_login_is_named(tmp_path: Path) -> None:
    [port] = free_ports(1)
    with (
        serving("--config", str(settings(tmp_path, 3, port))),
        beginning("--config", str(settings(tmp_path, 1, port, "wrong"))) as served,
    ):
        line = served.line_with("refuses the login")
        assert f"127.0.0.1:{port}: it refuses the login by PLAIN: Authentication failed: Invalid username" in line


def test_an_altered_login_counts_while_a_broker_runs(tmp_path: Path) -> None:
    """The controller comes back with another password, after the broker's login was altered to
    it."""
    [port] = free_ports(1)
    controller, broker = settings(tmp_path, 3, port), settings(tmp_path, 1, port)
    with ExitStack() as stack:
        first = stack.enter_context(serving("--config", str(controller)))
        admin = AdminClient(client_config(stack.enter_context(serving("--config", str(broker)))))
        resource = ConfigResource(
            ConfigResource.Type.BROKER,
            "1",
            incremental_configs=[
                ConfigEntry(
                    LOGIN,
                    f"{MODULES}.plain.PlainLoginModule required {ADMIN.replace('secret', 'changed')};",
                    incremental_operation=AlterConfigOpType.SET,
                )
            ],
        )
        assert not is_altered(admin)
        [altered] = admin.incremental_alter_configs([resource], request_timeout=LONG_S).values()
        altered.result()
        while not is_altered(admin):  # the controller knows it before the broker does
            pass
        first.end(signal.SIGKILL)
        controller.write_text(controller.read_text("utf-8").replace('user_admin="secret"', 'user_admin="changed"'))
        stack.enter_context(serving("--config", str(controller)))
        [created] = admin.create_topics([NewTopic("orders", 1, 1)], request_timeout=LONG_S).values()
        created.result()


def is_altered(admin: Any) -> bool:
    """Whether broker 1 has learned of an altered login to its controller."""
    resource = ConfigResource(ConfigResource.Type.BROKER, "1")
    [described] = admin.describe_configs([resource], request_timeout=LONG_S).values()
    return bool(described.result()[LOGIN].source == ConfigSource.DYNAMIC_BROKER_CONFIG.value)
