"""`kafka.brokers` of a KafkaDouble with a single broker."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.server.log.formats.names import CLEAN_SHUTDOWN
from tests.front.hello import HELLO, received
from tests.support.client import ask


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
        assert [record.value for record in kafka.records("orders")] == [b"two pears"]


def test_a_paused_single_broker_answers_no_client_until_it_is_resumed() -> None:
    with KafkaDouble() as kafka, socket.create_connection(("127.0.0.1", kafka.port)) as sock:
        kafka.brokers[1].pause()
        sock.sendall(HELLO)
        assert kafka.describe_cluster().brokers[1].state == "paused"
        assert [*kafka.requests] == []
        kafka.brokers[1].resume()
        assert received(sock, 8)[4:] == b"\0\0\0\7"  # the correlation id
        assert kafka.describe_cluster().brokers[1].state == "running"


DIRS = pytest.mark.parametrize("folder", ["data", None], ids=["on disk", "in memory"])


def started(tmp_path: Path, folder: str | None) -> KafkaDouble:
    return KafkaDouble(data_dir=None if folder is None else tmp_path / folder, stepped=True)


@DIRS
@pytest.mark.parametrize("up", ["start", "up"])
def test_a_killed_single_broker_has_its_data_again(tmp_path: Path, folder: str | None, up: str) -> None:
    with started(tmp_path, folder) as kafka:
        kafka.produce("orders", "two pears")
        address, port = kafka.bootstrap_servers, kafka.port
        kafka.brokers[1].kill()
        kafka.brokers[1].kill()  # does nothing
        assert kafka.describe_cluster().brokers[1].state == "stopped"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        kafka.up() if up == "up" else kafka.brokers[1].start()
        assert kafka.bootstrap_servers == address
        kafka.produce("orders", "figs")
        assert [record.value for record in kafka.records("orders")] == [b"two pears", b"figs"]


def test_a_kill_leaves_no_file_that_says_the_shutdown_was_clean(tmp_path: Path) -> None:
    with started(tmp_path, "data") as kafka:
        for end in ("kill", "stop"):
            getattr(kafka.brokers[1], end)()
            assert (tmp_path / "data" / CLEAN_SHUTDOWN).exists() == (end == "stop")
            kafka.brokers[1].start()


def test_a_kill_and_lost_flushes_are_a_loss_of_power(tmp_path: Path) -> None:
    with started(tmp_path, "data") as kafka:
        kafka.create_topic("orders", config={"flush.messages": 1})
        kafka.create_topic("other", config={"flush.messages": 1})
        kafka.produce("orders", "kept")
        with kafka.lose_flushes(topic="orders") as handle:
            kafka.produce("orders", "lost")
            kafka.produce("other", "kept")
        assert (handle.hits, len(kafka.records("orders"))) == (1, 2)
        epoch = kafka.leader_epoch("orders", 0)
        kafka.brokers[1].kill()
        kafka.up()
        assert [[record.value for record in kafka.records(name)] for name in ("orders", "other")] == [[b"kept"]] * 2
        assert kafka.leader_epoch("orders", 0) > epoch  # so that clients can notice
        kafka.produce("orders", "next")
        assert [record.offset for record in kafka.records("orders")] == [0, 1]


@pytest.mark.parametrize("brokers", [1, 2])
def test_a_request_that_waits_is_never_answered_by_a_killed_broker(tmp_path: Path, brokers: int) -> None:
    double = KafkaDouble(brokers=brokers, data_dir=tmp_path, stepped=True)
    with double as kafka, socket.create_connection(("127.0.0.1", kafka.port)) as sock:
        kafka.ignore("Fetch")
        kafka.brokers[1].pause()
        sock.sendall(HELLO)
        kafka.brokers[1].kill()
        with suppress(ConnectionResetError):  # the request may be in the buffer of the socket
            assert sock.recv(1) == b""
        kafka.up()
        assert kafka.describe_cluster().brokers[1].state == "running"
        assert len(kafka.rules) == 1  # they stay, as after `down`


@DIRS
@pytest.mark.parametrize("fault", ["pause", "kill"])
@pytest.mark.parametrize("end", ["reset", "restore", "down and up", "stop and start"])
def test_paused_or_killed_single_broker_runs_again_after_a_restart(
    tmp_path: Path, folder: str | None, fault: str, end: str
) -> None:
    with started(tmp_path, folder) as kafka:
        kafka.produce("orders", "two pears")
        snapshot = kafka.snapshot()
        getattr(kafka.brokers[1], fault)()
        if end == "restore":
            kafka.restore(snapshot)
        else:
            for verb in end.split(" and "):
                getattr(kafka, verb)()
        assert kafka.describe_cluster().brokers[1].state == "running"
        assert ask(("127.0.0.1", kafka.port), ApiVersionsRequest(), 0).error_code == 0
        keeps_data = end in ("restore", "down and up") or (end == "stop and start" and folder is not None)
        assert ("orders" in kafka.topics()) == keeps_data


def test_verb_that_needs_another_broker_is_refused_by_a_single_broker() -> None:
    with KafkaDouble() as kafka:
        with pytest.raises(UsageError, match=r"a single broker cannot be isolated: give brokers=2 or more"):
            kafka.brokers[1].isolate()
        kafka.brokers[1].join()
