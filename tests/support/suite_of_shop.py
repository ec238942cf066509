"""Runs the suite of `examples/shop` in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[2]
SHOP = HOUSE / "examples" / "shop"

SUITE, ONLY_ON_DOUBLE = 32, 5
"""The tests of the suite, and those of them that need a double."""


def run_shop(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """The outcome of the suite. Warnings are errors."""
    pytester.makeini("[pytest]\npythonpath = " + str(HOUSE))
    own = (
        "-c",
        "tox.ini",
        f"--rootdir={HOUSE}",
        "-p",
        "kafkadouble.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-W",
        "error",
        "-rs",
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return pytester.runpytest_subprocess(*own, str(SHOP), *arguments)
