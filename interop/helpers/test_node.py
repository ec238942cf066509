"""The Node library: its own tests, those of a service with KafkaJS, and its types."""

from __future__ import annotations

import tarfile
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
    assert " - what verbs return is given back" in passes([tool("npm"), "test"], folder)


def test_the_types_compile(folder: Path) -> None:
    passes([tool("npm"), "run", "types"], folder)


USE = """
const { start } = require('./package');
start({ topics: { orders: 1 } }).then(async (kafka) => {
  await kafka.produce('orders', { value: 'two pears' });
  console.log((await kafka.waitForRecords('orders'))[0].value.toString());
  await kafka.stop();
});
"""


def test_the_packed_package_is_complete(folder: Path, tmp_path: Path) -> None:
    passes([tool("npm"), "pack", "--pack-destination", str(tmp_path)], folder)
    (packed,) = tmp_path.glob("kafkadouble-*.tgz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    assert passes([tool("node"), "-e", USE], tmp_path).splitlines() == ["two pears"]
    for name in ("README.md", "LICENSE", "lib/index.mjs", "lib/index.d.ts", "lib/verbs.d.ts", "lib/results.d.ts"):
        assert (tmp_path / "package" / name).is_file()


@pytest.mark.parametrize("runner", ["jest", "vitest"])
def test_the_example_passes_in_a_test_runner(folder: Path, runner: str) -> None:
    example = folder / "examples" / runner
    if not (example / "node_modules" / "complete").exists():
        fetched([tool("npm"), *INSTALL], example)
        (example / "node_modules" / "complete").touch()
    passes([tool("npm"), "test"], example)
