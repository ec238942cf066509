"""A controller and two brokers in processes of their own, which reach one another by TLS alone and
show one another their certificates."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble.access.certificates import Certificates
from tests.front.combined import formatted
from tests.front.replicating import assert_replicated
from tests.support.ports import free_ports
from tests.support.serving import beginning, run, serving


@pytest.fixture
def certificates() -> Iterator[Certificates]:
    made = Certificates("valid", ["localhost", "127.0.0.1"])
    yield made
    made.close()


def settings(
    folder: Path, made: Certificates, id: int, controller_port: int, trust: str | None = None, host: str = "127.0.0.1"
) -> Path:
    """Writes the server.properties of the controller, which has the id 3, or of a broker, and
    formats its directory."""
    pair, own = made.of_brokers(), folder / f"{id}.pem"
    own.write_text(pair.key + pair.certificate)
    is_controller = id == 3
    lines = {
        "node.id": id,
        "process.roles": "controller" if is_controller else "broker",
        "listeners": f"CONTROLLER://{host}:{controller_port}" if is_controller else f"SSL://{host}:0",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "SSL:SSL,CONTROLLER:SSL",
        "security.inter.broker.protocol": "SSL",
        "controller.quorum.voters": f"3@{host}:{controller_port}",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": own,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": made.authority_file,
        "listener.name.controller.ssl.truststore.location": trust or made.authority_file,
        "ssl.client.auth": "required",
        "log.dirs": folder / str(id),
        "offsets.topic.replication.factor": 2,
    }
    return formatted(folder, id, lines)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_brokers_replicate_and_speak_to_their_controller_by_tls_with_a_certificate_for_one_host(
    tmp_path: Path, host: str
) -> None:
    [port] = free_ports(1)
    certificates = Certificates("valid", [host])
    files = {id: settings(tmp_path, certificates, id, port, host=host) for id in (3, 1, 2)}
    own = str(certificates.of_user("client"))
    with (
        serving("--config", str(files[3])),
        serving("--config", str(files[1])) as one,
        serving("--config", str(files[2])),
    ):
        config = {
            "bootstrap.servers": "{}:{}".format(*one.address),
            "security.protocol": "SSL",
            "ssl.ca.location": str(certificates.authority_file),
            "ssl.certificate.location": own,
            "ssl.key.location": own,
        }
        assert one.address[0] == host
        assert_replicated(config)
    certificates.close()


def test_a_controller_that_is_not_trusted_is_named(tmp_path: Path, certificates: Certificates) -> None:
    [port] = free_ports(1)
    stranger = Certificates("valid", ["127.0.0.1"])
    trust = tmp_path / "stranger.pem"
    trust.write_text(stranger.authority)
    stranger.close()
    broker = settings(tmp_path, certificates, 1, port, str(trust))
    with (
        serving("--config", str(settings(tmp_path, certificates, 3, port))),
        beginning("--config", str(broker)) as served,
    ):
        line = served.line_with("certificate is not trusted")
        assert f"127.0.0.1:{port}: its certificate is not trusted: " in line
        served.end(signal.SIGKILL)


def test_a_wrong_store_towards_other_nodes_is_reported_at_the_start(tmp_path: Path, certificates: Certificates) -> None:
    file = settings(tmp_path, certificates, 1, 1, "/no/such.pem")
    ended = run("serve", "--config", str(file))
    assert ended.returncode == 2
    assert "ssl.truststore.location (listener CONTROLLER): /no/such.pem cannot be read: no such file" in ended.stderr
