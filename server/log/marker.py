"""The transaction marker: the record by which the transaction coordinator ends a transaction in
each of its partitions (KIP-98).
"""

from struct import Struct
from typing import NamedTuple

from kafkadouble.wire.batch import control_type, decode_records
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.control import ABORT, COMMIT, encode_control_batch
from kafkadouble.wire.errors import InvalidRecord

_VALUE = Struct(">hi")  # version, coordinator epoch


class EndTransactionMarker(NamedTuple):
    """An ABORT or COMMIT record."""

    aborted: bool
    coordinator_epoch: int
    timestamp: int


def encode_marker(
    producer_id: int, producer_epoch: int, *, committed: bool, coordinator_epoch: int, timestamp: int
) -> bytearray:
    """The control batch that ends a transaction."""
    return encode_control_batch(
        COMMIT if committed else ABORT,
        _VALUE.pack(0, coordinator_epoch),
        timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        seal=False,
    )


def read_marker(batch: Buffer) -> EndTransactionMarker | None:
    """The marker in a control batch with a producer id; None when compaction has removed it.
    InvalidRecord for any other record."""
    records = decode_records(batch, check_crc=False)
    if not records:
        return None
    record = records[0]
    kind = control_type(record)[1]
    if kind not in (ABORT, COMMIT) or record.value is None or len(record.value) < _VALUE.size:
        raise InvalidRecord(
            f"a control record of type {kind} with the value {record.value!r} in a producer's control batch"
        )
    version, coordinator_epoch = _VALUE.unpack_from(record.value)
    if version < 0:
        raise InvalidRecord(f"a transaction marker of version {version}")
    return EndTransactionMarker(kind == ABORT, coordinator_epoch, record.timestamp)
