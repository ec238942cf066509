"""The files for containers: what a container would run, as a process of this machine."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafkadouble.cli.serve import parser
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.control.http import call
from tests.support.client import ask
from tests.support.serving import serving

FOLDER = Path(__file__).parents[2] / "containers"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()


def free_ports(words: list[str], *ports: int) -> list[str]:
    """The words with port 0, any free one, in place of these ports where a process binds them."""
    return [
        re.sub(rf"(?<=0\.0\.0\.0:)({'|'.join(map(str, ports))})|^({'|'.join(map(str, ports))})$", "0", word)
        for word in words
    ]


def test_the_command_of_the_image_serves_and_is_healthy(tmp_path: Path) -> None:
    (entry,), (command,) = (
        re.findall(rf"^{name} (\[.*\])$", DOCKERFILE, re.MULTILINE) for name in ("ENTRYPOINT", "CMD")
    )
    program, serve, *always = json.loads(entry)
    assert (program, serve) == ("kafkadouble", "serve")
    (check,) = re.findall(r"^    CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    ready = always[always.index("--ready-file") + 1]
    assert json.loads(check) == ["test", "-e", ready]
    words = json.loads(command)
    assert parser().parse_args([*always, *words]).advertised == ("localhost", 9092)
    always[always.index(ready)] = str(tmp_path / "ready")
    with serving(*always, *[word.replace("9092", "0") for word in words]) as served:
        while not (tmp_path / "ready").exists():
            pass
        assert (tmp_path / "ready").read_text().startswith(f"bootstrap.servers=localhost:{served.address[1]}\n")
        response = ask(served.address, MetadataRequest(topics=[]), 12)
        assert [(broker.host, broker.port) for broker in response.brokers] == [served.address]
        assert served.address[0] == "localhost"
        served.process.terminate()
        assert served.ended()[0] == 0
    assert not (tmp_path / "ready").exists()


def compose() -> Any:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]["kafka"]


def test_the_service_serves_containers_and_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    service = compose()
    given = service["environment"]["KAFKADOUBLE_CONTROL_TOKEN"]
    assert re.fullmatch(r"\$\{KAFKADOUBLE_CONTROL_TOKEN:\?.*\}", given), "it has no default"
    monkeypatch.setenv("KAFKADOUBLE_CONTROL_TOKEN", "of-this-test")
    with serving(*free_ports(service["command"], 9092, 29092, 9099)) as served:
        lines = served.more_lines(3)
        assert served.startup["bootstrap.servers"] == "kafka:9092"
        assert lines["listener.name.external.bootstrap.servers"] == "localhost:29092"
        url = f"http://127.0.0.1:{lines['control.url'].rpartition(':')[2]}"
        assert call(url, "POST", "/verbs/topics").status == 401
        right = {"Authorization": "Bearer of-this-test"}
        for host in ("kafka:9099", "localhost:9099", "host.docker.internal:9099"):
            assert call(url, "POST", "/verbs/topics", None, {**right, "Host": host}).status == 200
        assert call(url, "POST", "/verbs/topics", None, {**right, "Host": "attacker.example"}).status == 403


def test_published_ports_are_those_of_the_command() -> None:
    service = compose()
    words = " ".join(service["command"])
    for published in service["ports"]:
        host, outside, inside = published.split(":")
        assert (host, outside) == ("127.0.0.1", inside)
        assert inside in words


def test_the_folders_are_there() -> None:
    service = compose()
    assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    for line in DOCKERFILE.splitlines():
        if line.startswith("#   docker build"):
            words = shlex.split(line.removeprefix("#"))
            assert (FOLDER.parent / words[words.index("--file") + 1]).is_file()
