"""The Node library: its own tests, those of a service with KafkaJS, and its types."""

from __future__ import annotations

from pathlib import Path

import pytest

from .building import copied, fetched, passes, tool

INSTALL = ("install", "--no-audit", "--no-fund", "--no-package-lock")

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def folder() -> Path:
    tool("node")
    made = copied("node")
    if not (made / "node_modules" / "complete").exists():
        fetched([tool("npm"), *INSTALL], made)
        (made / "node_modules" / "complete").touch()
    return made


def test_the_library_passes_its_tests(folder: Path) -> None:
    passes([tool("npm"), "test"], folder)


def test_the_types_compile(folder: Path) -> None:
    passes([tool("npm"), "run", "types"], folder)


@pytest.mark.parametrize("runner", ["jest", "vitest"])
def test_the_example_passes_in_a_test_runner(folder: Path, runner: str) -> None:
    example = folder / "examples" / runner
    if not (example / "node_modules" / "complete").exists():
        fetched([tool("npm"), *INSTALL], example)
        (example / "node_modules" / "complete").touch()
    passes([tool("npm"), "test"], example)
