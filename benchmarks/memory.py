"""Measures the memory of a server with a gigabyte of records, and with many connections.

The connections are 2,000 idle ones, and 500 whose Fetch waits for more records than there are.

    python -m benchmarks.memory [--megabytes 1000] [--connections 2000] [--waiting 500] [--json]

Goals: 1 GB of produced records costs at most 1.15 GB, 2,000 connections at most 60 MB, and a
connection that waits no more than one that is idle. The peer of the first is the bytes produced, of
the others the goal itself. Linux only.
"""

from __future__ import annotations

import argparse
import socket

from confluent_kafka import Producer

from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.fetch import FetchRequest

from . import report, servers

MB = 1_000_000


def increase_by_records(megabytes: int) -> tuple[float, float]:
    """Megabytes produced (as the records' values), and by how many megabytes the server grew."""
    with servers.ours("--topic", "bench:1") as (bootstrap, pid):
        before = servers.resident_bytes(pid)
        producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "queue.buffering.max.messages": 1_000_000})
        value = b"x" * 1000
        for _ in range(megabytes * 1000):
            while True:
                try:
                    producer.produce("bench", value, partition=0)
                    break
                except BufferError:
                    producer.poll(0.1)
        if producer.flush(300):
            raise RuntimeError("not all records were acknowledged")
        return megabytes, (servers.resident_bytes(pid) - before) / MB


def increase_by_connections(count: int) -> float:
    """Megabytes that the server grew by; every connection has spoken once and then is silent."""
    hello = b"".join(headers.write_request(ApiVersionsRequest(), 1, "idle", version=2))
    with servers.ours() as (bootstrap, pid):
        host, _, port = bootstrap.rpartition(":")
        held = [socket.create_connection((host, int(port)))]
        _speak(held[0], hello)
        before = servers.resident_bytes(pid)
        for _ in range(count):
            held.append(socket.create_connection((host, int(port))))
            _speak(held[-1], hello)
        grown = (servers.resident_bytes(pid) - before) / MB
        for sock in held:
            sock.close()
        return grown


def increase_by_waiting_fetches(count: int) -> float:
    """Megabytes that the server grew by; every connection waits for 10 MB where there is 1 MB."""
    partition = FetchRequest.FetchPartition(partition=0, partition_max_bytes=1 << 24)
    topic = FetchRequest.FetchTopic(topic="bench", partitions=[partition])
    fetch = FetchRequest(max_wait_ms=600_000, min_bytes=10 * MB, max_bytes=1 << 24, topics=[topic])
    hello = b"".join(headers.write_request(ApiVersionsRequest(), 1, "waits", version=2))
    waits = b"".join(headers.write_request(fetch, 2, "waits", version=12))
    with servers.ours("--topic", "bench:1") as (bootstrap, pid):
        host, _, port = bootstrap.rpartition(":")
        # many small batches
        producer = Producer({"bootstrap.servers": bootstrap, "batch.num.messages": 1})
        for _ in range(1000):
            producer.produce("bench", b"x" * 1000, partition=0)
        producer.flush(60)
        before = servers.resident_bytes(pid)
        held = []
        for _ in range(count):
            held.append(socket.create_connection((host, int(port))))
            _speak(held[-1], hello)
            held[-1].sendall(waits)
        held.append(socket.create_connection((host, int(port))))
        _speak(held[-1], hello)  # after this the server has read everything before it
        grown = (servers.resident_bytes(pid) - before) / MB
        for sock in held:
            sock.close()
        return grown


def _speak(sock: socket.socket, hello: bytes) -> None:
    sock.sendall(hello)
    if not sock.recv(1 << 16):
        raise RuntimeError("the server closed the connection")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--waiting", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    produced, grown = increase_by_records(arguments.megabytes)
    idle = increase_by_connections(arguments.connections)
    table = report.Table("memory", "MB; goals: ratios of at most 1.15 and 1")
    table.add(f"{arguments.megabytes} MB of records", grown, {"produced": produced})
    table.add(f"{arguments.connections} idle connections", idle, {"goal": 60 * arguments.connections / 2000})
    waiting = increase_by_waiting_fetches(arguments.waiting)
    table.add(f"{arguments.waiting} waiting fetches", waiting, {"goal": 60 * arguments.waiting / 2000})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
