"""The audit: compares the results of the pipeline with the brokers' files, without a request to a
broker.

    spark-submit --master ... audit.py --logs DIRECTORY --out DIRECTORY

The exit code is 0 when no order is missing, no order was counted twice, none was counted from a
transaction that was not committed, all totals are correct and all replicas hold the same bytes.
audit.json has the numbers, by offset.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

ORDER = "order_id long, customer string, product string, cents long, at long"
TOTAL = "minute string, product string, orders long, cents long"
PLACE = ("partition", "offset")
ONE = "replica LIKE '%broker-2'"
"""The replica whose records are read. A check of its own compares the replicas."""
SHOWN = 20
"""The number of offsets that are listed for each finding."""


class Audit:
    """The files of one cluster and the results of one pipeline. `closing` is the number of the
    order that only moved event time on. `log` has the orders that count: those outside of
    transactions, and those of committed ones. `uncommitted` has the others."""

    def __init__(self, spark: SparkSession, logs: str, out: str, closing: int) -> None:
        self._spark, self._logs, self._closing = spark, logs, closing
        order = F.from_json(F.col("value").cast("string"), ORDER).alias("order")
        total = F.from_json(F.col("value").cast("string"), TOTAL).alias("total")
        columns = ("transactional", *PLACE)
        everything, self.log = (
            self._log("records", "orders", isolation=isolation).where(ONE).select(order, *columns).select("order.*", *columns).cache()
            for isolation in ("read_uncommitted", "read_committed")
        )  # fmt: skip
        self.uncommitted = everything.join(self.log, [*PLACE], "left_anti").cache()
        key = F.col("key").cast("string").alias("key")
        self.totals = self._log("records", "totals").where(ONE).select(key, total, *PLACE).cache()
        self.batches = self._log("batches", "orders").cache()
        self.transactions = self._log("transactions", table="outcomes").where(ONE).cache()
        self.counted = spark.read.parquet(f"{out}/orders").cache()

    def _log(self, level: str, topics: str | None = None, **options: str) -> DataFrame:
        if topics:
            options["topics"] = topics
        return self._spark.read.format("kafka-log").option("level", level).options(**options).load(self._logs)

    def findings(self) -> dict[str, DataFrame]:
        """The errors in the results, each with its offsets."""
        counted = self.counted.select("order_id", *PLACE)
        return {
            "in the log and not counted": self.log.join(counted, "order_id", "left_anti").select("order_id", *PLACE),
            "counted twice": counted.groupBy("order_id").agg(F.count("*").alias("times"), F.min("partition").alias("partition"),
                                                             F.max("offset").alias("offset")).where("times > 1"),
            "counted and not in the log": counted.join(self.log, "order_id", "left_anti"),
            "counted from a transaction that was not committed": counted.join(self.uncommitted, ["order_id", *PLACE], "left_semi"),
            "totals that are wrong": self._wrong_totals(),
        }  # fmt: skip

    def allowed(self) -> dict[str, DataFrame]:
        """What is allowed with at-least-once delivery, on a cluster that loses records."""
        sent_again = self.log.groupBy("order_id").agg(
            F.count("*").alias("times"), F.first("partition").alias("partition"), F.max("offset").alias("offset")
        )
        elsewhere = self.counted.alias("c").join(
            self.log.alias("l"),
            (F.col("c.partition") == F.col("l.partition")) & (F.col("c.offset") == F.col("l.offset")),
        )
        return {
            "orders that were sent again": sent_again.where("times > 1"),
            "counted at an offset that holds another order now": elsewhere.where("c.order_id != l.order_id").select(
                "c.order_id", "c.partition", "c.offset"
            ),
            "totals that were written again": self.totals.groupBy("key").agg(
                F.count("*").alias("times"), F.max("partition").alias("partition"), F.max("offset").alias("offset")
            ).where("times > 1"),
        }  # fmt: skip

    def _wrong_totals(self) -> DataFrame:
        """Compares the last total of each key with the sum of the log's orders, each counted
        once."""
        once = self.log.where(F.col("order_id") != self._closing).dropDuplicates(["order_id"])
        minute = F.date_format(F.window(F.timestamp_millis("at"), "1 minute")["start"], "yyyy-MM-dd'T'HH:mm'Z'")
        right = once.groupBy(F.concat_ws(" ", minute, "product").alias("key")).agg(
            F.count("*").alias("orders"), F.sum("cents").alias("cents")
        )
        totals = self.totals.groupBy("key").agg(
            F.max_by("total", "offset").alias("total"),
            F.max("partition").alias("partition"),
            F.max("offset").alias("offset"),
        )
        return right.join(totals, "key", "full_outer").where(
            "total is null or orders is null or total.orders != orders or total.cents != cents"
        ).select("key", "partition", "offset", "orders", "total")  # fmt: skip

    def replicas(self) -> list[dict[str, Any]]:
        """The places where replicas of the orders differ."""
        from kafkadouble.pipeline.spark import divergence

        return [row.asDict() for row in divergence(self.batches).where("first_difference is not null").collect()]

    def figures(self) -> dict[str, Any]:
        """The numbers for the report."""
        batches = self.batches.where(ONE)
        sums = F.sum("count").alias("records"), F.sum("size").alias("bytes")
        codecs = batches.where("not control").groupBy("codec").agg(*sums).orderBy("codec")
        outcomes = self.transactions.groupBy(F.coalesce("outcome", F.lit("open")).alias("outcome"))
        once = self.log.where(F.col("order_id") != self._closing).dropDuplicates(["order_id"])
        minutes = once.groupBy(F.window(F.timestamp_millis("at"), "1 minute")["start"].cast("string").alias("minute"))
        epochs = batches.groupBy("partition", "leader_epoch").agg(
            F.min("base_offset").alias("from"), F.max("last_offset").alias("to")
        )
        return {
            "spark": {"version": self._spark.version, "master": self._spark.sparkContext.master},
            "records in the log": self.log.count(),
            "orders counted": self.counted.count(),
            "transactions": {row.outcome: row["count"] for row in outcomes.count().collect()},
            "orders in committed transactions": self.log.where("transactional").count(),
            "orders in other transactions": self.uncommitted.count(),
            "codecs": [row.asDict() for row in codecs.collect()],
            "minutes": [row.asDict() for row in minutes.agg(F.count("*").alias("orders")).orderBy("minute").collect()],
            "epochs": [row.asDict() for row in epochs.orderBy("partition", "leader_epoch").collect()],
        }


def finding(frame: DataFrame) -> dict[str, Any]:
    """The number of findings, and the first of them by partition and offset."""
    rows = frame.orderBy(*PLACE).cache()
    return {"count": rows.count(), "first": [row.asDict(recursive=True) for row in rows.limit(SHOWN).collect()]}


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold results against the brokers' files.")
    parser.add_argument("--logs", required=True, help="directory of the brokers' log directories")
    parser.add_argument("--out", required=True, help="directory of the results")
    parser.add_argument("--closing", type=int, default=-1, help="number of an order that counts in no total")
    options = parser.parse_args()
    spark = SparkSession.builder.appName("audit").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    audit = Audit(spark, options.logs, options.out, options.closing)
    found = {name: finding(rows) for name, rows in audit.findings().items()}
    differing = audit.replicas()
    result = {
        "findings": found,
        "allowed": {name: finding(rows) for name, rows in audit.allowed().items()},
        "replicas that differ": differing,
        **audit.figures(),
    }
    (Path(options.out) / "audit.json").write_text(json.dumps(result, indent=1, default=str))
    spark.stop()
    return int(bool(differing) or any(each["count"] for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())
