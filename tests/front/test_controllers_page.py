"""docs/controllers.md and docs/controller-listener.md: the lists match what is served, the settings
exist, and the messages are those of the programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.__main__ import main
from kafkadouble.cli import format as formatting
from kafkadouble.cli import serve
from kafkadouble.server.apis.served import CONTROLLER_TABLE
from kafkadouble.server.configs.listeners import endpoints
from kafkadouble.server.configs.settings import Settings, properties

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "controllers.md").read_text()
LISTENER = (ROOT / "docs" / "controller-listener.md").read_text()
PROPERTIES = re.findall(r"```properties\n(.*?)```", PAGE, re.DOTALL)
ROLES = ["controller", "broker"]
"""The role of each example on the page, in their order."""


def section(title: str, page: str = PAGE) -> str:
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def test_the_table_is_what_is_served_to_controllers() -> None:
    expected = [
        [served.name, str(served.lowest) if served.lowest == served.highest else f"{served.lowest}-{served.highest}"]
        for served in CONTROLLER_TABLE
    ]
    assert rows(section("What is served", LISTENER))[1:] == expected


def test_every_flag_exists_and_every_flag_of_quorums_is_on_the_page() -> None:
    flags = set(re.findall(r"`(--[a-z-]+)`", section("From a server.properties")))
    assert flags == {"--standalone", "--initial-controllers", "--no-initial-controllers"}
    known = formatting.parser().format_help()
    assert [flag for flag in flags if flag not in known] == []
    assert "--controller-port" in serve.parser().format_help()


@pytest.mark.parametrize(("example", "role"), [*zip(PROPERTIES, ROLES, strict=True)], ids=ROLES)
def test_the_settings_are_settings(example: str, role: str) -> None:
    settings = Settings(sources=properties(example, "server.properties"))
    assert settings.list("process.roles") == [role]
    assert len(endpoints(settings)) == 1


def test_three_controllers_of_the_page_are_formatted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    voters = re.search(r"^VOTERS=(.*)$", PAGE, re.MULTILINE)
    command = re.search(r"^  kafkadouble (format .*)$", PAGE, re.MULTILINE)
    assert voters is not None
    assert command is not None
    for n in "123":
        config = tmp_path / f"controller-{n}.properties"
        config.write_text(
            PROPERTIES[0].replace("node.id=1", f"node.id={n}").replace("/var/lib/kafka/1", f"{tmp_path}/{n}")
        )
        words = command[1].replace("$VOTERS", voters[1]).replace("controller-$n", f"{tmp_path}/controller-{n}").split()
        assert main(words) == 0
        assert "Formatting dynamic metadata voter directory" in capsys.readouterr().out


def test_the_example_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "controllers.md", "exec"), {"__name__": "page", "KafkaDouble": KafkaDouble})
    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", capsys.readouterr().out)
