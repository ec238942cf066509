"""What is imported when: the package and the plugin cost next to nothing, and the server is there only when it is used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kafkadouble

ROOT = Path(__file__).parents[2]


def imported_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has after a program."""
    told = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(told.stdout.split())


def test_the_package_imports_nothing() -> None:
    ours = {name for name in imported_by("import kafkadouble") if name.startswith("kafkadouble")}
    assert ours == {"kafkadouble"}


def test_the_plugin_imports_no_server() -> None:
    before = imported_by("import pytest")
    after = imported_by("import pytest, kafkadouble.pytest_plugin")
    assert after - before == {"kafkadouble", "kafkadouble.pytest_plugin"}


def test_a_broker_imports_no_message_that_nobody_asked_for() -> None:
    modules = imported_by("import kafkadouble.double")
    unasked = {"produce", "metadata", "offset_fetch", "describe_groups", "consumer_group_describe", "delete_topics"}
    assert {f"kafkadouble.messages.generated.{name}" for name in unasked} & modules == set()
    assert {"crc32c", "zstandard", "cramjam", "difflib", "importlib.metadata", "argparse"} & modules == set()


def test_what_is_imported_before_it_listens() -> None:
    program = "import kafkadouble.cli.serve as serve; serve._place(serve.parser().parse_args(['--port', '0']), None)"
    modules = imported_by(program)
    assert {
        "asyncio",
        "logging",
        "shutil",
        "kafkadouble.server",
        "kafkadouble.messages",
        "kafkadouble.wire",
    } & modules == set()


def test_names_are_there_on_first_use() -> None:
    for name in kafkadouble.__all__:
        assert getattr(kafkadouble, name) is not None
        assert name in dir(kafkadouble)
    with pytest.raises(AttributeError, match="no attribute 'Kafka'"):
        kafkadouble.Kafka  # noqa: B018  # the access is the test


def test_the_version_is_that_of_the_distribution() -> None:
    told = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert told is not None
    assert told[1] == kafkadouble.__version__
