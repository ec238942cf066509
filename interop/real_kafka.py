"""A real Apache Kafka of one combined node, from the jars that Maven publishes: no Docker.

Rules. The jars go to a cache outside the repository (`KAFKADOUBLE_CACHE`, default `~/.cache/kafkadouble`). A node is ready when its own log
says so, since a port that accepts may be somebody else's, and it is stopped by its own process. What is missing to start one is said by
`Missing`, so that whoever wanted it can skip aloud.
"""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

VERSION = "4.4.0"
POM = Path(__file__).with_name("real-kafka.pom.xml")
READY = b"Kafka Server started"
PATIENCE = 90
"""Seconds that a node may take to be ready."""

JVM = ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-XX:-UsePerfData")

LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = STDOUT
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRefs = console
rootLogger.appenderRef.console.ref = STDOUT
"""


class Missing(Exception):
    """What it takes to start a real Kafka is not here; the text says what."""


def jars(version: str = VERSION) -> list[Path]:
    """The server's class path, sorted. Fetched once by Maven. Raises Missing."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise Missing(f"{program} is not on the PATH")
    cache = Path(os.environ.get("KAFKADOUBLE_CACHE") or Path.home() / ".cache" / "kafkadouble") / f"server-{version}"
    if not (cache / "complete").exists():
        goal = ["dependency:copy-dependencies", f"-Dkafka.version={version}", f"-DoutputDirectory={cache}"]
        done = subprocess.run(["mvn", "-q", "-B", "-f", str(POM), *goal], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"Maven could not fetch Kafka {version}: {(done.stdout + done.stderr)[-500:]}")
        (cache / "complete").touch()
    return sorted(cache.glob("*.jar"))


class RealKafka:
    """A running node: where it listens, and the process."""

    def __init__(self, bootstrap: str, process: subprocess.Popen[bytes]) -> None:
        self.bootstrap, self.process = bootstrap, process

    @property
    def pid(self) -> int:
        return self.process.pid


@contextmanager
def real_kafka(folder: Path, version: str = VERSION, **overrides: object) -> Iterator[RealKafka]:
    """One combined node with its data in `folder`; settings by their Kafka names with `_` for `.`."""
    path = os.pathsep.join(map(str, jars(version)))
    config, logging, log = folder / "server.properties", folder / "log4j2.properties", folder / "server.log"
    folder.mkdir(parents=True, exist_ok=True)
    ports = _free_ports(2)
    settings = _settings(folder, *ports) | {key.replace("_", "."): value for key, value in overrides.items()}
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    logging.write_text(LOGGING)
    java = ["java", *JVM, f"-Dlog4j2.configurationFile={logging}", "-cp", path]
    format_ = [*java, "kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", str(config)]
    subprocess.run(format_, check=True, capture_output=True)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*java, "kafka.Kafka", str(config)], stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        _wait_ready(process, log)
        yield RealKafka(f"127.0.0.1:{ports[0]}", process)
    finally:
        _stop(process)


def _settings(folder: Path, port: int, controller_port: int) -> dict[str, object]:
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "log.dirs": folder / "data",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,
        "log.cleaner.dedupe.buffer.size": 2097154,
    }


def _cluster_id() -> str:
    while (text := base64.urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return text


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [sock.getsockname()[1] for sock in held]
    for sock in held:
        sock.close()
    return ports


def _wait_ready(process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if READY in log.read_bytes():
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError(f"Kafka was not ready (exit code {process.poll()}):\n{log.read_text()[-4000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
