"""Suites that use the pytest plugin, and their outcome."""

from __future__ import annotations

import pytest

ARGUMENTS = ("-p", "no:randomly", "-p", "no:cacheprovider", "-W", "error")


def run(pytester: pytest.Pytester, *arguments: str, process: bool = False, **outcomes: int) -> pytest.RunResult:
    """The outcome of the suite. A suite with several brokers, or that imports a client, runs
    in a separate process."""
    running = pytester.runpytest_subprocess if process else pytester.runpytest_inprocess
    result = running(*ARGUMENTS, *arguments)
    result.assert_outcomes(**outcomes)
    return result
