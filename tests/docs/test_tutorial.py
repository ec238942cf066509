"""docs/tutorial.md: its files are written, and each of its commands has the outcome that it
shows."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex

import pytest

from tests.support.pages import DOCS, blocks, run_suite

pytest.importorskip("confluent_kafka")
pytest_plugins = ("pytester",)

INSTALL, *STEPS = blocks((DOCS / "tutorial.md").read_text())
COMMANDS = [index for index, step in enumerate(STEPS) if step.language != "python"]


def test_tutorial_installs_the_packages_of_the_tests() -> None:
    (names,) = re.findall(r"^pip install (.+)$", INSTALL.text, re.MULTILINE)
    assert all(importlib.util.find_spec(name.replace("-", "_")) for name in names.split())


@pytest.mark.parametrize("index", COMMANDS, ids=lambda index: f"line-{STEPS[index].line}")
def test_a_command_prints_what_is_shown(pytester: pytest.Pytester, index: int) -> None:
    """With the files as they are at that place of the page."""
    for step in STEPS[:index]:
        if step.language == "python":
            path = pytester.path / step.title
            before = path.read_text() if path.exists() else ""
            if not step.text.startswith(" "):
                path.write_text(before + "\n\n" * bool(before) + step.text)
            else:
                changed = re.compile(rf"^{re.escape(step.text.partition('=')[0])}=.*\n", re.MULTILINE)
                after, count = changed.subn(step.text, before)
                assert count == 1
                path.write_text(after)
            ast.parse(path.read_text())
    assert STEPS[index].language == "console"
    command, *shown = STEPS[index].text.splitlines()
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "pytest"
    printed = "\n".join(run_suite(pytester, *arguments).outlines)
    assert shown
    assert all(line in printed for line in shown), printed
