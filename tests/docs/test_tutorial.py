"""docs/tutorial.md: its files are written and its commands are run, in its order, with the outcome that it shows."""

from __future__ import annotations

import ast
import concurrent.futures.thread  # noqa: F401  # see tests/test_readme.py
import importlib.util
import pkgutil
import re
import shlex
import sys
from pathlib import Path

import pytest

import kafkadouble.server
from tests.docs.pages import DOCS, Block, blocks

pytest.importorskip("confluent_kafka")
pytest_plugins = ("pytester",)

INSTALL, *STEPS = blocks((DOCS / "tutorial.md").read_text())


@pytest.fixture(scope="module")
def server_imported() -> None:
    """Imports the whole server before suites run inside of this process: pytester forgets what is first imported in such
    a suite, and the next suite would have two of a class, one of them known to modules that are older."""
    for module in pkgutil.walk_packages(kafkadouble.server.__path__, "kafkadouble.server."):
        importlib.import_module(module.name)


def test_what_the_page_installs_is_what_the_tests_have() -> None:
    (names,) = re.findall(r"^pip install (.+)$", INSTALL.text, re.MULTILINE)
    assert all(importlib.util.find_spec(name.replace("-", "_")) for name in names.split())


@pytest.mark.usefixtures("broker_imported", "server_imported")
def test_every_step_has_the_outcome_that_the_page_shows(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(pytester.path)
    for step in STEPS:
        if step.language == "python":
            write(pytester.path / step.title, step)
        else:
            run(pytester, step)
        sys.modules.pop("shop", None)


def write(path: Path, step: Block) -> None:
    """Writes a new file, replaces the one line that a block changes, or adds to a file."""
    before = path.read_text() if path.exists() else ""
    if not step.text.startswith(" "):
        path.write_text(before + "\n\n" * bool(before) + step.text)
    else:
        changed = re.compile(rf"^{re.escape(step.text.partition('=')[0])}=.*\n", re.MULTILINE)
        after, count = changed.subn(step.text, before)
        assert count == 1
        path.write_text(after)
    ast.parse(path.read_text())


def run(pytester: pytest.Pytester, step: Block) -> None:
    """Runs a command, whose output must hold each line that the page shows."""
    assert step.language == "console"
    command, *shown = step.text.splitlines()
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "pytest"
    result = pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider", *arguments)
    printed = "\n".join(result.outlines)
    assert shown
    assert all(line in printed for line in shown), printed
