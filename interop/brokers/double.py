"""kafkadouble, started as a user starts it: one broker as a process of its own, or three in this
process, where each can be killed alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory

from kafkadouble import KafkaDouble
from kafkadouble.brokers.broker_handle import BrokerHandle

from ..local.identity import started
from ..quorum import QUICK_HEARTBEATS, QUICK_TIMEOUTS
from .broker import Broker, BrokerRequirements, met

OF_SEVERAL = {
    **QUICK_HEARTBEATS,
    **QUICK_TIMEOUTS,
    "offsets.topic.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
}
"""Settings of the three brokers, the same that the nodes of an Apache Kafka cluster get."""

PATIENCE = 60
"""Seconds until it must have shut down."""


class Double:
    """A server that loses its data when it stops, unless it has a folder to keep it in."""

    def __init__(self, folder: str | None = None, *words: str) -> None:
        quick = [word for setting in QUICK_TIMEOUTS.items() for word in ("-c", "=".join(setting))]
        self.bootstrap, self._words = "", [*quick, *words, *(["--data-dir", folder] if folder else [])]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts at any free port the first time, later at the same port."""
        port = self.bootstrap.rpartition(":")[2] or "0"
        command = [sys.executable, "-m", "kafkadouble", "serve", "--port", port, "--quiet", *self._words]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self._process = process
        assert process.stdout is not None
        key, _, self.bootstrap = process.stdout.readline().strip().partition("=")
        assert key == "bootstrap.servers", f"the double printed {key!r} first, and ended with {process.poll()}"

    def kill(self) -> None:
        """Kills it without a clean shutdown."""
        process, self._process = self._process, None
        assert process is not None
        with process:
            process.kill()

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with process:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
        assert process.returncode == 0, f"the double ended with {process.returncode}"


class OneOfThree:
    """One of three brokers of a cluster in this process. Its log stays in memory when it stops."""

    def __init__(self, handle: BrokerHandle) -> None:
        self._it = handle
        self.bootstrap = handle.bootstrap

    def start(self) -> None:
        self._it.start()
        started(self.bootstrap)

    def kill(self) -> None:
        self._it.kill()

    def stop(self) -> None:
        self._it.stop()


@contextmanager
def double(requirements: BrokerRequirements) -> Iterator[Broker]:
    """A running double. It keeps its data on disk if its servers are to be restarted; otherwise it
    runs in memory, as most users run it."""
    if requirements.brokers > 1:
        with KafkaDouble(brokers=requirements.brokers, config=OF_SEVERAL) as running:
            servers = [OneOfThree(handle) for _, handle in sorted(running.brokers.items())]
            yield met("double", running.bootstrap_servers, {"durable", "faults", "kill", "own", "restart"}, servers)
        return
    with ExitStack() as stack:
        kept = "restart" in requirements.needs
        server = Double(stack.enter_context(TemporaryDirectory(prefix="double-")) if kept else None)
        stack.callback(server.stop)
        server.start()
        able = {"faults", "own", "restart", *(["durable", "kill"] if kept else [])}
        yield met("double", server.bootstrap, able, [server])
