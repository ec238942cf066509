"""Who a broker is: its cluster's id, how many brokers the cluster has, and what it announces, over a plain connection.

By hand, so that nothing of the double's own code stands between the suite and what it is pointed at.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BufferedRWPair
from typing import NamedTuple

from kafkadouble.messages.api_keys import ApiKeys

METADATA_VERSION, API_VERSIONS_VERSION = 2, 0
NO_TOPICS = struct.pack(">i", 0)
TIMEOUT = 30.0
PATIENCE = 120.0
"""Seconds after which brokers should know of one another."""

STARTING = (ConnectionRefusedError, TimeoutError)
"""A broker that is not part of its cluster yet refuses connections, or has them wait."""


class Identity(NamedTuple):
    """What a broker tells: `versions` are the first and the last of each API key; `ids` those of the brokers."""

    cluster_id: str
    brokers: int
    versions: Mapping[int, tuple[int, int]]
    ids: frozenset[int] = frozenset()


def identity(host: str, port: int) -> Identity:
    """Raises OSError if nobody answers, ValueError if what answers is no broker."""
    with socket.create_connection((host, port), TIMEOUT) as sock, sock.makefile("rwb") as line:
        try:
            cluster_id, ids = _cluster(_asked(line, ApiKeys.METADATA, METADATA_VERSION, NO_TOPICS))
            return Identity(cluster_id, len(ids), _versions(line), ids)
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"{host}:{port} does not answer as a Kafka broker does: {error}") from error


def whole(bootstrap: str, brokers: int) -> Identity:
    """What the first of these addresses tells, once all of them tell of so many brokers: each learns of the others in its own time."""
    return _told(bootstrap, lambda one: one.brokers >= brokers, f"{brokers} brokers")


def started(bootstrap: str) -> Identity:
    """What a broker tells that was started just now."""
    return _told(bootstrap, lambda one: one.brokers > 0, "any", bears=STARTING)


def known(bootstrap: str, broker: int) -> Identity:
    """What a broker tells, once it tells of this one, which may be itself: it is not fenced any more."""
    return _told(bootstrap, lambda one: broker in one.ids, f"broker {broker}", bears=STARTING)


def _told(
    bootstrap: str, holds: Callable[[Identity], bool], wanted: str, bears: tuple[type[OSError], ...] = ()
) -> Identity:
    """What the first of these addresses tells, once it holds for all. RuntimeError when that does not come."""
    end = time.monotonic() + PATIENCE
    while True:
        found = []
        with suppress(*bears):
            for host, _, port in [one.rpartition(":") for one in bootstrap.split(",")]:
                found.append(identity(host, int(port)))
            if all(map(holds, found)):
                return found[0]
        if time.monotonic() > end:
            raise RuntimeError(f"brokers tell of {[sorted(one.ids) for one in found]}, not of {wanted}")
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


def _cluster(answer: bytes) -> tuple[str, frozenset[int]]:
    (brokers,) = struct.unpack_from(">i", answer)
    at, ids = 4, set[int]()
    for _ in range(brokers):
        ids.update(struct.unpack_from(">i", answer, at))
        _, at = _text(answer, at + 4)  # the host, after the node's id
        _, at = _text(answer, at + 4)  # the rack, after the port
    return _text(answer, at)[0], frozenset(ids)


def _versions(line: BufferedRWPair) -> dict[int, tuple[int, int]]:
    answer = _asked(line, ApiKeys.API_VERSIONS, API_VERSIONS_VERSION)
    count = struct.unpack_from(">hi", answer)[1]
    return {key: (first, last) for key, first, last in struct.iter_unpack(">hhh", answer[6 : 6 + 6 * count])}


def _text(answer: bytes, at: int) -> tuple[str, int]:
    """A nullable string, null being empty, and where it ends."""
    (length,) = struct.unpack_from(">h", answer, at)
    end = at + 2 + max(length, 0)
    return answer[at + 2 : end].decode(), end
