"""KafkaDouble without a client: what it offers, what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import socket
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble, KafkaError, Rule, SteppedClock, UsageError
from kafkadouble.wire.batch import Record, encode_batch, encode_control_batch
from tests.server.harness import NOW

HELLO = struct.pack(">ihhih", 14, 18, 0, 7, 4) + b"test"


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(seed=1) as kafka:
        yield kafka


def connect(kafka: KafkaDouble) -> socket.socket:
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def says_hello(sock: socket.socket) -> bool:
    """Whether an ApiVersions request is answered without an error."""
    try:
        sock.sendall(HELLO)
        size = int.from_bytes(sock.recv(4, socket.MSG_WAITALL), "big")
        return size > 6 and sock.recv(size, socket.MSG_WAITALL)[:6] == struct.pack(">ih", 7, 0)
    except ConnectionError:
        return False


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


class TestLife:
    def test_serves_from_start_to_stop(self) -> None:
        kafka = KafkaDouble()
        assert repr(kafka) == "<KafkaDouble, not running>"
        assert kafka.start() is kafka
        port = kafka.port
        assert kafka.bootstrap_servers == f"127.0.0.1:{port}"
        with connect(kafka) as sock:
            assert says_hello(sock)
            kafka.stop()
            assert not says_hello(sock), "whoever does not leave is cut off"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        kafka.stop()
        assert repr(kafka) == "<KafkaDouble, not running>"

    def test_leaves_neither_thread_nor_socket(self) -> None:
        before = threads()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with KafkaDouble() as kafka, connect(kafka) as sock:
                assert says_hello(sock)
                assert "kafkadouble" in threads() - before
            with pytest.raises(ZeroDivisionError), KafkaDouble() as kafka:
                raise ZeroDivisionError
            gc.collect()
        assert threads() == before
        assert [str(warning.message) for warning in caught] == []

    def test_the_port_is_kept_over_a_stop(self) -> None:
        kafka = KafkaDouble()
        with kafka:
            port = kafka.port
            kafka.create_topic("t")
        with kafka:
            assert kafka.port == port
            with connect(kafka) as sock:
                assert says_hello(sock)
            with pytest.raises(KafkaError):
                kafka.records("t")

    def test_async_with(self) -> None:
        async def main() -> None:
            async with KafkaDouble() as kafka:
                _, writer = await asyncio.open_connection("127.0.0.1", kafka.port)
                writer.close()
                await writer.wait_closed()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", kafka.port)

        with pytest.raises(UsageError, match="was stopped"):
            asyncio.run(main())

    def test_one_that_is_forgotten_is_stopped(self) -> None:
        kafka = KafkaDouble().start()
        port = kafka.port
        assert "kafkadouble" in threads()
        del kafka
        gc.collect()
        assert "kafkadouble" not in threads()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    def test_a_program_that_forgets_it_ends_quietly(self) -> None:
        program = "from kafkadouble import KafkaDouble; kafka = KafkaDouble().start(); print(kafka.port)"
        command = [sys.executable, "-W", "error", "-X", "dev", "-c", program]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")

    def test_a_port_that_is_taken(self) -> None:
        before = threads()
        with KafkaDouble() as kafka:
            other = KafkaDouble(port=kafka.port)
            with pytest.raises(OSError, match="in use"):
                other.start()
        assert threads() == before

    def test_two_at_once_know_nothing_of_one_another(self) -> None:
        with KafkaDouble() as one, KafkaDouble() as two:
            one.create_topic("t")
            assert one.records("t") == []
            with pytest.raises(KafkaError):
                two.records("t")

    @pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
    def test_over_ipv6(self) -> None:
        try:
            kafka = KafkaDouble(host="::1").start()
        except OSError as problem:
            pytest.skip(f"no IPv6 here: {problem}")
        with kafka:
            assert kafka.bootstrap_servers == f"[::1]:{kafka.port}"

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
    @pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
    def test_a_child_neither_stops_nor_hinders_it(self, kafka: KafkaDouble) -> None:
        child = os.fork()
        if not child:
            code = 1
            try:
                with kafka, connect(kafka) as sock:  # this starts nothing and stops nothing of the parent's
                    code = 0 if says_hello(sock) else 2
                with pytest.raises(UsageError, match="forked"):
                    kafka.create_topic("t")
            except BaseException:
                code = 3
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with connect(kafka) as sock:
            assert says_hello(sock)


class TestWrongUse:
    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            ({"brokers": 3}, "several nodes comes in a later version"),
            ({"stepped": True, "clock": SteppedClock()}, "give one of them"),
            ({"config": {"num.partitons": 3}}, "did you mean 'num.partitions'?"),
            ({"config": {"num.partitions": "many"}}, "num.partitions"),
            ({"config": {"listeners": "PLAINTEXT://:1"}}, "give host and port"),
        ],
    )
    def test_is_told_at_once(self, arguments: dict[str, Any], problem: str) -> None:
        with pytest.raises(UsageError) as refused:
            KafkaDouble(**arguments)
        assert problem in str(refused.value)

    def test_before_the_start(self) -> None:
        kafka = KafkaDouble()
        for use in (lambda: kafka.port, lambda: len(kafka.requests), lambda: kafka.create_topic("t"), kafka.reset):
            with pytest.raises(UsageError, match="was not started"):
                use()

    def test_after_the_stop(self, kafka: KafkaDouble) -> None:
        with connect(kafka) as sock:
            assert says_hello(sock)
        handle = kafka.fail("Fetch", 6)
        kafka.stop()
        with pytest.raises(UsageError, match="was stopped"):
            kafka.create_topic("t")
        assert [seen.api for seen in kafka.requests] == ["ApiVersions"], "what was asked can still be looked at"
        handle.remove()


class TestTopicsAndRecords:
    def test_create_and_delete(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 3, {"cleanup.policy": "compact", "min.insync.replicas": 1})
        with pytest.raises(KafkaError) as refused:
            kafka.create_topic("t")
        assert (refused.value.error, refused.value.code) == ("TOPIC_ALREADY_EXISTS", 36)
        kafka.delete_topic("t")
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.delete_topic("t")
        with pytest.raises(KafkaError, match="INVALID_CONFIG"):
            kafka.create_topic("t", config={"cleanup.policy": "sometimes"})
        with pytest.raises(KafkaError, match="INVALID_TOPIC_EXCEPTION"):
            kafka.create_topic("no spaces")

    def test_what_was_produced_is_there(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 2)
        assert kafka.produce("t", "value", "key", {"a": "1", "b": None}, partition=1, timestamp=NOW) == 0
        assert kafka.produce("t", None, b"\xff", [("a", b"1"), ("a", b"2")], partition=1, timestamp=NOW) == 1
        first, second = kafka.records("t", 1)
        assert first == ("t", 1, 0, NOW, b"key", b"value", (("a", b"1"), ("b", None)))
        assert (second.key, second.value, second.headers) == (b"\xff", None, (("a", b"1"), ("a", b"2")))
        assert kafka.records("t", 0) == []
        assert kafka.records("t") == [first, second]

    def test_keys_are_spread_as_kafkas_producer_does_and_the_rest_takes_turns(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 3)
        for key in ("a", "b", "c", "a"):
            kafka.produce("t", key, key)
        by_key = {record.key: record.partition for record in kafka.records("t")}
        assert len({(record.key, record.partition) for record in kafka.records("t")}) == len(by_key) == 3
        for _ in range(6):
            kafka.produce("t", "no key")
        keyless = [record.partition for record in kafka.records("t") if record.key is None]
        assert sorted(keyless) == [0, 0, 1, 1, 2, 2]

    def test_a_topic_is_created_by_producing_if_the_broker_does_so(self) -> None:
        with KafkaDouble(config={"num.partitions": 2}) as kafka:
            kafka.produce("new", "x", partition=1)
            assert len(kafka.records("new")) == 1
        settings = {"auto.create.topics.enable": False}
        with KafkaDouble(config=settings) as kafka, pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.produce("new", "x")

    def test_a_partition_that_is_not_there(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t")
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.produce("t", "x", partition=5)
        with pytest.raises(KafkaError, match="there is no t-5"):
            kafka.records("t", 5)

    def test_refused_records(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", config={"max.message.bytes": 1000})
        with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
            kafka.produce("t", b"x" * 2000)
        with pytest.raises(UsageError, match="bytes, a text or None, not 12"):
            kafka.produce("t", 12)  # type: ignore[arg-type]  # the mistake that is tested

    def test_isolation(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t")
        log = kafka._serving().broker.node.partitions.of_topic("t")[0]

        def write(producer: int, value: bytes) -> None:
            batch = encode_batch(
                [Record(0, NOW, None, value)], producer_id=producer, producer_epoch=0, is_transactional=True, seal=False
            )
            kafka._call(lambda: log.append_own(bytes(batch), NOW))

        def end(producer: int, kind: int) -> None:
            marker = encode_control_batch(
                kind, bytes(6), timestamp=NOW, producer_id=producer, producer_epoch=0, seal=False
            )
            kafka._call(lambda: log.append_own(bytes(marker), NOW))

        abort, commit = 0, 1
        write(1, b"aborted")
        write(2, b"committed")
        end(1, abort)
        end(2, commit)
        write(1, b"committed later")
        end(1, commit)
        kafka.produce("t", "plain")
        write(3, b"open")
        kafka.produce("t", "behind the open one")
        everything = [record.value for record in kafka.records("t")]
        assert everything == [b"aborted", b"committed", b"committed later", b"plain", b"open", b"behind the open one"]
        committed = [record.value for record in kafka.records("t", isolation="read_committed")]
        assert committed == [b"committed", b"committed later", b"plain"]
        with pytest.raises(UsageError, match="read_uncommitted or read_committed"):
            kafka.records("t", isolation="dirty")

    def test_from_many_threads(self, kafka: KafkaDouble) -> None:
        kafka.create_topic("t", 4)

        def work(worker: int) -> None:
            for number in range(50):
                kafka.produce("t", f"{worker}-{number}")

        workers = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        values = {record.value for record in kafka.records("t")}
        assert len(values) == 300


class TestTime:
    def test_stands_still_until_it_is_advanced(self) -> None:
        with KafkaDouble(stepped=True) as kafka:
            kafka.produce("t", "a")
            kafka.produce("t", "b")
            kafka.advance(12.5)
            kafka.produce("t", "c")
            first, second, third = (record.timestamp for record in kafka.records("t"))
            assert (second - first, third - first) == (0, 12_500)

    def test_a_clock_of_ones_own(self) -> None:
        clock = SteppedClock(NOW)
        with KafkaDouble(clock=clock) as kafka:
            kafka.produce("t", "a")
            kafka.advance(1)
            assert (kafka.records("t")[0].timestamp, clock.now()) == (NOW, NOW + 1000)

    def test_a_running_clock_cannot_be_advanced(self, kafka: KafkaDouble) -> None:
        with pytest.raises(UsageError, match="give stepped=True"):
            kafka.advance(1)

    def test_time_does_not_go_backwards(self) -> None:
        with KafkaDouble(stepped=True) as kafka, pytest.raises(UsageError, match="backwards"):
            kafka.advance(-1)


class TestReset:
    def test_is_as_new_on_the_same_port(self, kafka: KafkaDouble) -> None:
        port = kafka.port
        kafka.produce("t", "x")
        kafka.fail("ApiVersions", "UNKNOWN_SERVER_ERROR", times=None)
        with connect(kafka) as old:
            assert not says_hello(old)
            kafka.reset()
            assert not says_hello(old), "it was cut off"
        assert (kafka.port, len(kafka.requests), kafka.groups()) == (port, 0, {})
        with pytest.raises(KafkaError):
            kafka.records("t")
        with connect(kafka) as new:
            assert says_hello(new)

    def test_a_rule_from_before_is_gone_and_its_handle_harmless(self, kafka: KafkaDouble) -> None:
        handle = kafka.fail("ApiVersions", "UNKNOWN_SERVER_ERROR", times=None)
        kafka.reset()
        kept = kafka.fail("Metadata", "UNKNOWN_SERVER_ERROR")
        handle.remove()
        assert not kept.spent
        assert len(kafka._serving().broker.node.faults.rules) == 1

    def test_ids_repeat_with_a_seed_and_do_not_without(self) -> None:
        def ids(**arguments: Any) -> list[str]:
            with KafkaDouble(**arguments) as kafka:
                first = str(kafka._serving().broker.node.cluster_id)
                kafka.reset()
                return [first, str(kafka._serving().broker.node.cluster_id)]

        assert len({*ids(seed=5), *ids(seed=5)}) == 1
        assert len({*ids(), *ids()}) == 4


class TestRules:
    def test_a_handle_counts_and_removes(self, kafka: KafkaDouble) -> None:
        handle = kafka.fail("ApiVersions", "UNKNOWN_SERVER_ERROR", times=None, client_id="test")
        with connect(kafka) as sock:
            assert [says_hello(sock) for _ in range(3)] == [False] * 3
            assert (handle.hits, handle.spent) == (3, False)
            handle.remove()
            handle.remove()
            assert says_hello(sock)
        assert repr(handle) == "fail ApiVersions with UNKNOWN_SERVER_ERROR client_id 'test' every time: applied 3 times"

    def test_a_rule_for_the_length_of_a_block(self, kafka: KafkaDouble) -> None:
        with kafka.disconnect("ApiVersions", times=None) as handle, connect(kafka) as sock:
            assert not says_hello(sock)
        assert handle.hits == 1
        with connect(kafka) as sock:
            assert says_hello(sock)

    def test_process_then_drop(self, kafka: KafkaDouble) -> None:
        kafka.disconnect("ApiVersions", after=True)
        with connect(kafka) as sock:
            assert not says_hello(sock)
        assert [seen.outcome for seen in kafka.requests] == ["disconnected"]

    def test_delay(self, kafka: KafkaDouble) -> None:
        handle = kafka.delay("ApiVersions", 0.05)
        with connect(kafka) as sock:
            assert says_hello(sock)
        (seen,) = kafka.requests
        assert handle.spent
        assert seen.took is not None
        assert seen.took >= 50

    def test_a_rule_as_a_value(self, kafka: KafkaDouble) -> None:
        rule = Rule.from_dict({"action": "disconnect", "api": "*"})
        assert kafka.arm(rule).rule == rule

    def test_wrong_rules(self, kafka: KafkaDouble) -> None:
        wrong: tuple[Callable[[], object], ...] = (
            lambda: kafka.fail("Fech", 6),
            lambda: kafka.fail("Fetch", "NOT_A_LEADER"),
            lambda: kafka.fail("Fetch", 6, colour="red"),
            lambda: kafka.delay("Fetch", -1),
            lambda: kafka.arm(Rule("explode", "Fetch")),
        )
        for arm in wrong:
            with pytest.raises(UsageError):
                arm()
        assert kafka._serving().broker.node.faults.rules == []


class TestRequests:
    def test_what_was_asked(self, kafka: KafkaDouble) -> None:
        with connect(kafka) as sock:
            assert says_hello(sock)
            assert says_hello(sock)
        requests = kafka.requests
        assert [(seen.api, seen.version, seen.client_id, seen.correlation_id) for seen in requests] == [
            ("ApiVersions", 0, "test", 7)
        ] * 2
        assert (len(requests.of("ApiVersions")), len(requests.of("Fetch")), len(requests.of(client_id="x"))) == (
            2,
            0,
            0,
        )
        assert requests[0].body == requests[-1].body
        assert repr(requests) == "2 requests, the last ApiVersions v0 #7 of 'test', answered"
        with pytest.raises(UsageError, match="did you mean 'Produce'"):
            requests.of("Prodcue")
        requests.clear()
        assert (list(requests), repr(requests)) == ([], "0 requests")

    def test_seeding_is_not_a_clients_request(self, kafka: KafkaDouble) -> None:
        kafka.fail("*", "UNKNOWN_SERVER_ERROR", times=None)
        kafka.create_topic("t")
        kafka.produce("t", "x")
        assert kafka.groups() == {}
        assert len(kafka.requests) == 0


def test_silent_unless_asked(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    program = (
        "import socket\nfrom kafkadouble import KafkaDouble\n"
        "with KafkaDouble() as kafka, socket.create_connection(('127.0.0.1', kafka.port)) as sock:\n"
        "    sock.sendall(b'GET / HTTP/1.1')\n    sock.recv(1)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert capfd.readouterr() == ("", "")
    with caplog.at_level(logging.INFO, "kafkadouble"), KafkaDouble() as kafka, connect(kafka) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        sock.recv(1)
    assert "that are no request" in caplog.text
