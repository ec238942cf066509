"""Runs the tests of a mutation in a process of their own, and says whether one of them failed."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import Enum
from typing import NamedTuple

from .mutation import HOUSE, Mutation
from .table import MUTATIONS

NAME = "KAFKADOUBLE_MUTATION"
PYTEST = ("-m", "pytest", "-x", "-q", "--no-header", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist")
ALL_PASSED, SOME_FAILED = 0, 1
"""Exit codes of pytest; every other one says that no test could be run."""


class Verdict(Enum):
    """What became of a mutation."""

    KILLED = "killed"
    SURVIVED = "SURVIVED"
    BROKEN = "BROKEN: the tests cannot be run"


class Result(NamedTuple):
    """`said` is the first test that failed, or what pytest said last."""

    verdict: Verdict
    message: str

    def is_as_stated(self, mutation: Mutation) -> bool:
        """Whether it was killed, or survived for a written reason."""
        return self.verdict is (Verdict.SURVIVED if mutation.survives else Verdict.KILLED)


def run(name: str, tests: tuple[str, ...] = ()) -> Result:
    """The tests of one mutation, or others, with its rule broken."""
    done = _pytest(tests or MUTATIONS[name].tests, {NAME: name})
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith("FAILED ")]
    verdict = {ALL_PASSED: Verdict.SURVIVED, SOME_FAILED: Verdict.KILLED}.get(done.returncode, Verdict.BROKEN)
    return Result(verdict, (failed or lines or [done.stderr])[-1])


def unbroken(tests: tuple[str, ...]) -> bool:
    """Whether these tests pass when no rule is broken."""
    return _pytest(tests, {}).returncode == ALL_PASSED


def _pytest(tests: tuple[str, ...], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    others = {key: value for key, value in os.environ.items() if key != NAME and not key.startswith("PYTEST_")}
    command = [sys.executable, *PYTEST, "-p", "tests.mutations.loading", *tests]
    return subprocess.run(
        command, cwd=HOUSE, env={**others, **environment}, capture_output=True, text=True, timeout=300
    )
