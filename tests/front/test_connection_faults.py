"""Fault rules for connections, over sockets: with a stepped clock, so that nothing depends on how
fast this machine is."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, Match, Rule, Trigger, UsageError
from kafkadouble.actions import Latency, ResetAfter
from kafkadouble.engine.broker import Broker
from kafkadouble.server.network.connection_protocol import ConnectionProtocol
from tests.front.hello import HELLO, connect, received, says_hello

OTHER = struct.pack(">ihhih", 15, 18, 0, 7, 5) + b"other"
"""The same request as HELLO, of client `other`."""


def connections(kafka: KafkaDouble) -> list[ConnectionProtocol]:
    """Those of its only broker."""
    broker = kafka._double_host.serving().broker
    assert isinstance(broker, Broker)
    return list(broker.listener.connections)


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(seed=1, stepped=True) as kafka:
        yield kafka


def answer(sock: socket.socket) -> bytes:
    """One whole frame."""
    size = received(sock, 4)
    return size + received(sock, int.from_bytes(size, "big"))


def is_silent(kafka: KafkaDouble, sock: socket.socket) -> bool:
    """Whether the broker has sent nothing when it has done all that is due."""
    kafka.advance(0)
    return not select.select([sock], [], [], 0)[0]


def is_reset(sock: socket.socket) -> bool:
    """Whether it ends by a reset, and not in order."""
    try:
        while sock.recv(1 << 16):
            pass
    except ConnectionResetError:
        return True
    return False


def test_latency_rule_holds_each_direction(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        assert says_hello(sock)
        handle = kafka.latency(2)
        sock.sendall(HELLO)
        handle.wait()
        kafka.advance(2)
        assert [seen.outcome for seen in kafka.requests] == ["answered"] * 2
        assert is_silent(kafka, sock)
        kafka.advance(2)
        assert answer(sock)
        assert handle.hits == 1


def test_a_rule_that_is_released_lets_go_on_what_it_held(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        handle = kafka.half_open()
        sock.sendall(HELLO * 3)
        handle.wait()
        kafka.advance(3600)
        assert is_silent(kafka, sock)
        handle.release()
        assert [len(answer(sock)) for _ in range(3)] == [len(answer_of(kafka))] * 3
        assert [protocol.shaped for protocol in connections(kafka)] == [None]


def answer_of(kafka: KafkaDouble) -> bytes:
    with connect(kafka) as sock:
        sock.sendall(HELLO)
        found = answer(sock)
    gone(kafka)
    return found


def gone(kafka: KafkaDouble) -> None:
    """Waits until only one connection is left."""
    with connect(kafka) as sock:
        says_hello(sock)
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(1) == b""


def test_half_open_connection_resumes_when_its_time_ends(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        handle = kafka.half_open(for_seconds=30)
        sock.sendall(HELLO)
        handle.wait()
        kafka.advance(29)
        assert is_silent(kafka, sock)
        kafka.advance(1)
        assert answer(sock)


def test_a_client_that_leaves_a_half_open_connection_is_not_noticed(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        handle = kafka.half_open(times=1)
        sock.sendall(HELLO)
        handle.wait()
    with connect(kafka) as other:
        assert says_hello(other)
        assert len(connections(kafka)) == 2
        handle.release()
        while len(connections(kafka)) == 2:
            assert says_hello(other)


def test_bandwidth_rule_spreads_a_response_over_time(kafka: KafkaDouble) -> None:
    whole = answer_of(kafka)
    with connect(kafka) as sock:
        handle = kafka.bandwidth(10)
        sock.sendall(HELLO)
        handle.wait()
        kafka.advance(len(HELLO) / 10)
        for second in range(3):
            assert is_silent(kafka, sock), second
            kafka.advance(1)
            assert received(sock, 10) == whole[10 * second : 10 * second + 10]


def test_slices_come_one_after_the_other(kafka: KafkaDouble) -> None:
    whole = answer_of(kafka)
    with connect(kafka) as sock:
        handle = kafka.slice_frames(len(HELLO), gap=1)
        sock.sendall(HELLO)
        handle.wait()
        assert received(sock, len(HELLO)) == whole[: len(HELLO)]
        assert is_silent(kafka, sock)
        kafka.advance(1)
        assert received(sock, len(HELLO)) == whole[len(HELLO) : 2 * len(HELLO)]


def test_reset_after_so_many_bytes(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock, connect(kafka) as other:
        assert says_hello(sock)
        handle = kafka.reset_after(len(HELLO), times=1)
        sock.sendall(HELLO)
        assert is_reset(sock)
        assert (handle.hits, handle.spent, kafka.rules) == (1, True, [])
        assert says_hello(other)


@pytest.mark.parametrize("listener", [None, "PLAINTEXT"])
def test_refused_connections_are_reset_and_others_go_on(kafka: KafkaDouble, listener: str | None) -> None:
    with connect(kafka) as sock:
        assert says_hello(sock)
        handle = kafka.refuse_connections(times=2, listener=listener)
        for _ in range(2):
            with suppress(ConnectionResetError), connect(kafka) as refused:
                assert is_reset(refused)
        assert says_hello(sock)
        with connect(kafka) as other:
            assert says_hello(other)
        assert (handle.hits, kafka.rules) == (2, [])


@pytest.mark.parametrize("end", ["broker", "client"])
def test_slow_close_delays_the_end_of_a_connection(kafka: KafkaDouble, end: str) -> None:
    with connect(kafka) as sock:
        assert says_hello(sock)
        handle = kafka.slow_close(5)
        if end == "broker":
            kafka.disconnect("ApiVersions")
            sock.sendall(HELLO)
        else:
            sock.shutdown(socket.SHUT_WR)
        handle.wait()
        kafka.advance(4)
        assert is_silent(kafka, sock)
        kafka.advance(1)
        assert sock.recv(1) == b""


def test_slow_close_of_a_connection_ends_when_it_is_released(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        assert says_hello(sock)
        handle = kafka.slow_close(3600)
        sock.shutdown(socket.SHUT_WR)
        handle.wait()
        assert is_silent(kafka, sock)
        handle.release()
        assert sock.recv(1) == b""


def test_request_of_a_client_that_left_is_processed(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        handle = kafka.latency(1)
        sock.sendall(HELLO)
        sock.shutdown(socket.SHUT_WR)
        handle.wait()
        kafka.advance(2)
        received(sock, 1 << 16)  # until the connection ends
    assert "ApiVersions" in [seen.api for seen in kafka.requests]


def test_a_rule_for_a_client_begins_after_its_first_request(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock, connect(kafka) as other:
        handle = kafka.half_open(client_id="other")
        other.sendall(OTHER)
        handle.wait()
        assert [seen.client_id for seen in kafka.requests] == ["other"]
        assert says_hello(sock)
        assert is_silent(kafka, other)
        assert handle.hits == 1


def test_the_client_of_an_older_connection_is_known(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        assert says_hello(sock)
        handle = kafka.half_open(client_id="test")
        sock.sendall(HELLO)
        handle.wait()
        assert is_silent(kafka, sock)


def test_the_same_seed_chooses_the_same_connections() -> None:
    def refused() -> list[bool]:
        with KafkaDouble(seed=5, stepped=True) as kafka:
            kafka.half_open(probability=0.5)
            found = []
            for _ in range(12):
                with connect(kafka) as sock:
                    sock.sendall(HELLO)
                    found.append(not select.select([sock], [], [], 0.1)[0])
            return found

    first = refused()
    assert first == refused()
    assert set(first) == {True, False}


def test_every_trigger_counts_connections(kafka: KafkaDouble) -> None:
    handle = kafka.refuse_connections(on_call=2, times=1, after_seconds=10, for_seconds=10)
    outcomes = []
    for _ in range(5):
        try:
            with connect(kafka) as sock:
                outcomes.append(says_hello(sock))
        except ConnectionResetError:
            outcomes.append(False)
        kafka.advance(4)
    assert outcomes == [True, True, True, True, False]
    assert handle.hits == 1


def test_a_connection_has_only_some_fields(kafka: KafkaDouble) -> None:
    with pytest.raises(UsageError, match="a connection has no topic; a rule for connections is narrowed by client_id"):
        kafka.latency(1, topic="t")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="refuse_connections has no client_id"):
        kafka.refuse_connections(client_id="c")
    with pytest.raises(UsageError, match="there is no listener 'INSIDE': there are PLAINTEXT"):
        kafka.latency(1, listener="INSIDE")
    with pytest.raises(UsageError, match=r"jitter of a rule is at most its seconds, 1, not 2"):
        kafka.latency(1, jitter=2)
    with pytest.raises(UsageError, match="there is no broker 7"):
        kafka.latency(1, broker=7)
    assert kafka.rules == []


def test_unused_rules_lists_rules_that_matched_no_request(kafka: KafkaDouble) -> None:
    never = kafka.fail("Fetch", 6)
    used = kafka.latency(1)
    removed = kafka.reset_after(10**6)
    removed.remove()
    with connect(kafka) as sock:
        sock.sendall(HELLO)
        used.wait()
        assert kafka.unused_rules == [never.rule, removed.rule]
    kafka.clear_rules()
    assert kafka.unused_rules == [never.rule, removed.rule]
    kafka.reset()
    assert kafka.unused_rules == []
    never = kafka.fail("Fetch", 6)
    kafka.stop()
    assert kafka.unused_rules == [never.rule]


@pytest.mark.parametrize("brokers", [1, 2])
def test_rule_handle_may_be_removed_after_a_stop(tmp_path: Path, brokers: int) -> None:
    kafka = KafkaDouble(brokers=brokers, data_dir=tmp_path, stepped=True).start()
    handles = [kafka.pause("Fetch"), kafka.latency(1), kafka.disk_slow(1)]
    if brokers > 1:
        handles.append(kafka.latency(1, link=(1, 2)))
    kafka.stop()
    for handle in handles:
        handle.remove()
        handle.release()
        assert handle.hits == 0


def test_connection_rule_is_converted_to_a_dict_and_back(kafka: KafkaDouble) -> None:
    rule = Rule(Match(client_id="c"), Latency(0.5, jitter=0.1), Trigger(times=None))
    assert Rule.from_dict(rule.to_dict()) == rule
    assert kafka.arm(rule).rule == rule
    assert Rule.from_dict({"action": {"type": "reset_after", "bytes": 3}}) == Rule(Match(), ResetAfter(3))
    assert repr(kafka.rules[0]) == "latency of 0.5 s client_id 'c' every time: applied 0 times"


def test_connections_without_rules_have_no_part_of_this(kafka: KafkaDouble) -> None:
    with connect(kafka) as sock:
        assert says_hello(sock)
        kafka.latency(1, broker=kafka._double_host.serving().broker.node.id).remove()
        (connection,) = connections(kafka)
        assert connection.shaped is None
        assert connection.transport.get_protocol() is connection
        assert says_hello(sock)
