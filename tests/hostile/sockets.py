"""A broker in its own process, hostile sockets, and a good client that measures its waiting
time."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from kafkadouble.messages import headers
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import decode_all, encode_batch
from kafkadouble.wire.record import Record

MB = 1 << 20
TIMEOUT = 20
SLOWEST = 5.0
"""How long a good client may wait for two answers (s), on a machine with other load; without load
it is at most a tenth of that."""

NOTHING: Mapping[str, str] = {}
NAMES = (f"good-{number}" for number in count())


def framed(message: Message, version: int, client: str = "evil") -> bytes:
    """A request as it is sent over the wire."""
    return b"".join(headers.write_request(message, 7, client, version))


class Broker:
    """`kafkadouble serve` in its own process; its log is kept."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kafkadouble", "serve", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        name, _, place = self.process.stdout.readline().strip().partition("=")
        assert name == "bootstrap.servers", name
        host, _, port = place.rpartition(":")
        self.address = (host, int(port))
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.rstrip("\n"))

    def connect(self, receive_buffer: int = 0) -> socket.socket:
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(TIMEOUT)
        sock.connect(self.address)
        return sock

    def resident(self) -> int:
        """The bytes of memory it uses, which only Linux can report."""
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def limit_descriptors(self, most: int) -> None:
        """Limits its memory to the present size, on Linux."""
        import resource

        resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (most, most))

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def descriptors_return(self, before: int) -> None:
        """Waits until it has no more open files than `before`."""
        for _ in range(2000):
            if self.open_files() <= before:
                return
            threading.Event().wait(0.01)
        raise AssertionError(f"{self.open_files()} files are open, {before} before")

    def logged(self, *words: str) -> str:
        """Waits for the log line that has these words."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            for line in list(self.log):
                if all(word in line for word in words):
                    return line
            threading.Event().wait(0.01)
        raise AssertionError(f"no line with {words}: {self.log[-20:]}")

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(TIMEOUT) == 0
        self._reader.join(TIMEOUT)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        wrong = [at for at, line in enumerate(self.log) if "Traceback" in line or "ERROR" in line]
        assert not wrong, self.log[wrong[0] : wrong[0] + 40]


@contextmanager
def serving(*options: str) -> Iterator[Broker]:
    broker = Broker(*options)
    try:
        yield broker
    finally:
        broker.stop()


class Client:
    """A connection that sends requests and reads answers."""

    def __init__(self, broker: Broker) -> None:
        self.sock = broker.connect()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, body: Message, version: int) -> Any:
        self.sock.sendall(framed(body, version, "good"))
        return self.receive(body, version)

    def receive(self, body: Message, version: int) -> Any:
        assert body.api_key is not None
        frame = self.exactly(int.from_bytes(self.exactly(4)))
        return headers.read_response(frame, body.api_key, version)[1]

    def exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self.sock.recv(size - len(data))
            assert more, "the broker closed the connection"
            data += more
        return bytes(data)

    def close(self) -> None:
        self.sock.close()


class Good:
    """A good client in its own thread: it produces and fetches again and again, and records how
    long each pair took."""

    def __init__(self, broker: Broker) -> None:
        self._client = Client(broker)
        self.took: list[float] = []
        self.failure: BaseException | None = None
        self._ended = threading.Event()
        self._topic = next(NAMES)
        create(self._client, self._topic)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            offset = 0
            while not self._ended.wait(0.01):
                began = time.monotonic()
                produce_and_fetch(self._client, self._topic, offset)
                self.took.append(time.monotonic() - began)
                offset += 1
        except BaseException as problem:
            self.failure = problem

    def end(self) -> float:
        """The duration of the slowest pair (s)."""
        before = len(self.took)
        while len(self.took) < before + 3 and self.failure is None:
            threading.Event().wait(0.01)
        self._ended.set()
        self._thread.join(TIMEOUT)
        self._client.close()
        if self.failure is not None:
            raise self.failure
        return max(self.took)


class Asker(Protocol):
    """What `Client` offers, over whatever way."""

    def ask(self, body: Message, version: int) -> Any: ...


def create(client: Asker, name: str, partitions: int = 1, settings: Mapping[str, str] = NOTHING) -> None:
    of = CreateTopicsRequest
    configs = [of.CreatableTopicConfig(name=key, value=value) for key, value in settings.items()]
    topic = of.CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=configs)
    (result,) = client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7).topics
    assert result.error_code == 0, result


def produced(data: bytes, topic: str) -> ProduceRequest:
    sent = ProduceRequest.PartitionProduceData(index=0, records=data)
    return ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[ProduceRequest.TopicProduceData(name=topic, partition_data=[sent])]
    )


def fetched(offset: int, topic: str, max_bytes: int = 1000, **others: Any) -> FetchRequest:
    partition = FetchRequest.FetchPartition(fetch_offset=offset, partition_max_bytes=max_bytes)
    topics = [FetchRequest.FetchTopic(topic=topic, partitions=[partition])]
    return FetchRequest(max_bytes=max_bytes, session_epoch=-1, topics=topics, **others)


def produce_and_fetch(client: Asker, topic: str, offset: int, now: int = 0) -> None:
    value = b"good %d" % offset
    batch = bytes(encode_batch([Record(0, now, None, value, ())]))
    answered = client.ask(produced(batch, topic), 9).responses[0].partition_responses[0]
    assert (answered.error_code, answered.base_offset) == (0, offset), answered
    records = client.ask(fetched(offset, topic), 11).responses[0].partitions[0].records
    assert [record.value for record in decode_all(bytes(records))] == [value]


@contextmanager
def good_client(broker: Broker) -> Iterator[Good]:
    """A good client that works all the time, and never waits longer than `SLOWEST`."""
    good = Good(broker)
    try:
        yield good
    finally:
        took = good.end()
    assert took < SLOWEST, f"{took:.2f} s, where {SLOWEST} were allowed"


def closed(sock: socket.socket) -> bool:
    """Whether the broker ends the connection."""
    with suppress(ConnectionError):
        while sock.recv(65536):
            pass
    return True


ALL_TOPICS = MetadataRequest(topics=None)
