"""What the libraries have in common: their folders, their program, and a copy to build in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from interop.local.jars import Missing, cache, program
from interop.walks.toolchains.building import fetch, fingerprint

LIBRARIES = Path(__file__).resolve().parents[2] / "helpers"
OURS = os.environ.get("KAFKADOUBLE_BINARY") or str(Path(sys.executable).with_name("kafkadouble"))
"""The program of this checkout, or the binary that `make binary` has made of it."""
LONGEST_S = 900
BUILT = shutil.ignore_patterns("node_modules", "target")


def tool(name: str) -> str:
    """The path of a tool; without it, the test is skipped."""
    try:
        return program(name)
    except Missing as reason:
        pytest.skip(str(reason))


def fetched(command: Sequence[str | Path], folder: Path, **environment: str) -> None:
    """Fetches packages. The test is skipped if they are not available."""
    try:
        fetch(command, folder, **environment)
    except Missing as reason:
        pytest.skip(str(reason))


def copied(name: str) -> Path:
    """A copy of a library's sources in the cache, in which packages and builds may be left. Changed
    sources are another copy."""
    source = LIBRARIES / name
    folder = cache() / f"helpers-{name}-{fingerprint(source)}"
    if not folder.exists():
        shutil.copytree(source, folder, ignore=BUILT)
    return folder


def passes(command: Sequence[str | Path], folder: Path) -> str:
    """Runs the tests of a library with the program of this checkout; returns what they print."""
    environment = {**os.environ, "KAFKADOUBLE": OURS}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-8000:]
    return output
