"""Runs one program: `PROGRAM VERB BOOTSTRAP TOPIC GROUP`, and reads the object in the last line of
its output.

Rules. A program ends by itself; one that does not is killed with its child processes, and that is a
failure. Only the end of its standard error is reported.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from .promise import ProgramResult, differences, expected, parsed
from .toolchains.building import CLASSIC, Program, built

TRANSACTIONS = {"InitProducerId", "AddPartitionsToTxn", "EndTxn"}
"""The APIs that a broker serves if a walk can have transactions."""

PATIENCE = 120.0
"""Seconds that a program may run. It gives up by itself after 60."""
TAIL = 3000
HOUSE = Path(__file__).resolve().parents[2]
"""The working directory of programs, so that those in Python find the modules of this project."""


class Ended(NamedTuple):
    """The result of a program; `result` is None if its last line was not the object."""

    code: int
    result: ProgramResult | None
    stdout: str
    stderr: str


def run(
    program: Program,
    verb: str,
    bootstrap: str,
    topic: str,
    group: str,
    transactions: bool = False,
    group_protocol: str = CLASSIC,
) -> Ended:
    """Raises Missing where the program cannot be built here."""
    command = [*program.command(built(program.toolchain)), verb, bootstrap, topic, group]
    return ended(command, TRANSACTIONS=str(int(transactions)), GROUP_PROTOCOL=group_protocol)


def ended(command: Sequence[str], **environment: str) -> Ended:
    """Runs a command to its end, or kills it when its time is over."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **environment},
            cwd=HOUSE,
            start_new_session=True,
        )
        try:
            code = process.wait(PATIENCE)
        except BaseException as reason:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if not isinstance(reason, subprocess.TimeoutExpired):
                raise
            code = -signal.SIGKILL
        stdout = tail(out)
        return Ended(code, _object(stdout), stdout, tail(err))


def tail(file: IO[bytes], most: int = TAIL) -> str:
    """The end of what was written to the file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - most))
    return file.read().decode(errors="replace")


def _object(stdout: str) -> ProgramResult | None:
    lines = stdout.strip().splitlines()
    try:
        return parsed(lines[-1]) if lines else None
    except ValueError:
        return None


def faults(program: Program, verb: str, end: Ended, transactions: bool = False) -> list[str]:
    """The differences from the contract; empty if there are none."""
    if end.result is None:
        return [f"no object in the last line; exit code {end.code}\n{end.stdout[-500:]}\n{end.stderr}"]
    version = program.version or end.result.version
    contract = expected(program.name, version, verb, program.not_offered, transactions)
    found = differences(end.result, contract)
    if end.code or found:
        found = [*found, f"exit code {end.code}", end.stderr]
    return found
