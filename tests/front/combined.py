"""Nodes in other processes, each a broker and a controller: their settings, and the brokers that
each of them knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.uuid import Uuid
from tests.support.serving import Serving, run

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
SESSION_MS = 2000


def formatted(folder: Path, id: int, lines: Mapping[str, object], *words: str) -> Path:
    """The file of the settings of a node, whose directory is formatted with them."""
    file = folder / f"{id}.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()), "utf-8")
    done = run("format", "-t", CLUSTER_ID, "-c", str(file), *words)
    assert done.returncode == 0, done.stderr
    return file


def of_combined(folder: Path, id: int, ports: dict[int, int], client_port: int = 0) -> Path:
    """Writes the settings of one node of a dynamic quorum, whose controllers listen on these ports,
    and formats its directory."""
    servers = ",".join(f"127.0.0.1:{port}" for port in ports.values())
    lines = {
        "node.id": id,
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://127.0.0.1:{client_port},CONTROLLER://127.0.0.1:{ports[id]}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": servers,
        "broker.session.timeout.ms": SESSION_MS,
        "broker.heartbeat.interval.ms": 500,
        "log.dirs": folder / str(id),
    }
    first = ",".join(f"{each}@127.0.0.1:{port}:{Uuid(bytes([each]) * 16)}" for each, port in ports.items())
    return formatted(folder, id, lines, "--initial-controllers", first)


def live(served: Serving) -> set[int]:
    """The brokers in a client's metadata, as soon as the node accepts the client."""
    return {broker.node_id for broker in served.ask(MetadataRequest(topics=[]), 12).brokers}
