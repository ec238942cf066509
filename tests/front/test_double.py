"""KafkaDouble without a client: what it offers, what it refuses, and that it leaves no thread or
socket behind."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, KafkaError, SteppedClock, UsageError
from tests.front.hello import connect, says_hello
from tests.server.harness import NOW

SLOW_STEP = re.compile(r"Executing .* took [\d.]+ seconds$")
"""What asyncio's debug mode logs on a loaded machine."""


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


class TestLife:
    def test_double_serves_from_start_to_stop(self) -> None:
        kafka = KafkaDouble()
        assert repr(kafka) == "<KafkaDouble, not running>"
        assert kafka.start() is kafka
        port = kafka.port
        assert kafka.bootstrap_servers == f"127.0.0.1:{port}"
        with connect(kafka) as sock:
            assert says_hello(sock)
            kafka.stop()
            assert not says_hello(sock), "open connections are closed"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        kafka.stop()
        assert repr(kafka) == "<KafkaDouble, not running>"

    def test_leaves_neither_thread_nor_socket(self) -> None:
        before = threads()
        gc.collect()  # so that nothing of earlier tests is collected below
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

    def test_double_as_async_context_manager_serves_and_stops(self) -> None:
        async def main() -> None:
            async with KafkaDouble() as kafka:
                _, writer = await asyncio.open_connection("127.0.0.1", kafka.port)
                writer.close()
                await writer.wait_closed()
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", kafka.port)

        with pytest.raises(UsageError, match="was stopped"):
            asyncio.run(main())

    def test_double_without_references_is_stopped(self) -> None:
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
        logged = [line for line in ended.stderr.splitlines() if not SLOW_STEP.match(line)]
        assert (ended.returncode, logged) == (0, [])

    def test_a_port_that_is_taken(self) -> None:
        before = threads()
        with KafkaDouble() as kafka:
            other = KafkaDouble(port=kafka.port)
            with pytest.raises(OSError, match="in use"):
                other.start()
        assert threads() == before

    def test_doubles_of_one_process_share_no_topics(self) -> None:
        with KafkaDouble() as one, KafkaDouble() as two:
            one.create_topic("t")
            assert one.records("t") == []
            with pytest.raises(KafkaError):
                two.records("t")

    @pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
    def test_double_serves_over_ipv6(self) -> None:
        try:
            kafka = KafkaDouble(host="::1").start()
        except OSError as problem:
            pytest.skip(f"no IPv6 here: {problem}")
        with kafka:
            assert kafka.bootstrap_servers == f"[::1]:{kafka.port}"

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
    @pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
    def test_forked_process_does_not_stop_the_double(self, kafka: KafkaDouble) -> None:
        child = os.fork()
        if not child:
            code = 1
            try:
                # This starts and stops nothing of the parent's.
                with kafka, connect(kafka) as sock:
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
    def test_verb_before_the_start_is_refused(self) -> None:
        kafka = KafkaDouble()
        for use in (lambda: kafka.port, lambda: len(kafka.requests), lambda: kafka.create_topic("t"), kafka.reset):
            with pytest.raises(UsageError, match="was not started"):
                use()

    def test_verb_after_the_stop_is_refused_and_requests_stay_readable(self, kafka: KafkaDouble) -> None:
        with connect(kafka) as sock:
            assert says_hello(sock)
        handle = kafka.fail("Fetch", 6)
        kafka.stop()
        with pytest.raises(UsageError, match="was stopped"):
            kafka.create_topic("t")
        assert [seen.api for seen in kafka.requests] == ["ApiVersions"], "what was asked can still be looked at"
        handle.remove()


class TestTime:
    def test_stepped_clock_stands_until_it_is_advanced(self) -> None:
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

    def test_stepped_clock_does_not_go_backwards(self) -> None:
        with KafkaDouble(stepped=True) as kafka, pytest.raises(UsageError, match="backwards"):
            kafka.advance(-1)


class TestReset:
    def test_reset_empties_the_double_and_keeps_its_port(self, kafka: KafkaDouble) -> None:
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

    def test_an_earlier_rule_is_removed_and_its_handle_harmless(self, kafka: KafkaDouble) -> None:
        handle = kafka.fail("ApiVersions", "UNKNOWN_SERVER_ERROR", times=None)
        kafka.reset()
        kept = kafka.fail("Metadata", "UNKNOWN_SERVER_ERROR")
        handle.remove()
        assert not kept.spent
        assert len(kafka._double_host.serving().broker.node.faults.rules) == 1

    def test_ids_repeat_with_a_seed_and_do_not_without(self) -> None:
        def ids(**arguments: Any) -> list[str]:
            with KafkaDouble(**arguments) as kafka:
                first = kafka.describe_cluster().cluster_id
                kafka.reset()
                return [first, kafka.describe_cluster().cluster_id]

        assert len({*ids(seed=5), *ids(seed=5)}) == 1
        assert len({*ids(), *ids()}) == 2

    @pytest.mark.parametrize("brokers", [1, 3])
    @pytest.mark.parametrize("keeps", [False, True], ids=["in memory", "with files"])
    def test_the_cluster_id_stays_and_topic_ids_do_not(self, tmp_path: Path, brokers: int, keeps: bool) -> None:
        def ids(kafka: KafkaDouble) -> tuple[str, ...]:
            kafka.create_topic("t")
            cluster = kafka._double_host.serving().broker
            cluster_ids = {each.node.cluster_id for each in (cluster.controlling, *cluster.members)}
            return *cluster_ids, str(kafka.topics()["t"].id)

        with KafkaDouble(brokers=brokers, data_dir=tmp_path if keeps else None) as kafka:
            before = ids(kafka)
            kafka.reset()
            after = ids(kafka)
        assert before[0] == after[0]
        assert before[1] != after[1]
        if keeps:
            with KafkaDouble(brokers=brokers, data_dir=tmp_path) as kafka:
                assert kafka.describe_cluster().cluster_id == after[0]


def test_double_prints_no_log_by_default(caplog: pytest.LogCaptureFixture) -> None:
    program = (
        "import socket\nfrom kafkadouble import KafkaDouble\n"
        "with KafkaDouble() as kafka, socket.create_connection(('127.0.0.1', kafka.port)) as sock:\n"
        "    sock.sendall(b'GET / HTTP/1.1')\n    sock.recv(1)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    with caplog.at_level(logging.INFO, "kafkadouble"), KafkaDouble() as kafka, connect(kafka) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
        sock.recv(1)
    assert "that are no request" in caplog.text
