"""The command line when the reader of its output closes the pipe, as `head -1` does: exit code 0,
and no text about it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.__main__ import VERBS
from tests.front.hello import connect, says_hello

LOG = "{data}/__cluster_metadata-0/00000000000000000000.log"
CALLS: dict[str, str] = {
    "help": "--help",
    "version": "--version",
    "serve: help": "serve --help",
    "ctl": "ctl --url {url} topics",
    "ctl: JSON": "ctl --url {url} --json topics",
    "ctl: completion": "ctl --completion bash",
    "ctl: help": "ctl --help",
    "format": "format --standalone -c {properties}",
    "messages": "messages",
    "messages: JSON": "messages --json",
    "supported": "supported",
    "supported: Markdown": "supported --markdown",
    "inspect": f"inspect --style hex {LOG}",
    "dump": f"dump {LOG}",
    "dump: JSON": f"dump --json {LOG}",
    "check": f"check --live {LOG}",
    "check: JSON": "check --live --json {data}",
    "observe": "observe {controllers}",
    "observe: watch": "observe --watch {controllers}",
    "observe: JSON": "observe --json {controllers}",
    "replay": "replay {capture} {servers}",
    "replay: JSON": "replay --json {capture} {servers}",
    "scripted": "scripted --port 0 {capture}",
    "traffic": "traffic {capture}",
    "traffic: JSON": "traffic --json {capture}",
}
PROPERTIES = """
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:9093
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:9093
log.dirs={folder}/formatted
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the calls are about: a double that runs, its files, and a recording."""
    folder = tmp_path_factory.mktemp("closed_output")
    (folder / "server.properties").write_text(PROPERTIES.format(folder=folder))
    with KafkaDouble(capture=folder / "capture", capture_frames=True) as recorded, connect(recorded) as sock:
        assert says_hello(sock)
    with KafkaDouble(data_dir=folder / "data", controller_port=0) as kafka:
        for number in range(50):
            kafka.create_topic(f"a topic with a long name {number}".replace(" ", "-"))
        yield {
            "data": str(folder / "data"),
            "url": kafka.page.rstrip("/"),
            "properties": str(folder / "server.properties"),
            "controllers": kafka.controller_bootstrap_servers,
            "capture": str(folder / "capture"),
            "servers": kafka.bootstrap_servers,
            "port": str(kafka.port),
        }


@contextmanager
def running(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process whose output nothing reads from the start."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-W", "error", "-m", "kafkadouble", *words]
    with subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, text=True) as process:
        os.close(writer)
        try:
            yield process
        finally:
            process.kill()


def test_closed_output_is_tested_for_each_verb() -> None:
    assert {call.split()[0] for call in CALLS.values()} - {"--help", "--version"} == set(VERBS)


@pytest.mark.parametrize("name", CALLS)
def test_a_verb_ends_quietly_when_its_output_is_closed(places: dict[str, str], name: str) -> None:
    with running(CALLS[name].format(**places).split()) as process:
        _, problems = process.communicate(timeout=60)
    assert (process.returncode, problems) == (0, "")


def test_the_stream_of_requests_ends_quietly_when_its_output_is_closed(places: dict[str, str]) -> None:
    with running(["ctl", "--url", places["url"], "events"]) as process:
        while process.poll() is None:
            with socket.create_connection(("127.0.0.1", int(places["port"])), timeout=10) as sock:
                assert says_hello(sock)
        _, problems = process.communicate()
    assert (process.returncode, problems) == (0, "")


def test_a_broker_serves_on_when_its_output_is_closed() -> None:
    with running(["serve", "--port", "0"]) as process:
        assert process.stderr is not None
        port = process.stderr.readline().partition("serving at 127.0.0.1:")[2]
        with socket.create_connection(("127.0.0.1", int(port)), timeout=10) as sock:
            assert says_hello(sock)
        process.send_signal(signal.SIGTERM)
        _, problems = process.communicate(timeout=60)
    assert (process.returncode, [line.split(maxsplit=2)[2] for line in problems.splitlines()]) == (0, ["INFO ended"])


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for verb in ("dump", "check", "inspect"):
        path = tmp_path / "absent.log"
        command = [sys.executable, "-m", "kafkadouble", verb, str(path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 2
        assert f"{path}: No such file" in ended.stderr
