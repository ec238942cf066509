"""One broker for one directory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafkadouble.server.logs.lock import DirectoryLock
from kafkadouble.wire.errors import UsageError

HOLDER = """
import sys
from kafkadouble.server.logs.lock import DirectoryLock
held = DirectoryLock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_directory_lock_is_held_until_released(tmp_path: Path) -> None:
    lock = DirectoryLock(str(tmp_path))
    with pytest.raises(UsageError, match="in use"):
        DirectoryLock(str(tmp_path))
    lock.release()
    lock.release()
    DirectoryLock(str(tmp_path)).release()


def test_another_process_has_it_until_it_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"held"
        with pytest.raises(UsageError, match="in use"):
            DirectoryLock(str(tmp_path))
        other.kill()
        other.wait()
    DirectoryLock(str(tmp_path)).release()
