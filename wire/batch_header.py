"""The header of a record batch (magic 2), field by field. `batch_walk` reads it from bytes.

    baseOffset int64, batchLength int32, partitionLeaderEpoch int32, magic int8, crc uint32,
    attributes int16, lastOffsetDelta int32, baseTimestamp int64, maxTimestamp int64,
    producerId int64, producerEpoch int16, baseSequence int32, recordsCount int32

The checksum covers everything from the attributes on: offset and leader epoch can be written into a
batch without a new one (KIP-98). Messages of magic 0 and 1 have no such header; `legacy` reads
theirs into the same class, with -1 for the fields that they do not have.
"""

from struct import Struct

HEADER_SIZE = 61
LOG_OVERHEAD = 12  # the offset and the length, which the length does not count
# the positions of the checksum, and of the first byte that it covers
CRC_POSITION, CRC_START = 17, 21

LEGACY_CRC_START = 16
"""The first byte that the checksum (CRC-32) of a message of magic 0 or 1 covers: the magic."""
SMALLEST_LENGTHS = {0: 14, 1: 22}
"""Magic -> the length of a message without key and value."""

COMPRESSION_MASK, APPEND_TIME_FLAG, TRANSACTIONAL_FLAG, CONTROL_FLAG, DELETE_HORIZON_FLAG = 0x07, 0x08, 0x10, 0x20, 0x40
CREATE_TIME, APPEND_TIME = 0, 1

HEADER = Struct(">qiibIhiqqqhii")


class BatchHeader:
    """The fields of a batch's header; `size` counts all its bytes, offset and length included. A
    message of magic 0 or 1 has the count 1, or -1 when it wraps a compressed message set."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "count",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "producer_epoch",
        "producer_id",
        "size",
    )

    def __init__(
        self,
        base_offset: int,
        size: int,
        partition_leader_epoch: int,
        magic: int,
        crc: int,
        attributes: int,
        last_offset_delta: int,
        base_timestamp: int,
        max_timestamp: int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        count: int,
    ) -> None:
        self.base_offset = base_offset
        self.size = size
        self.partition_leader_epoch = partition_leader_epoch
        self.magic = magic
        self.crc = crc
        self.attributes = attributes
        self.last_offset_delta = last_offset_delta
        self.base_timestamp = base_timestamp
        self.max_timestamp = max_timestamp
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.count = count

    @property
    def compression(self) -> int:
        """The codec's id; see `compression.CODECS`."""
        return self.attributes & COMPRESSION_MASK

    @property
    def timestamp_type(self) -> int:
        """0 when producers set the timestamps (CreateTime), 1 when the broker did
        (LogAppendTime)."""
        return APPEND_TIME if self.attributes & APPEND_TIME_FLAG else CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_FLAG)

    @property
    def has_delete_horizon(self) -> bool:
        """Whether `base_timestamp` is the time from which compaction may delete the batch's
        tombstones (KIP-534)."""
        return bool(self.attributes & DELETE_HORIZON_FLAG)

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record, -1 when the batch has none."""
        return -1 if self.base_sequence == -1 else increment_sequence(self.base_sequence, self.last_offset_delta)

    def __repr__(self) -> str:
        flags = "".join(
            word for flag, word in ((self.is_transactional, ", transactional"), (self.is_control, ", control")) if flag
        )
        return (
            f"BatchHeader(offsets {self.base_offset} to {self.last_offset}, {self.count} records, {self.size} bytes, "
            f"magic {self.magic}, epoch {self.partition_leader_epoch}{flags})"
        )


def increment_sequence(sequence: int, increment: int) -> int:
    """The sequence `increment` records later; 0 follows 2^31-1 (KIP-98). A negative sequence, which
    only a damaged header has, does not wrap."""
    total = sequence + increment
    return total if total < 1 << 31 else total - (1 << 31)
