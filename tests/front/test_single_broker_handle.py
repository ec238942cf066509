"""`kafka.brokers` of a KafkaDouble with a single broker."""

from __future__ import annotations

import socket

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from tests.front.client import _exactly, ask


def test_a_single_broker_has_a_handle_before_and_after_its_start() -> None:
    kafka = KafkaDouble(config={"node.id": 7})
    assert [*kafka.brokers] == [7]
    with kafka:
        (handle,) = kafka.brokers.values()
        assert (handle.id, handle.bootstrap, handle.running) == (7, kafka.bootstrap_servers, True)
        assert handle.bootstrap_on("PLAINTEXT") == handle.bootstrap
        assert handle.metrics
        assert repr(handle) == f"<broker 7 at {handle.bootstrap}, running>"
        with pytest.raises(UsageError, match=r"there is no broker 1: ids are 7"):
            kafka.brokers[1]


def test_a_single_broker_is_stopped_and_started_with_its_data() -> None:
    with KafkaDouble() as kafka:
        kafka.produce("orders", "two pears")
        kafka.brokers[1].stop()
        assert not kafka.brokers[1].running
        for refused in (lambda: kafka.brokers[1].metrics, kafka.brokers[1].pause):
            with pytest.raises(UsageError, match="broker 1 does not run"):
                refused()
        kafka.brokers[1].start()
        assert [each.value for each in kafka.records("orders")] == [b"two pears"]


def test_a_paused_single_broker_answers_no_client_until_it_is_resumed() -> None:
    with KafkaDouble() as kafka, socket.create_connection(("127.0.0.1", kafka.port)) as sock:
        kafka.brokers[1].pause()
        sock.sendall(b"".join(map(bytes, headers.write_request(ApiVersionsRequest(), 1, "test", 0))))
        assert kafka.describe_cluster().brokers[1].state == "paused"
        assert [*kafka.requests] == []
        kafka.brokers[1].resume()
        assert _exactly(sock, 8)[4:] == b"\0\0\0\1"  # the correlation id
        assert kafka.describe_cluster().brokers[1].state == "running"


@pytest.mark.parametrize("bring_back", ["reset", "stop and start", "down and up", "restore"])
def test_a_paused_single_broker_runs_again_after_what_restarts_it(bring_back: str) -> None:
    with KafkaDouble() as kafka:
        snapshot = kafka.snapshot()
        kafka.brokers[1].pause()
        if bring_back == "reset":
            kafka.reset()
        elif bring_back == "restore":
            kafka.restore(snapshot)
        elif bring_back == "down and up":
            kafka.down()
            kafka.up()
        else:
            kafka.stop()
            kafka.start()
        assert kafka.describe_cluster().brokers[1].state == "running"
        assert ask(("127.0.0.1", kafka.port), ApiVersionsRequest(), 0).error_code == 0


def test_what_takes_another_node_is_refused() -> None:
    with KafkaDouble() as kafka:
        with pytest.raises(UsageError, match=r"a single broker cannot be killed: give brokers=2 or more"):
            kafka.brokers[1].kill()
        with pytest.raises(UsageError, match=r"a single broker cannot be isolated: give brokers=2 or more"):
            kafka.brokers[1].isolate()
        kafka.brokers[1].join()
