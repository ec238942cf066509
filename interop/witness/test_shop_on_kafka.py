"""Runs the suite of `examples/shop` on Apache Kafka, with `--kafka-broker=local`."""

from __future__ import annotations

import pytest

from interop.witness.release import release
from tests.support.suite_of_shop import ONLY_ON_DOUBLE, SUITE, run_shop

pytest_plugins = ["pytester"]


def test_shop_suite_passes_or_skips_on_apache_kafka(pytester: pytest.Pytester) -> None:
    result = run_shop(pytester, "--kafka-broker=local", f"--kafka-home={release()}")
    result.assert_outcomes(passed=SUITE - ONLY_ON_DOUBLE, skipped=ONLY_ON_DOUBLE)
    result.stdout.fnmatch_lines_random(
        ["*test_shop.py:*: drop_answer: only a double has that*", "*test_shop.py:*: stepped: only a double has that*"]
    )
