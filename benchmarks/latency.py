"""Measures the latency of one small Produce request on a raw socket.

The peer is a bare asyncio echo of the same bytes.

    python -m benchmarks.latency [--requests 5000] [--rounds 5] [--json]

Goal: the p50 is at most 4 times that of the echo. Each server is a process of its own. Rounds are
interleaved, and the best of each counts, because other processes can only add to it. Where the
system allows it, all processes run on one CPU: they take turns anyway, and otherwise the benchmark
would measure how long another CPU takes to wake up.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from kafkadouble.messages import headers
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record

from . import report, servers

READ = 4096

ECHO = """
import asyncio
class Echo(asyncio.Protocol):
    def connection_made(self, transport): self.transport = transport
    def data_received(self, data): self.transport.write(data)
async def main():
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def echo() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", ECHO], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield "127.0.0.1:" + process.stdout.readline().strip()
        finally:
            process.terminate()


def produce_request() -> bytes:
    batch = encode_batch([Record(0, int(time.time() * 1000), None, b"x" * 100, ())])
    partition = ProduceRequest.PartitionProduceData(index=0, records=batch)
    topic = ProduceRequest.TopicProduceData(name="bench", partition_data=[partition])
    request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
    return b"".join(headers.write_request(request, 1, "bench", version=9))


def p50(bootstrap: str, request: bytes, requests: int, *, framed: bool) -> float:
    """The median of the microseconds from the request to the whole response."""
    host, _, port = bootstrap.rpartition(":")
    took = []
    with socket.create_connection((host, int(port))) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(requests):
            start = time.perf_counter_ns()
            sock.sendall(request)
            receive(sock, len(request), framed=framed)
            took.append(time.perf_counter_ns() - start)
    return statistics.median(took) / 1000


def stay_on_one_cpu() -> None:
    """Runs this process and its children on one CPU."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def receive(sock: socket.socket, echoed: int, *, framed: bool) -> None:
    """Reads one response, with the same number of system calls for both servers."""
    data = sock.recv(READ)
    size = 4 + int.from_bytes(data[:4], "big") if framed else echoed
    while len(data) < size:
        more = sock.recv(READ)
        if not more:
            raise RuntimeError("the server closed the connection")
        data += more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    stay_on_one_cpu()
    request = produce_request()
    mine, bare = [], []
    with servers.ours("--topic", "bench:1") as (bootstrap, _), echo() as echoing:
        for _ in range(arguments.rounds):
            bare.append(p50(echoing, request, arguments.requests, framed=False))
            mine.append(p50(bootstrap, request, arguments.requests, framed=True))
    table = report.Table("latency", "us, p50 of one Produce request; the goal is a ratio of at most 4")
    table.add("produce", min(mine), {"asyncio echo": min(bare)})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
