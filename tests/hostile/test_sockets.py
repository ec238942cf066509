"""Hostile sockets against a real process, while a good client works: memory, the waiting time of
other clients, and the resources left behind."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record

from .sockets import (
    ALL_TOPICS,
    MB,
    Broker,
    Client,
    closed,
    create,
    fetched,
    framed,
    good_client,
    produce_and_fetch,
    produced,
    serving,
)

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="MEMORY IS NOT LOOKED AT: only Linux tells that of another process"
)
ANNOUNCED = 100 * MB
HELLO = ApiVersionsRequest(client_software_name="evil", client_software_version="1")


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with serving("--topic", "evil:4") as found:
        yield found


@pytest.fixture
def sockets(broker: Broker) -> Iterator[Callable[..., socket.socket]]:
    """Opens connections, which are closed at the end."""
    opened: list[socket.socket] = []

    def connect(receive_buffer: int = 0) -> socket.socket:
        opened.append(broker.connect(receive_buffer))
        return opened[-1]

    yield connect
    for sock in opened:
        sock.close()


@linux
def test_bytes_that_are_announced_and_not_sent_cost_nothing(
    broker: Broker, sockets: Callable[..., socket.socket]
) -> None:
    """A Kafka with 512 MB runs out of memory with 50 such connections."""
    with good_client(broker):
        before = broker.resident()
        for _ in range(50):
            sockets().sendall(ANNOUNCED.to_bytes(4) + b"\0\0\0\x09\0\0\0\1\xff\xff" + bytes(1000))
        threading.Event().wait(0.3)
        assert broker.resident() - before < 20 * MB


@linux
def test_unprocessed_bytes_of_all_connections_share_one_bound(sockets: Callable[..., socket.socket]) -> None:
    """Twelve connections send up to 99 of 100 MB each: 1.2 GB are offered, and little more than the
    bound is used."""
    with serving() as broker, good_client(broker):
        before, most, stop = broker.resident(), 0, threading.Event()

        def pour() -> None:
            with broker.connect() as sock:
                sock.setblocking(True)
                sock.settimeout(0.2)
                data = memoryview(ANNOUNCED.to_bytes(4) + b"\0\0\0\x09\0\0\0\1\xff\xff" + bytes(MB))
                sent = sock.send(data)
                while sent < 99 * MB and not stop.is_set():
                    try:
                        sent += sock.send(data[14:])
                    except TimeoutError:
                        continue
                    except ConnectionError:
                        return
                stop.wait(3)

        threads = [threading.Thread(target=pour) for _ in range(12)]
        for thread in threads:
            thread.start()
        for _ in range(200):
            most = max(most, broker.resident() - before)
            threading.Event().wait(0.015)
        stop.set()
        for thread in threads:
            thread.join()
        assert most > 60 * MB, "nothing was sent"
        print(f"at most {most / MB:.0f} MB more")
        assert most < 270 * MB, f"{most / MB:.0f} MB"


@linux
def test_input_buffer_of_a_closed_connection_is_freed_at_once(broker: Broker) -> None:
    """Half a frame of 20 MB, thirty times, one connection after the other."""
    with good_client(broker):
        files, before, most = broker.open_files(), broker.resident(), 0
        for _ in range(30):
            with broker.connect() as sock:
                sock.sendall(ANNOUNCED.to_bytes(4) + b"\0\0\0\x09\0\0\0\1\xff\xff" + bytes(20 * MB))
            broker.descriptors_return(files)
            most = max(most, broker.resident() - before)
        print(f"at most {most / MB:.0f} MB more")
        assert most < 60 * MB, f"{most / MB:.0f} MB"


def test_a_client_that_sends_byte_by_byte_delays_no_other(
    broker: Broker, sockets: Callable[..., socket.socket]
) -> None:
    data = framed(HELLO, 3)
    with good_client(broker):
        slow = [sockets() for _ in range(30)]
        for at in range(len(data)):
            for sock in slow:
                sock.sendall(data[at : at + 1])
        for sock in slow:
            assert sock.recv(4)


@linux
def test_a_client_that_never_reads_is_not_answered_without_end(
    broker: Broker, sockets: Callable[..., socket.socket]
) -> None:
    client = Client(broker)
    create(client, "large")
    batch = bytes(encode_batch([Record(0, 0, None, bytes(900_000), ())]))
    for _ in range(5):
        assert client.ask(produced(batch, "large"), 9).responses[0].partition_responses[0].error_code == 0
    client.close()
    with good_client(broker):
        before = broker.resident()
        for _ in range(10):
            sock = sockets(receive_buffer=4096)
            sock.setblocking(False)
            try:
                for _ in range(300):
                    sock.send(framed(fetched(0, "large", 5 * MB), 11))
            except BlockingIOError:
                pass
        threading.Event().wait(1)
        assert broker.resident() - before < 150 * MB


def test_half_a_connection_is_ended(broker: Broker, sockets: Callable[..., socket.socket]) -> None:
    with good_client(broker):
        for data in (
            b"",
            b"\0\0",
            framed(HELLO, 3)[:-1],
            framed(fetched(0, "evil", max_wait_ms=100, min_bytes=1), 11),
        ):
            sock = sockets()
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            assert closed(sock)


@linux
def test_storms_of_connections_leave_nothing(broker: Broker) -> None:
    before = broker.open_files()
    poll = framed(fetched(0, "evil", max_wait_ms=500, min_bytes=1), 11)
    with good_client(broker):
        for number in range(600):
            sock = broker.connect()
            if number % 3 == 1:
                sock.sendall(poll)
            if number % 3 == 2:  # a reset instead of a close
                sock.sendall(poll)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
    broker.descriptors_return(before)


@linux
def test_a_client_that_leaves_while_it_is_not_read_is_closed_in_the_end() -> None:
    """Requests behind a long poll wait in the backlog, and nothing is read meanwhile, not even the
    end of the connection."""
    poll = framed(fetched(0, "evil", max_wait_ms=2**31 - 1, min_bytes=1), 11)
    with serving("--topic", "evil", "-c", "connections.max.idle.ms=400") as broker, good_client(broker):
        before = broker.open_files()
        for _ in range(20):
            with broker.connect() as sock:
                sock.sendall(poll * 3)
        with broker.connect() as silent:
            broker.logged(f":{silent.getsockname()[1]} has been silent for 400 ms")
            assert closed(silent)
        broker.descriptors_return(before)


@linux
def test_without_descriptors_files_are_opened_and_the_log_stays_short(tmp_path: Path) -> None:
    """A storm of connections takes every descriptor except those of files. The client that is
    connected creates topics and writes to them, and other clients are served when the storm is
    over."""
    with serving("--data-dir", str(tmp_path / "data")) as broker:
        broker.limit_descriptors(200)
        client = Client(broker)
        storm = []
        for _ in range(300):
            sock = socket.socket()
            sock.setblocking(False)
            sock.connect_ex(broker.address)
            storm.append(sock)
        broker.logged("descriptors are in use", "no connection is accepted")
        for number in range(5):
            create(client, f"fresh-{number}")
            produce_and_fetch(client, f"fresh-{number}", 0)
        assert broker.open_files() < 200
        for sock in storm:
            sock.close()
        late = Client(broker)
        assert late.ask(ALL_TOPICS, 9).topics
        late.close()
        client.close()
    logged = [line for line in broker.log if "connected" not in line]
    assert len(logged) < 20, logged


@linux
def test_connections_to_the_control_port_leave_descriptors_to_brokers_and_files(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path / "data"), "--control-port", "0") as broker:
        broker.limit_descriptors(200)
        control = control_port(broker)
        storm = [socket.create_connection(("127.0.0.1", control), 20) for _ in range(400)]
        broker.logged("the control port is full")
        client = Client(broker)
        create(client, "fresh")
        produce_and_fetch(client, "fresh", 0)
        assert broker.open_files() < 150
        for sock in storm:
            sock.close()
        client.close()


def control_port(broker: Broker) -> int:
    """The port that the process prints."""
    assert broker.process.stdout is not None
    for line in broker.process.stdout:
        if line.startswith("control.url="):
            return int(line.rpartition(":")[2])
    raise AssertionError("there is no control port")


@linux
def test_three_hundred_idle_connections(broker: Broker, sockets: Callable[..., socket.socket]) -> None:
    before = broker.resident()
    with good_client(broker):
        for _ in range(300):
            sockets()
        assert broker.resident() - before < 30 * MB


def test_thousands_of_requests_at_once_delay_no_other_client(
    broker: Broker, sockets: Callable[..., socket.socket]
) -> None:
    client = Client(broker)
    create(client, "many", partitions=100)
    client.close()
    with good_client(broker):
        clients = [Client(broker) for _ in range(3)]
        senders = [threading.Thread(target=each.sock.sendall, args=(framed(ALL_TOPICS, 9) * 800,)) for each in clients]
        for sender in senders:
            sender.start()
        for _ in range(800):
            for each in clients:
                assert each.receive(ALL_TOPICS, 9).topics
        for sender, each in zip(senders, clients, strict=True):
            sender.join()
            each.close()


GARBAGE = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost:9092\r\n\r\n",
    "TLS": bytes.fromhex("16030100c8010000c40303") + bytes(190),
    "a password": b"\x00\x00\x00\x01",
    "letters": b"hello, world\n" * 10,
}


@pytest.mark.parametrize("kind", list(GARBAGE))
def test_bytes_of_another_protocol_end_the_connection(
    broker: Broker, sockets: Callable[..., socket.socket], kind: str
) -> None:
    with good_client(broker):
        for _ in range(20):
            sock = sockets()
            port = sock.getsockname()[1]
            sock.sendall(GARBAGE[kind])
            sock.shutdown(socket.SHUT_WR)
            assert closed(sock)
            if kind in ("HTTP", "TLS"):
                assert kind in broker.logged(f":{port} sent", "closing")
