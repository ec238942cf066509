"""Batches as a segment holds them: three made ones, and a segment that Apache Kafka wrote."""

from pathlib import Path

from kafkadouble.wire.batch import Record, encode_batch

GOLDEN = Path(__file__).resolve().parents[3] / "golden"
LOG = (GOLDEN / "cluster_metadata-0" / "00000000000000000000.log").read_bytes()


def batch(first: int, count: int = 1, epoch: int = 0) -> bytes:
    records = [Record(first + index, 1_700_000_000_000, b"key", b"value") for index in range(count)]
    return bytes(encode_batch(records, base_offset=first, partition_leader_epoch=epoch))


ROW = batch(5, 2) + batch(7) + batch(9, 3)
SIZES = [len(batch(5, 2)), len(batch(7)), len(batch(9, 3))]
