"""A test of interop that passes only when it is tried again leaves its reason after the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]

FAILS_ONCE = """
import pytest

TRIES = []


@pytest.mark.flaky(reruns=1)
def test_that_fails_once():
    print("seed 4711")
    TRIES.append(1)
    assert len(TRIES) == 2, "the first try"
"""


def test_reason_of_a_repeated_test_is_shown(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILS_ONCE)
    command = [sys.executable, "-m", "pytest", "-p", "interop.conftest", "-p", "no:cacheprovider", "test_it.py"]
    environment = {**os.environ, "PYTHONPATH": str(HOUSE)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    named = lines.index("tried again: test_it.py::test_that_fails_once: AssertionError: the first try")
    assert any(line.startswith("    >") and "assert len(TRIES) == 2" in line for line in lines[named:])
    assert "    seed 4711" in lines[named:]
