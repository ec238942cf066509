"""Measures how fast three controllers commit, and how soon another one leads. Each is a process
with a directory of its own.

    python -m benchmarks.quorum [--seconds 5] [--singles 300] [--kills 3] [--json]

Goals: 2,000 committed requests per second with 64 in flight; a single request within 3 ms plus the
time of a flush of the disk at p50 (the flush is measured too); and another leader within 1.5 fetch
timeouts after the leader was killed. A request is an IncrementalAlterConfigs of one configuration
of a client metrics subscription, sent to the leader's listener. The client and the controllers
share the machine's CPUs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from tests.support.client import ask

from . import report, servers
from .start import free_port

GOAL, GOAL_MS, GOAL_TIMEOUTS, IN_FLIGHT = 2000, 3, 1.5, 64
FETCH_TIMEOUT_MS = 2000
FIRST, VOTERS = 3000, 3
CLUSTER = "AAAAAAAAAAAAAAAAAAAABg"
HOST = "127.0.0.1"
CLIENT_METRICS, SETTING, SET = 16, "interval.ms", 0
VERSION = 1
PATIENCE_S, WARM_UP_S = 60, 1
DIFFERENT = 10_000
RECORD = bytes(150)
"""The size of a batch with one such change."""


class Controller:
    """One controller: its directory, and its process, which can be killed and started again."""

    def __init__(self, folder: Path, id: int, ports: Sequence[int]) -> None:
        self.id, self.port, self.bootstrap = id, ports[id - FIRST], f"{HOST}:{ports[id - FIRST]}"
        self._config = folder / f"{id}.properties"
        voters = ",".join(f"{FIRST + at}@{HOST}:{port}" for at, port in enumerate(ports))
        settings = {
            "process.roles": "controller",
            "node.id": id,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://{self.bootstrap}",
            "controller.quorum.voters": voters,
            "controller.quorum.fetch.timeout.ms": FETCH_TIMEOUT_MS,
            "log.dirs": folder / str(id),
        }
        self._config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        subprocess.run(_command("format", "-t", CLUSTER, "-c", str(self._config)), check=True, capture_output=True)
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = _command("serve", "--quiet", "--config", str(self._config))
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def epoch(self) -> int | None:
        """The epoch in which it leads; None when it does not lead."""
        of = DescribeQuorumRequest
        request = of(topics=[of.TopicData(topic_name="__cluster_metadata", partitions=[of.PartitionData()])])
        try:
            found = ask(self.bootstrap, request, 2).topics[0].partitions[0]
        except (OSError, AssertionError):
            return None
        leads = found.error_code == 0 and found.leader_id == self.id and found.high_watermark >= 0
        return found.leader_epoch if leads else None


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "kafkadouble", *words]


@contextmanager
def quorum(folder: Path) -> Iterator[list[Controller]]:
    """Starts the three controllers."""
    with ExitStack() as running:
        ports = [free_port() for _ in range(VOTERS)]
        found = [Controller(folder, FIRST + at, ports) for at in range(VOTERS)]
        for each in found:
            running.callback(each.kill)
            each.start()
        yield found


def leader(among: Sequence[Controller], after: int = -1) -> tuple[Controller, int]:
    """Waits for a leader in a later epoch; returns it and its epoch."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for controller in among:
            epoch = controller.epoch()
            if epoch is not None and epoch > after:
                return controller, epoch
        time.sleep(0.01)
    raise RuntimeError("no node leads")


def request(number: int) -> bytes:
    """The change with this number; each sets another value."""
    of = IncrementalAlterConfigsRequest
    config = of.AlterableConfig(name=SETTING, config_operation=SET, value=str(1000 + number))
    resource = of.AlterConfigsResource(
        resource_type=CLIENT_METRICS, resource_name=f"metrics-{number % 100}", configs=[config]
    )
    return b"".join(headers.write_request(of(resources=[resource]), number, "bench", VERSION))


def check(frame: bytes) -> None:
    response = headers.read_response(frame, ApiKeys.INCREMENTAL_ALTER_CONFIGS, VERSION)[1].responses[0]  # type: ignore[attr-defined]  # the API's own
    if response.error_code:
        raise RuntimeError(f"the change was not made: {response}")


class _Client(asyncio.Protocol):
    """Sends the next request when the last one is answered."""

    def __init__(self, requests: Iterator[bytes], done: list[float]) -> None:
        self._requests, self._done, self._data, self._first = requests, done, b"", True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._data += data
        size = int.from_bytes(self._data[:4], "big")
        if len(self._data) < 4 + size:
            return
        if self._first:
            check(self._data[4:])
            self._first = False
        self._data = b""
        self._done.append(time.perf_counter())
        self._transport.write(next(self._requests))


async def committed(port: int, seconds: float) -> float:
    """Requests per second, after a warm-up."""
    requests, done = cycle([request(number) for number in range(DIFFERENT)]), list[float]()
    loop = asyncio.get_running_loop()
    connecting = (loop.create_connection(lambda: _Client(requests, done), HOST, port) for _ in range(IN_FLIGHT))
    clients = [transport for transport, _ in await asyncio.gather(*connecting)]
    await asyncio.sleep(WARM_UP_S + seconds)
    for client in clients:
        client.abort()
    counted = [at for at in done if at >= done[0] + WARM_UP_S]
    return len(counted) / (counted[-1] - counted[0])


def singles(port: int, count: int, flush: Flush) -> tuple[list[float], list[float]]:
    """The ms of each single request, and of a flush after each."""
    took, flushed = [], []
    with socket.create_connection((HOST, port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(count):
            frame = request(number)
            start = time.perf_counter()
            sock.sendall(frame)
            data = sock.recv(1 << 16)
            while len(data) < 4 + int.from_bytes(data[:4], "big"):
                data += sock.recv(1 << 16)
            took.append((time.perf_counter() - start) * 1000)
            check(data[4:])
            flushed.append(flush.once())
    return took, flushed


class Flush:
    """A file on the same disk, to measure the time of a flush."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / "flushed", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def once(self) -> float:
        """The ms of a small write and its flush."""
        start = time.perf_counter()
        os.write(self._descriptor, RECORD)
        getattr(os, "fdatasync", os.fsync)(self._descriptor)
        return (time.perf_counter() - start) * 1000

    def close(self) -> None:
        os.close(self._descriptor)


def takeovers(controllers: Sequence[Controller], kills: int) -> list[float]:
    """The ms from the death of a leader until another one leads."""
    took = []
    for _ in range(kills):
        led, epoch = leader(controllers)
        time.sleep(1)  # both others follow
        start = time.perf_counter()
        led.kill()
        leader([controller for controller in controllers if controller is not led], epoch)
        took.append((time.perf_counter() - start) * 1000)
        led.start()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--singles", type=int, default=300)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory() as path, quorum(Path(path)) as controllers:
        led, _ = leader(controllers)
        flush = Flush(Path(path))
        alone, flushed = singles(led.port, options.singles, flush)
        flush.close()
        before = [servers.cpu_seconds(controller.pid) for controller in controllers] if sys.platform == "linux" else []
        rate = asyncio.run(committed(led.port, options.seconds))
        if before:
            shares = [servers.cpu_seconds(each.pid) - was for each, was in zip(controllers, before, strict=True)]
            report.note(
                "ms of processor time a request, of each controller: "
                + _each(shares, rate * (WARM_UP_S + options.seconds))
            )
        took = takeovers(controllers, options.kills)
    writes = report.Table("three controllers", "committed requests a second; more is better")
    writes.add(f"{IN_FLIGHT} in flight", rate, {"goal": GOAL})
    writes.print(as_json=options.json)
    disk = statistics.median(flushed)
    waits = report.Table("three controllers", "ms; less is better")
    waits.add("one request, p50", statistics.median(alone), {"goal, of it the disk": GOAL_MS + disk, "a flush": disk})
    timeout = GOAL_TIMEOUTS * FETCH_TIMEOUT_MS
    waits.add("another leader, the slowest", max(took, default=0), {"1.5 fetch timeouts": timeout})
    waits.print(as_json=options.json)


def _each(shares: Sequence[float], requests: float) -> str:
    return ", ".join(f"{share * 1000 / requests:.2f}" for share in shares)


if __name__ == "__main__":
    main()
