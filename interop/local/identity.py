"""Who a broker is: its cluster's id, how many brokers the cluster has, and what it announces, over a plain connection.

By hand, so that nothing of the double's own code stands between the suite and what it is pointed at.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping
from io import BufferedRWPair
from typing import NamedTuple

FETCH, METADATA, API_VERSIONS = 1, 3, 18
METADATA_VERSION, API_VERSIONS_VERSION = 2, 0
NO_TOPICS = struct.pack(">i", 0)
TIMEOUT = 10.0
PATIENCE = 30.0
"""Seconds after which brokers should know of one another."""


class Identity(NamedTuple):
    """What a broker tells: `versions` are the first and the last of each API key."""

    cluster_id: str
    brokers: int
    versions: Mapping[int, tuple[int, int]]


def identity(host: str, port: int) -> Identity:
    """Raises OSError if nobody answers, ValueError if what answers is no broker."""
    with socket.create_connection((host, port), TIMEOUT) as sock, sock.makefile("rwb") as line:
        try:
            return Identity(*_cluster(_asked(line, METADATA, METADATA_VERSION, NO_TOPICS)), _versions(line))
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"{host}:{port} does not answer as a Kafka broker does: {error}") from error


def whole(bootstrap: str, brokers: int) -> Identity:
    """What the first of these addresses tells, once all of them tell of so many brokers: each learns of the others in its own time."""
    end = time.monotonic() + PATIENCE
    while True:
        found = [identity(host, int(port)) for one in bootstrap.split(",") for host, _, port in [one.rpartition(":")]]
        if min(one.brokers for one in found) >= brokers:
            return found[0]
        if time.monotonic() > end:
            raise RuntimeError(f"brokers tell of {[one.brokers for one in found]} brokers, not of {brokers}")
        time.sleep(0.05)


def _asked(line: BufferedRWPair, key: int, version: int, body: bytes = b"") -> bytes:
    """The body of the answer."""
    request = struct.pack(">hhih", key, version, key, -1) + body  # the key serves as correlation id, too
    line.write(struct.pack(">i", len(request)) + request)
    line.flush()
    size, correlation = struct.unpack(">ii", line.read(8))
    if correlation != key:
        raise struct.error(f"correlation id {correlation}")
    return line.read(size - 4)


def _cluster(answer: bytes) -> tuple[str, int]:
    (brokers,) = struct.unpack_from(">i", answer)
    at = 4
    for _ in range(brokers):
        _, at = _text(answer, at + 4)  # the host, after the node's id
        _, at = _text(answer, at + 4)  # the rack, after the port
    return _text(answer, at)[0], brokers


def _versions(line: BufferedRWPair) -> dict[int, tuple[int, int]]:
    answer = _asked(line, API_VERSIONS, API_VERSIONS_VERSION)
    count = struct.unpack_from(">hi", answer)[1]
    return {key: (first, last) for key, first, last in struct.iter_unpack(">hhh", answer[6 : 6 + 6 * count])}


def _text(answer: bytes, at: int) -> tuple[str, int]:
    """A nullable string, null being empty, and where it ends."""
    (length,) = struct.unpack_from(">h", answer, at)
    end = at + 2 + max(length, 0)
    return answer[at + 2 : end].decode(), end
