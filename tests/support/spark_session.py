"""The one Spark session of a suite, small and fast to start. pyspark is imported on use."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def session(name: str, **more: str) -> Iterator[Any]:
    """A local session on two cores. Settings have underscores where Spark has dots."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName(name)
    for key, value in {**SETTINGS, **{key.replace("_", "."): value for key, value in more.items()}}.items():
        builder = builder.config(key, value)
    found = builder.getOrCreate()
    yield found
    found.stop()
