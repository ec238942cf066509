"""One Spark session for all tests that use it: a session costs 5 to 10 seconds, a query in it some
hundred milliseconds.

Without Java 17 or pyspark these tests are skipped, with the reason.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.spark_session import session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A local session on two cores."""
    if shutil.which("java") is None:
        pytest.skip("NOTHING OF SPARK WAS TESTED: there is no java on the path; install Java 17")
    pytest.importorskip("pyspark.sql", reason="NOTHING OF SPARK WAS TESTED: pip install 'kafkadouble[spark]'")
    with session("kafkadouble") as found:
        yield found
