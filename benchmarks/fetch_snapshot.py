"""Measures FetchSnapshot of a gigabyte over loopback, against a server that answers the same
requests with a bare `sendfile` of the same file.

    python -m benchmarks.fetch_snapshot [--megabytes 1024] [--rounds 3] [--json]

Goals: with 64 MiB per request at least 0.9 of the bare sendfile's bytes per second, and memory that
stays flat. The figure with 1 MiB per request, the size that followers use, is shown too. Rounds are
interleaved, and the best of each counts, because other processes can only add to the time. The CPU
time of the servers is shown. Linux only.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kafkadouble.messages import headers
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats.names import checkpoint_name
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.logs.formatting import format_directory
from kafkadouble.server.logs.log_dir import METADATA_FOLDER
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from tests.support.client import ask

from . import report, servers

LARGE, USUAL = 64 << 20, 1 << 20
VERSION = 1
ID, NEWEST = OffsetAndEpoch(5, 1), OffsetAndEpoch(20, 1)
CLUSTER, NODE, NOW = "AAAAAAAAAAAAAAAAAAAABg", 1, 1_700_000_000_000
RECEIVED = bytearray(1 << 20)

BARE = """
import os, socket, struct, sys
path, head = sys.argv[1], bytes(int(sys.argv[2]))
size, server = os.path.getsize(path), socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
file = os.open(path, os.O_RDONLY)
while True:
    sock = server.accept()[0]
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while len(asked := sock.recv(4096)) > 16:
        position, most = struct.unpack(">qq", asked[-16:])
        count = min(most, size - position)
        sock.sendall(struct.pack(">i", len(head) + count) + head)
        end = position + count
        while position < end:
            position += os.sendfile(sock.fileno(), file, position, end - position)
"""
"""The bare server. A request ends with the position and the size; its responses are as long as a
node's.
"""


class Server(NamedTuple):
    """A server: its address, its process, and the bytes of a response before the snapshot's."""

    address: tuple[str, int]
    pid: int
    epoch: int = -1


def directory(path: str, size: int) -> Path:
    """A log directory with an old snapshot of that many bytes, and a new one for a node's start.
    The old one has any content: it is served, and never read.
    """
    disk = RealDisk(path)
    format_directory(disk, path, CLUSTER, NODE, Uuid(Random(2).randbytes(16)), NOW)
    disk.make_folder(METADATA_FOLDER)
    part = FileSnapshotStore(disk, METADATA_FOLDER).create(NEWEST)
    assert part is not None
    write_at_once(part, SnapshotHeader(NOW), (), NOW)
    large = Path(path) / METADATA_FOLDER / checkpoint_name(ID)
    with large.open("wb") as file:
        for at in range(size >> 20):
            file.write(Random(at % 7).randbytes(1 << 20))
    return large


@contextmanager
def node(path: str) -> Iterator[Server]:
    """Starts a controller on that directory."""
    command = [sys.executable, "-m", "kafkadouble", "serve", "--quiet", "--port", "0", "--controller-port", "0"]
    command += ["--data-dir", path, "-c", "metadata.max.retention.bytes=-1", "-c", "metadata.max.retention.ms=-1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline().strip().partition("=") for _ in range(2)]
            bootstrap = {name: value for name, _, value in lines}["controller.quorum.bootstrap.servers"]
            host, _, port = bootstrap.rpartition(":")
            yield Server((host, int(port)), process.pid, _epoch(bootstrap))
        finally:
            process.terminate()


def _epoch(bootstrap: str) -> int:
    """The leader epoch; a request with another one is answered with an error."""
    answer = ask(bootstrap, _body(0, USUAL, epoch=0), VERSION)
    epoch: int = answer.topics[0].partitions[0].current_leader.leader_epoch
    return epoch


@contextmanager
def bare(large: Path, head: int) -> Iterator[Server]:
    command = [sys.executable, "-c", BARE, str(large), str(head)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(("127.0.0.1", int(process.stdout.readline())), process.pid)
        finally:
            process.kill()


def _body(position: int, most: int, epoch: int) -> FetchSnapshotRequest:
    of = FetchSnapshotRequest
    partition = of.PartitionSnapshot(
        partition=0,
        current_leader_epoch=epoch,
        snapshot_id=of.SnapshotId(end_offset=ID.offset, epoch=ID.epoch),
        position=position,
    )
    return of(
        replica_id=77, max_bytes=most, topics=[of.TopicSnapshot(name="__cluster_metadata", partitions=[partition])]
    )


def _request(server: Server, position: int, most: int) -> bytes:
    if server.epoch < 0:
        return bytes(16) + position.to_bytes(8, "big") + most.to_bytes(8, "big")
    return b"".join(headers.write_request(_body(position, most, server.epoch), 1, "bench", VERSION))


class Took(NamedTuple):
    """Seconds of real time and of the server's CPU, the maximum increase of the server's memory in
    bytes, and the bytes of a response before the snapshot's.
    """

    seconds: float
    cpu: float
    grown: int
    head: int


def fetched(server: Server, size: int, most: int) -> Took:
    """Fetches the whole snapshot, one request after the other."""
    before, cpu, head, grown = servers.resident_bytes(server.pid), servers.cpu_seconds(server.pid), 0, 0
    start = time.perf_counter()
    with socket.create_connection(server.address) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for position in range(0, size, most):
            sock.sendall(_request(server, position, most))
            answered = _receive(sock)
            head = answered - min(most, size - position)
            if not 0 <= head < 1000:
                raise RuntimeError(f"an answer of {answered} bytes")
            grown = max(grown, servers.resident_bytes(server.pid) - before)
    return Took(time.perf_counter() - start, servers.cpu_seconds(server.pid) - cpu, grown, head)


def _receive(sock: socket.socket) -> int:
    """Reads one response and returns its size."""
    data = sock.recv(4, socket.MSG_WAITALL)
    left = size = int.from_bytes(data, "big")
    while left > 0:
        got = sock.recv_into(RECEIVED, min(left, len(RECEIVED)))
        if not got:
            raise RuntimeError("the server closed the connection")
        left -= got
    return size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    size = options.megabytes << 20
    speed = report.Table("FetchSnapshot", "MB/s by the clock; the goal at 64 MiB is a ratio of at least 0.9")
    cost = report.Table("its price", "ms of the server's processor for each GB")
    memory = report.Table("its memory", "MB that the server grows by")
    with TemporaryDirectory() as path:
        large = directory(path, size)
        with node(path) as ours:
            head = fetched(ours, size, LARGE).head  # and the file is in the page cache
            with bare(large, head) as peer:
                for name, most in (("64 MiB a request", LARGE), ("1 MiB a request", USUAL)):
                    pairs = [(fetched(peer, size, most), fetched(ours, size, most)) for _ in range(options.rounds)]
                    theirs, mine = zip(*pairs, strict=True)
                    rate = [max(size / took.seconds / 1e6 for took in each) for each in (mine, theirs)]
                    price = [min(took.cpu * 1000 / (size / 1e9) for took in each) for each in (mine, theirs)]
                    speed.add(name, rate[0], {"bare sendfile": rate[1]})
                    cost.add(name, price[0], {"bare sendfile": price[1]})
                    memory.add(name, max(took.grown for took in mine) / 1e6, {"one request": most / 1e6})
    for table in (speed, cost, memory):
        table.print(as_json=options.json)


if __name__ == "__main__":
    main()
