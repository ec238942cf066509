"""Measures the time until a client has its first response: from one broker in this process, from
three, and from `kafkadouble serve` as a process.

    python -m benchmarks.start [--rounds 15] [--json]

Goals: in this process, from the call to the first ApiVersions response, 20 ms, and 100 ms for three
brokers, with imports done; as a process, from exec to the first ApiVersions response, 2.5 times
`python -c "import asyncio"`. Rounds are interleaved; the median counts. Every interpreter finds its
bytecode.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest

from . import report

IN_PROCESS = """
import time
from benchmarks.start import first_answer, request
from kafkadouble import KafkaDouble
import kafkadouble.server.handlers.api_versions
frame = request()
start = time.perf_counter()
with KafkaDouble() as kafka:
    first_answer(kafka.port, frame)
    print((time.perf_counter() - start) * 1000)
"""

OF_THREE = """
import time
from benchmarks.start import first_answer, request
from kafkadouble import KafkaDouble
frame = request()
with KafkaDouble(brokers=3):
    pass  # what they import when they first speak to one another is imported by that
start = time.perf_counter()
with KafkaDouble(brokers=3) as kafka:
    first_answer(kafka.port, frame)
    print((time.perf_counter() - start) * 1000)
"""


def request() -> bytes:
    """An ApiVersions request in the version of today's clients."""
    body = ApiVersionsRequest(client_software_name="benchmark", client_software_version="1")
    return b"".join(headers.write_request(body, 1, "benchmark", version=3))


def first_answer(port: int, frame: bytes) -> None:
    """Connects as soon as possible, and waits for the response."""
    deadline = time.monotonic() + 30
    while True:
        try:
            sock = socket.create_connection(("127.0.0.1", port))
            break
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.0005)
    with sock:
        sock.sendall(frame)
        if not sock.recv(4):
            raise RuntimeError("the server closed the connection")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port: int = sock.getsockname()[1]
        return port


def in_process(environment: Mapping[str, str], program: str = IN_PROCESS) -> float:
    """The ms from the call to the response, in a fresh interpreter with its imports done."""
    command = [sys.executable, "-c", program]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def process(environment: Mapping[str, str], frame: bytes) -> float:
    """The ms from exec to the response."""
    port = free_port()
    start = time.perf_counter()
    command = [sys.executable, "-m", "kafkadouble", "serve", "--quiet", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as server:
        try:
            first_answer(port, frame)
            return (time.perf_counter() - start) * 1000
        finally:
            server.terminate()


def import_asyncio(environment: Mapping[str, str]) -> float:
    """The ms in which an interpreter starts, imports asyncio, and ends."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import asyncio"], env=environment, check=True)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    frame = request()
    with tempfile.TemporaryDirectory() as cache:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = cache
        rounds = [
            (
                in_process(environment),
                in_process(environment, OF_THREE),
                process(environment, frame),
                import_asyncio(environment),
            )
            for _ in range(options.rounds + 1)
        ]
    inside, three, outside, asyncio = (statistics.median(column) for column in zip(*rounds[1:], strict=True))
    table = report.Table("start to the first answer", "ms")
    table.add("in process", inside, {"goal": 20})
    table.add("three brokers in process", three, {"goal": 100})
    table.add("as a process", outside, {"import asyncio": asyncio})
    table.print(as_json=options.json)


if __name__ == "__main__":
    main()
