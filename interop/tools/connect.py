"""Kafka Connect and MirrorMaker as processes, with the settings that docs/recipes.md shows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from interop.local.jars import program
from interop.local.java import LOGGING, QUICK
from interop.local.process import Process
from tests.support.pages import DOCS, blocks

from .jars import VERSION, copied

POM = Path(__file__).with_name("connect.pom.xml")
CONNECT, MIRROR_MAKER = "connect-distributed.properties", "mm2.properties"
MAIN = {
    CONNECT: ("org.apache.kafka.connect.cli.ConnectDistributed", b"Kafka Connect started"),
    MIRROR_MAKER: ("org.apache.kafka.connect.mirror.MirrorMaker", b"Kafka MirrorMaker started"),
}
"""The main class of each file of settings, and what it logs when it runs."""


def class_path() -> str:
    """The jars, which Maven fetches the first time. Raises Missing."""
    program("java")
    return os.pathsep.join(map(str, copied(POM, f"connect-{VERSION}", f"Kafka Connect {VERSION}")))


def shown(title: str) -> dict[str, str]:
    """The settings of a file on the page."""
    (block,) = (block for block in blocks((DOCS / "recipes.md").read_text(), "properties") if block.title == title)
    pairs = (line.partition("=") for line in block.text.splitlines())
    return {name: value for name, _, value in pairs}


@contextmanager
def running(title: str, folder: Path, own: Mapping[str, str]) -> Iterator[None]:
    """The program with the settings of the page, and with these in place of some of them. Raises
    Missing."""
    settings = shown(title)
    assert set(own) <= set(settings)
    file = folder / title
    file.write_text("".join(f"{name}={value}\n" for name, value in {**settings, **own}.items()))
    main, ready = MAIN[title]
    logging = f"-Dlog4j2.configurationFile={LOGGING}"
    process = Process([program("java"), *QUICK, logging, "-cp", class_path(), main, str(file)], folder / "log", ready)
    try:
        process.wait_ready()
        yield
    finally:
        process.kill()


class Worker:
    """The REST API of a worker of Connect."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port

    def put(self, name: str, config: Mapping[str, str]) -> int:
        """Creates a connector; returns the status of the answer. A worker that rebalances answers
        409."""
        return self._ask("PUT", f"/connectors/{name}/config", config)[0]

    def states(self, name: str) -> list[str]:
        """The states of a connector and its tasks."""
        status, body = self._ask("GET", f"/connectors/{name}/status")
        return [body["connector"]["state"], *(task["state"] for task in body["tasks"])] if status == 200 else []

    def _ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        connection = HTTPConnection(self._host, self._port, timeout=90)
        try:
            connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()
