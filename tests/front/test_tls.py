"""Listeners with TLS: handshakes that fail or never come, clients of the other kind, principals,
slow readers, and certificates that are replaced while clients are connected."""

from __future__ import annotations

import gc
import logging
import os
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import confluent_kafka.admin
import pytest

from kafkadouble import KafkaDouble
from kafkadouble.access.certificates import Certificates
from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.front.hello import frame
from tests.support.client import ask

ck: Any = confluent_kafka.admin
SILENT = 300
PATIENCE_S = 30
MEGABYTE = 1 << 20


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(security="SSL") as running:
        yield running


def context(kafka: KafkaDouble, user: str | None = None) -> ssl.SSLContext:
    found = kafka.client_config(user, "aiokafka")["ssl_context"]
    assert isinstance(found, ssl.SSLContext)
    return found


def connected(kafka: KafkaDouble, user: str | None = None) -> ssl.SSLSocket:
    sock = socket.create_connection(("127.0.0.1", kafka.port), PATIENCE_S)
    return context(kafka, user).wrap_socket(sock, server_hostname="localhost")


def answers(sock: socket.socket) -> bool:
    sock.sendall(b"".join(headers.write_request(ApiVersionsRequest(), 7, "test", 0)))
    return frame(sock)[:4] == b"\0\0\0\7"


def principals(kafka: KafkaDouble) -> set[str]:
    listener = kafka._double_host.serving().broker.controlling.listener
    return kafka._double_host.call(lambda: {each.connection.peer.principal for each in listener.connections})


@pytest.mark.parametrize(
    ("user", "principal"), [(None, "User:ANONYMOUS"), ("alice", "User:alice"), ("a b.c-d_e@f", "User:a b.c-d_e@f")]
)
def test_the_principal_is_that_of_the_certificate(kafka: KafkaDouble, user: str | None, principal: str) -> None:
    with connected(kafka, user) as sock:
        assert answers(sock)
        assert principals(kafka) == {principal}


def test_a_certificate_that_no_rule_matches_ends_the_connection(caplog: pytest.LogCaptureFixture) -> None:
    rules = {"ssl.principal.mapping.rules": "RULE:^CN=x.*$/x/"}
    with KafkaDouble(security="SSL", config=rules) as kafka, caplog.at_level(logging.INFO):
        with connected(kafka) as sock:
            assert answers(sock)
        with connected(kafka, "alice") as sock:
            assert sock.recv(1) == b""
        assert "has no principal: no rule of ssl.principal.mapping.rules applies to CN=alice" in caplog.text


def test_a_client_must_show_a_certificate_where_it_is_required(caplog: pytest.LogCaptureFixture) -> None:
    required = {"ssl.client.auth": "required"}
    with caplog.at_level(logging.INFO), KafkaDouble(security="SSL", config=required) as kafka:
        with connected(kafka, "alice") as sock:
            assert answers(sock)
        with connected(kafka) as sock, pytest.raises(ssl.SSLError, match="CERTIFICATE_REQUIRED"):
            sock.recv(1)
    assert "the TLS handshake has failed: peer did not return a certificate" in caplog.text


def test_a_client_without_tls_is_told_of_in_one_line(kafka: KafkaDouble, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), connected(kafka) as other:
        with pytest.raises(ConnectionError):
            ask(("127.0.0.1", kafka.port), MetadataRequest(), 9)
        assert answers(other)
    lines = [record.getMessage() for record in caplog.records if "no TLS" in record.getMessage()]
    assert len(lines) == 1
    assert "security.protocol=SSL" in lines[0]


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
@pytest.mark.parametrize("first", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00"])
def test_connections_that_never_shake_hands_leave_nothing(first: bytes) -> None:
    """They are closed after `connections.max.idle.ms`; a client is served meanwhile."""
    config = {"connections.max.idle.ms": 1500, "connection.failed.authentication.delay.ms": 100}
    with KafkaDouble(security="SSL", config=config) as kafka:
        descriptors, sizes = [], []
        for _ in range(3):
            with ExitStack() as stack:
                socks = [
                    stack.enter_context(socket.create_connection(("127.0.0.1", kafka.port), PATIENCE_S))
                    for _ in range(SILENT)
                ]
                for sock in socks:
                    sock.sendall(first)
                with connected(kafka) as client:
                    assert answers(client)
                for sock in socks:
                    _until_closed(sock)
            gc.collect()
            kafka._double_host.call(lambda: None)
            descriptors.append(len(os.listdir("/proc/self/fd")))
            sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        quotas = kafka._double_host.serving().broker.controlling.listener._acceptors[0].quotas
        assert kafka._double_host.call(lambda: quotas.total) == 0
        assert descriptors[2] <= descriptors[0] + 2
        assert sizes[2] < sizes[0] + 16 * MEGABYTE


def _until_closed(sock: socket.socket) -> None:
    try:
        while sock.recv(4096):
            pass
    except ConnectionError:
        return


def test_connections_in_their_handshake_count() -> None:
    with (
        KafkaDouble(security="SSL", config={"max.connections.per.ip": 1}) as kafka,
        socket.create_connection(("127.0.0.1", kafka.port), PATIENCE_S),
        socket.create_connection(("127.0.0.1", kafka.port), PATIENCE_S) as second,
    ):
        assert second.recv(1) == b""


def test_stop_ends_tls_handshakes_under_way() -> None:
    with ExitStack() as stack:
        with KafkaDouble(security="SSL") as kafka:
            for _ in range(20):
                sock = stack.enter_context(socket.create_connection(("127.0.0.1", kafka.port), PATIENCE_S))
                sock.sendall(b"\x16\x03")
            with connected(kafka) as client:
                assert answers(client)
        _until_closed(sock)


def test_a_client_that_does_not_read_holds_up_no_more_than_itself(kafka: KafkaDouble) -> None:
    """It has pipelined fetches of 60 MB; the answers that it does not read are not made."""
    kafka.create_topic("t")
    for _ in range(4):
        kafka.produce("t", b"x" * (MEGABYTE - 1000))
    topic = FetchRequest.FetchTopic(
        topic="t", partitions=[FetchRequest.FetchPartition(partition=0, partition_max_bytes=MEGABYTE * 4)]
    )
    request = FetchRequest(max_wait_ms=0, max_bytes=4 * MEGABYTE, topics=[topic])
    with connected(kafka) as slow, connected(kafka) as other:
        for number in range(20):
            slow.sendall(b"".join(headers.write_request(request, number, "slow", 11)))
        assert answers(other)
        assert (
            kafka._double_host.call(lambda: kafka._double_host.serving().broker.controlling.node.unsent) < 10 * MEGABYTE
        )
        numbers = [int.from_bytes(frame(slow)[:4], "big") for _ in range(20)]
        assert numbers == list(range(20))
        assert answers(other)


def test_the_files_of_the_certificates_go_with_the_double() -> None:
    with KafkaDouble(security="SSL") as kafka:
        file = Path(kafka.client_config("alice")["ssl.key.location"])
        assert (file.parent.stat().st_mode & 0o777, file.exists()) == (0o700, True)
    del kafka
    gc.collect()
    assert not file.parent.exists()


def altered(kafka: KafkaDouble, config: dict[str, str]) -> None:
    client = ck.AdminClient(kafka.client_config())
    resource = ck.ConfigResource(ck.ConfigResource.Type.BROKER, "1")
    for name, value in config.items():
        entry = ck.ConfigEntry(name, value, incremental_operation=ck.AlterConfigOpType.SET)
        resource.add_incremental_config(entry)
    client.incremental_alter_configs([resource])[resource].result(PATIENCE_S)


def shown(kafka: KafkaDouble) -> bytes | None:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", kafka.port), PATIENCE_S) as sock, made.wrap_socket(sock) as secured:
        return secured.getpeercert(binary_form=True)


def test_new_connections_have_new_certificates(kafka: KafkaDouble, tmp_path: Path) -> None:
    made = Certificates("valid", ["localhost", "127.0.0.1", "::1"])
    pair = made.of_brokers()
    path = tmp_path / "next.pem"
    path.write_text(pair.key + pair.certificate)
    prefix, before = "listener.name.ssl.ssl.keystore.", shown(kafka)
    with connected(kafka) as old:
        with pytest.raises(confluent_kafka.KafkaException, match="Validation of dynamic config update of SSLFactory"):
            altered(kafka, {f"{prefix}location": str(tmp_path / "gone"), f"{prefix}type": "PEM"})
        assert shown(kafka) == before
        new = {f"{prefix}key": pair.key, f"{prefix}certificate.chain": pair.certificate}
        with pytest.raises(confluent_kafka.KafkaException, match="the certificate is refused"):
            altered(kafka, new)
        authority = Path(kafka.client_config()["ssl.ca.location"]).read_text()
        altered(kafka, {"listener.name.ssl.ssl.truststore.certificates": authority + made.authority})
        altered(kafka, new)
        assert shown(kafka) == ssl.PEM_cert_to_DER_cert(pair.certificate) != before
        assert answers(old)
    made.close()
