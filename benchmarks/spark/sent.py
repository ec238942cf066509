"""Counts the bytes that a broker sends for each byte of the record batches that a query reads: for
a stream of small micro-batches, and for a split batch.

The broker records the size of each response (`serve --capture`); each query has a client id of its
own, by which its Fetch responses are counted. The stream reads 2,000 offsets per micro-batch to the
end. Counts of bytes, unlike times, hold on any machine; only the worker of each task varies.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import servers
from kafkadouble.messages.api_keys import ApiKeys

from . import topic
from .figures import Figure
from .session import Session

MB = 1_000_000
SIZE = 10 * MB
PER_TRIGGER, SPLITS = "2000", "32"
MOST = {"stream": 1.2, "split batch": 1.3}
LIMITS = {"stream": {"maxOffsetsPerTrigger": PER_TRIGGER}, "split batch": {"minPartitions": SPLITS}}


def figures(at: Session) -> list[Figure]:
    """One broker for all queries, of the connector and of `kafka-wire`."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        logs, captured = Path(folder, "data"), Path(folder, "captured")
        given = ("--data-dir", str(logs), "--topic", f"{topic.NAME}:{topic.PARTITIONS}", "--capture", str(captured))
        with servers.ours(*given, "-c", f"log.retention.ms={topic.FOREVER}") as (bootstrap, _):
            size, rows = topic.fill(bootstrap, topic.batches(), SIZE)
            for source in ("kafka", "kafka-wire"):
                for case, read in (("stream", _stream), ("split batch", _batch)):
                    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": topic.NAME, **LIMITS[case]}
                    named = {"kafka.client.id": f"{source} {case}", "startingOffsets": "earliest"}
                    if (found := read(at, source, options | named, Path(folder, f"{source}-{case}"))) != rows:
                        raise ValueError(f"{source}, {case}: {found} rows of {rows}")
        return [figure for case in MOST for figure in _figures(captured, case, size)]


def _figures(captured: Path, case: str, size: int) -> list[Figure]:
    sent = {source: _sent(captured, f"{source} {case}") / size for source in ("kafka", "kafka-wire")}
    more = {"stream": f"{PER_TRIGGER} offsets a micro-batch", "split batch": f"{SPLITS} tasks"}[case]
    return [
        Figure(f"bytes sent / bytes of rows, {case}, Spark's connector", sent["kafka"], "times", more=more),
        Figure(f"bytes sent / bytes of rows, {case}, kafka-wire", sent["kafka-wire"], "times", most=MOST[case]),
    ]


def _sent(captured: Path, client_id: str) -> int:
    """The bytes of Fetch responses on the wire."""
    rows = pq.read_table(captured, columns=["client_id", "api_key", "response_bytes"])
    mine = pc.and_(pc.equal(rows["api_key"], ApiKeys.FETCH), pc.equal(rows["client_id"], client_id))
    return int(pc.sum(rows.filter(mine)["response_bytes"]).as_py() or 0)


def _stream(at: Session, source: str, options: dict[str, str], folder: Path) -> int:
    """Runs a stream into the `noop` sink; returns its number of rows."""
    rows = at.spark.readStream.format(source).options(**options).load()
    query = rows.writeStream.format("noop").option("checkpointLocation", str(folder)).trigger(availableNow=True).start()
    query.awaitTermination()
    return sum(progress["numInputRows"] for progress in query.recentProgress)


def _batch(at: Session, source: str, options: dict[str, str], folder: Path) -> int:
    return int(at.spark.read.format(source).options(**options).load().selectExpr("count(value)").first()[0])
