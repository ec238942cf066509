"""The example of the shop: its suite on a double. `interop/witness/test_shop_on_kafka.py` runs it
on Apache Kafka."""

from __future__ import annotations

import pytest

from tests.support.suite_of_shop import SUITE, run_shop

pytest_plugins = ["pytester"]


def test_suite_of_the_shop_passes_on_a_double(pytester: pytest.Pytester) -> None:
    run_shop(pytester).assert_outcomes(passed=SUITE)
