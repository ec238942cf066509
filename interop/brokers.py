"""The brokers that the suite can be pointed at: one opener per kind, and what each kind can do beyond Kafka's protocol.

A broker is named by a word of `--broker`: a kind of this table, or HOST:PORT of one that runs already. Another kind is one more function
here that yields a Broker, with one line in KINDS; what it needs and does not find, it says by Unavailable.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

PATIENCE = 20
"""Seconds that a broker may take to be ready or to stop."""

CAPABILITIES: Mapping[str, str] = {
    "faults": "faults can be armed in the broker",
    "loopback": "the broker is known by the address 127.0.0.1, so that a relay can stand before it",
    "own": "the broker serves these tests alone, so that its settings may be changed",
}


class Broker(NamedTuple):
    """A broker that runs."""

    kind: str
    bootstrap: str
    capabilities: frozenset[str]

    def lacks(self, *wanted: str) -> str:
        """Why a test that needs this cannot run here; empty if it can."""
        unknown = set(wanted) - set(CAPABILITIES)
        assert not unknown, f"no such capability: {unknown}"
        missing = [CAPABILITIES[name] for name in wanted if name not in self.capabilities]
        return f"{self.kind} at {self.bootstrap}: not true that {' and that '.join(missing)}" if missing else ""


class Unavailable(Exception):
    """A broker of this kind cannot be had here; the text says why, and the tests are skipped with it."""


@contextmanager
def _double() -> Iterator[Broker]:
    """Ours, a process of its own, started as a user starts it."""
    command = [sys.executable, "-m", "kafkadouble", "serve", "--port", "0", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            key, _, bootstrap = process.stdout.readline().strip().partition("=")
            assert key == "bootstrap.servers", f"the double said {key!r} first, and ended with {process.poll()}"
            yield Broker("double", bootstrap, _by_address(bootstrap) | {"faults", "own"})
        finally:
            process.terminate()
            process.wait(PATIENCE)
    assert process.returncode == 0, f"the double ended with {process.returncode}"


@contextmanager
def _at(address: str) -> Iterator[Broker]:
    """One that somebody else runs."""
    yield Broker("broker", address, _by_address(address))


def _by_address(bootstrap: str) -> frozenset[str]:
    relayed = bootstrap.startswith("127.0.0.1:") and sys.platform == "linux"
    return frozenset({"loopback"} if relayed else ())


KINDS: dict[str, Callable[[], AbstractContextManager[Broker]]] = {"double": _double}


def opened(word: str) -> AbstractContextManager[Broker]:
    """The broker that a word of `--broker` names."""
    if word in KINDS:
        return KINDS[word]()
    host, colon, port = word.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise ValueError(f"--broker {word}: neither HOST:PORT nor one of {', '.join(KINDS)}")
    return _at(word)
