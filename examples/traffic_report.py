"""Reports which clients used which APIs and versions over many runs, as a job of Spark.

    spark-submit examples/traffic_report.py captures/ --logs kafka-request.log --out report/

The tables are those of `kafkadouble traffic`. `captures/` holds the traffic of any number of runs
of `kafkadouble serve --capture captures`; the logs are those of Kafka or Kroxylicious. Each table
is printed, and with `--out` also written as CSV into a folder of the same name.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from kafkadouble import UsageError
from kafkadouble.pipeline.spark.traffic import captures, logs, marked, table_of
from kafkadouble.pipeline.traffic.tables import TABLES

SHOWN = 40


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("captures", nargs="*", metavar="CAPTURE", help="files or folders of captured traffic")
    parser.add_argument("--logs", nargs="+", default=[], metavar="LOG", help="request logs, or folders of them")
    parser.add_argument("--zone", default="UTC", help="the time zone of the logs")
    parser.add_argument("--out", metavar="FOLDER", help="write the tables into this, too")
    options = parser.parse_args(words)
    spark = SparkSession.builder.appName("traffic report").getOrCreate()
    frames: list[DataFrame] = []
    if options.captures:
        frames.append(captures(spark, *options.captures))
    if options.logs:
        try:
            frames.append(logs(spark, *options.logs, zone=options.zone))
        except UsageError as problem:
            parser.error(str(problem))
    if not frames:
        parser.error("name a capture, or a log")
    rows = marked(reduce(DataFrame.unionByName, frames)).cache()
    for table in TABLES:
        made = table_of(rows, table)
        print(f"\n{table.title}")
        made.show(SHOWN, truncate=False)
        if options.out:
            made.coalesce(1).write.mode("overwrite").option("header", True).csv(f"{options.out}/{table.name}")
    rows.unpersist()


if __name__ == "__main__":
    main()
