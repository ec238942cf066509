"""The identity of a broker: the id of its cluster, the number of its brokers, and what it
announces, read over a plain connection.

The requests are written by hand, so that no code of the double stands between the suite and the
broker under test.
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
"""Seconds until all brokers should know one another."""

STARTING = (ConnectionRefusedError, TimeoutError)
"""A broker that is not part of its cluster yet refuses connections, or leaves them waiting."""


class Identity(NamedTuple):
    """What a broker answers: `versions` are the first and the last version of each API key; `ids`
    are those of the brokers."""

    cluster_id: str
    brokers: int
    versions: Mapping[int, tuple[int, int]]
    ids: frozenset[int] = frozenset()


def identity(host: str, port: int) -> Identity:
    """Asks the broker. Raises OSError if no process answers, ValueError if the process that answers
    is no Kafka broker."""
    with socket.create_connection((host, port), TIMEOUT) as sock, sock.makefile("rwb") as line:
        try:
            cluster_id, ids = _cluster(_answer_to(line, ApiKeys.METADATA, METADATA_VERSION, NO_TOPICS))
            return Identity(cluster_id, len(ids), _versions(line), ids)
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"{host}:{port} does not answer as a Kafka broker does: {error}") from error


def whole(bootstrap: str, brokers: int) -> Identity:
    """The identity that the first of these addresses answers, once every address reports this
    number of brokers. Each broker learns of the others at its own time."""
    return _identity_when(bootstrap, lambda one: one.brokers >= brokers, f"{brokers} brokers")


def started(bootstrap: str) -> Identity:
    """The identity that a broker answers which was started just now."""
    return _identity_when(bootstrap, lambda one: one.brokers > 0, "any", bears=STARTING)


def known(bootstrap: str, broker: int) -> Identity:
    """The identity that a broker answers, once it knows the given broker, which may be itself: that
    broker is then not fenced any more."""
    return _identity_when(bootstrap, lambda one: broker in one.ids, f"broker {broker}", bears=STARTING)


def _identity_when(
    bootstrap: str, holds: Callable[[Identity], bool], expected: str, bears: tuple[type[OSError], ...] = ()
) -> Identity:
    """The answer of the first of these addresses, once it satisfies the condition at all of them.
    Raises RuntimeError if that does not happen in time."""
    end = time.monotonic() + PATIENCE
    while True:
        found = []
        with suppress(*bears):
            for host, _, port in [one.rpartition(":") for one in bootstrap.split(",")]:
                found.append(identity(host, int(port)))
            if all(map(holds, found)):
                return found[0]
        if time.monotonic() > end:
            raise RuntimeError(f"brokers report {[sorted(one.ids) for one in found]}, not of {expected}")
        time.sleep(0.05)


def _answer_to(line: BufferedRWPair, key: int, version: int, body: bytes = b"") -> bytes:
    # the key is also the correlation id
    request = struct.pack(">hhih", key, version, key, -1) + body
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
    answer = _answer_to(line, ApiKeys.API_VERSIONS, API_VERSIONS_VERSION)
    count = struct.unpack_from(">hi", answer)[1]
    return {key: (first, last) for key, first, last in struct.iter_unpack(">hhh", answer[6 : 6 + 6 * count])}


def _text(answer: bytes, at: int) -> tuple[str, int]:
    """A nullable string, with null read as empty, and the position behind it."""
    (length,) = struct.unpack_from(">h", answer, at)
    end = at + 2 + max(length, 0)
    return answer[at + 2 : end].decode(), end
