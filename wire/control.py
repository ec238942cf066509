"""Control batches: the records that brokers and controllers write for one another in a log (KIP-98,
KIP-595, KIP-630, KIP-853).

The key of a control record holds its version and its type. The type defines the value, which
`messages` reads.
"""

from struct import Struct

from .batch_write import encode_batch
from .errors import InvalidRecord
from .record import Record

ABORT, COMMIT, LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, KRAFT_VERSION, KRAFT_VOTERS = range(7)
CONTROL_NAMES = (
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
)
"""Control type id -> its name in Kafka. A reader ignores the types that it does not know."""

_KEY = Struct(">hh")


def control_record(offset: int, timestamp: int, type: int, value: bytes, version: int = 0) -> Record:
    """The control record of this type; `version` is its key's."""
    return Record(offset, timestamp, _KEY.pack(version, type), value)


def encode_control_batch(
    type: int,
    value: bytes,
    *,
    version: int = 0,
    base_offset: int = 0,
    timestamp: int = -1,
    partition_leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    is_transactional: bool = False,
    seal: bool = True,
) -> bytearray:
    """A batch of one control record; for several, give `control_record`s to `encode_batch(...,
    is_control=True)`. The markers that end a transaction are transactional, the quorum's own
    records are not."""
    return encode_batch(
        (control_record(base_offset, timestamp, type, value, version),),
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=is_transactional,
        is_control=True,
        seal=seal,
    )


def control_type(record: Record) -> tuple[int, int]:
    """Version and type of a control record. InvalidRecord when its key has no room for them, or the
    version is negative."""
    if record.key is None or len(record.key) < _KEY.size:
        raise InvalidRecord(f"a control record with the key {record.key!r}")
    version, kind = _KEY.unpack_from(record.key)
    if version < 0:
        raise InvalidRecord(f"a control record of version {version}")
    return version, kind
