"""The streaming program: reads orders from a topic, each counted once, and writes them to Parquet,
and totals by minute and product to a topic.

    spark-submit --master ... stream.py --bootstrap HOST:PORT --out DIRECTORY [--pace OFFSETS]

It continues from its checkpoint. With `--pace` it reads that many offsets in each batch until it is
killed, else everything that is there. When records that it had read were truncated, it prints them
and continues with the current ones.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

LATE = "10 minutes"
"""How much older than the newest order an order may be and still count."""

ORDER = "order_id long, customer string, product string, cents long, at long"


def orders(spark: SparkSession, options: argparse.Namespace, fail: bool) -> DataFrame:
    """Each order once: an order that was sent or read again is dropped by its number. Orders of
    aborted transactions are not read, and those of open ones wait until they are committed."""
    source = (
        spark.readStream.format("kafka-wire")
        .option("kafka.bootstrap.servers", options.bootstrap)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .option("kafka.isolation.level", "read_committed")
        .option("includeLeaderEpoch", "true")
        .option("failOnDataLoss", str(fail).lower())
    )
    if options.pace:
        source = source.option("maxOffsetsPerTrigger", str(options.pace))
    order = F.from_json(F.col("value").cast("string"), ORDER)
    return (
        source.load()
        .select(order.alias("order"), "partition", "offset", "leader_epoch")
        .select("order.*", "partition", "offset", "leader_epoch")
        .withColumn("at", F.timestamp_millis("at"))
        .withWatermark("at", LATE)
        .dropDuplicatesWithinWatermark(["order_id"])
    )


def totals(counted: DataFrame) -> DataFrame:
    """A record for each minute and product, when the minute is over."""
    minute = F.window("at", "1 minute")
    grouped = counted.groupBy(minute, "product").agg(F.count("*").alias("orders"), F.sum("cents").alias("cents"))
    begins = F.date_format(F.col("window.start"), "yyyy-MM-dd'T'HH:mm'Z'").alias("minute")
    totals = grouped.select(begins, "product", "orders", "cents")
    return totals.select(F.concat_ws(" ", "minute", "product").alias("key"), F.to_json(F.struct("*")).alias("value"))


def to_files(spark: SparkSession, options: argparse.Namespace, fail: bool) -> Any:
    """Writes every order to Parquet, with its partition and offset."""
    writer = orders(spark, options, fail).writeStream.format("parquet").option("path", f"{options.out}/orders")
    return _start(writer, "orders", options)


def to_topic(spark: SparkSession, options: argparse.Namespace, fail: bool) -> Any:
    """Writes the totals to a topic."""
    writer = totals(orders(spark, options, fail)).writeStream.format("kafka-wire").outputMode("append")
    writer = writer.option("kafka.bootstrap.servers", options.bootstrap).option("topic", "totals")
    return _start(writer, "totals", options)


def _start(writer: Any, name: str, options: argparse.Namespace) -> Any:
    trigger: dict[str, Any] = {"processingTime": "0 seconds"} if options.pace else {"availableNow": True}
    return writer.option("checkpointLocation", f"{options.out}/checkpoints/{name}").trigger(**trigger).start()


def run(spark: SparkSession, options: argparse.Namespace) -> None:
    """Runs both queries until everything is read, or the program is killed. A truncation stops a
    query; it is started again and continues after it."""
    running = [(start, start(spark, options, True)) for start in (to_files, to_topic)]
    for start, query in running:
        try:
            query.awaitTermination()
        except StreamingQueryException as stopped:
            reason = next((line.partition(": ")[2] for line in str(stopped).splitlines() if "truncated" in line), None)
            if reason is None:
                raise
            print(f"TRUNCATED {reason}", flush=True)
            start(spark, options, False).awaitTermination()


def main() -> int:
    parser = argparse.ArgumentParser(description="Orders into Parquet, totals into a topic.")
    parser.add_argument("--bootstrap", required=True, help="HOST:PORT of a broker")
    parser.add_argument("--out", required=True, help="directory of results and checkpoints")
    parser.add_argument("--pace", type=int, help="offsets a batch, until killed")
    options = parser.parse_args()
    spark = SparkSession.builder.appName("orders").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    run(spark, options)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
