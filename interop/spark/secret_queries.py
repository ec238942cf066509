"""Queries of all kinds with a password, in a Spark that logs everything. test_wire_secure runs it:
`-m interop.spark.secret_queries FOLDER`.

The options come by standard input, as JSON: valid ones, and ones with a wrong password. The output
of Spark and its workers, with plans and errors, goes to standard output and error as in any
program.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from tests.support.spark_session import session

TOPIC = "secret"
SOURCE = "kafka-wire"


def write(spark: Any, given: Mapping[str, str]) -> None:
    rows = spark.range(20).selectExpr("string(id) as value")
    rows.write.format(SOURCE).options(**given, topic=TOPIC).mode("append").save()


def read(spark: Any, given: Mapping[str, str]) -> None:
    rows = spark.read.format(SOURCE).options(**given, subscribe=TOPIC).load()
    rows.explain(True)
    print(f"ROWS {rows.count()}")


def stream(spark: Any, given: Mapping[str, str]) -> None:
    """A stream from the topic and back into it."""
    rows = spark.readStream.format(SOURCE).options(**given, subscribe=TOPIC, startingOffsets="earliest").load()
    sink = rows.select("value").writeStream.format(SOURCE).options(**given, topic=TOPIC)
    query = sink.option("checkpointLocation", sys.argv[1]).trigger(availableNow=True).start()
    query.awaitTermination()
    query.explain(True)


def main() -> None:
    right, wrong = json.load(sys.stdin)
    with session("secrets", spark_log_level="DEBUG") as spark:
        for each in (write, read, stream):
            each(spark, right)
            try:
                each(spark, wrong)
            except Exception as error:  # Spark chooses the class of the error
                print(f"REFUSED {error}")


if __name__ == "__main__":
    main()
