"""One node of Apache Kafka from an unpacked release, for --kafka-broker=local."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

HOST = "127.0.0.1"
READY = "Kafka Server started"
"""What a node logs when it serves."""

JAVA_FLAGS = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
LOGGING = """\
status=error
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%p %m (%c)%n%ex
"""


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Starts a node with its data in `folder`, and stops it at the end. Yields its address. Raises
    pytest.UsageError if KAFKA_HOME or Java is missing, or the node ends."""
    config, address = _configured(folder)
    with _java(folder, "kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", str(config)) as formatting:
        _ended(formatting)
    with _java(folder, "kafka.Kafka", str(config)) as node:
        try:
            _wait_until_ready(node)
            yield address
        finally:
            node.send_signal(signal.SIGKILL)  # the folder is temporary


def _java(folder: Path, main: str, *words: str) -> subprocess.Popen[str]:
    home, java = os.environ.get("KAFKA_HOME", ""), shutil.which("java")
    libraries = Path(home, "libs")
    if not home or not libraries.is_dir():
        raise pytest.UsageError(f"--kafka-broker=local: KAFKA_HOME is the folder of an unpacked Kafka, not {home!r}")
    if java is None:
        raise pytest.UsageError("--kafka-broker=local: java is not on the PATH")
    logging = folder / "log4j2.properties"
    logging.write_text(LOGGING)
    command = [java, *JAVA_FLAGS, f"-Dlog4j2.configurationFile={logging}", "-cp", f"{libraries}/*", main, *words]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _cluster_id() -> str:
    from kafkadouble.messages.uuid import Uuid

    return str(Uuid.random(os.urandom))


def _configured(folder: Path) -> tuple[Path, str]:
    clients, controllers = _free_ports(2)
    settings = {
        "node.id": 1,
        "process.roles": "broker,controller",
        "listeners": f"CLIENTS://{HOST}:{clients},CONTROLLER://{HOST}:{controllers}",
        "advertised.listeners": f"CLIENTS://{HOST}:{clients},CONTROLLER://{HOST}:{controllers}",
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "CLIENTS",
        "controller.quorum.voters": f"1@{HOST}:{controllers}",
        "log.dirs": folder / "data",
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
    path = folder / "server.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return path, f"{HOST}:{clients}"


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _ended(process: subprocess.Popen[str]) -> None:
    output, _ = process.communicate()
    if process.returncode:
        raise pytest.UsageError(f"--kafka-broker=local: the format of the log directory failed:\n{output}")


def _wait_until_ready(node: subprocess.Popen[str]) -> None:
    """Reads what the node logs until it serves. A thread drops what comes later, so that the node
    never waits for it."""
    assert node.stdout is not None
    lines = []
    for line in node.stdout:
        lines.append(line)
        if READY in line:
            Thread(target=deque, args=(node.stdout, 0), daemon=True).start()
            return
    raise pytest.UsageError(f"--kafka-broker=local: Kafka ended at its start:\n{''.join(lines[-20:])}")
