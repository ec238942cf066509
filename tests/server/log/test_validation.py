"""What a leader refuses of a produced batch, with which error code, and how it stores the batches
that it accepts.
"""

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.inspection import READ_THROUGH, follow
from kafkadouble.server.log.log import AppendRefused, PartitionLog
from kafkadouble.wire.batch import Record, decode_records, encode_batch, read_header, seal, set_append_time
from kafkadouble.wire.compression import compress
from kafkadouble.wire.errors import InvalidRecord

from .batches import NOW, new_log, produced

HOUR = 3_600_000
LZ4 = 3
MANY = 8 * READ_THROUGH  # records of a batch that is not read through


def refusal(batch: bytes | bytearray | memoryview, log: PartitionLog | None = None) -> AppendRefused:
    """How it is refused; the log must not change."""
    log = log or new_log()
    before = repr(log)
    with pytest.raises(AppendRefused) as caught:
        log.append_as_leader(batch, leader_epoch=0, now=NOW)
    assert repr(log) == before
    return caught.value


def code(batch: bytes | bytearray | memoryview, log: PartitionLog | None = None) -> int:
    return refusal(batch, log).code


def patched(position: int, value: int, size: int, **how: Any) -> bytearray:
    """A batch of three records with another number somewhere in its header, under a correct
    checksum."""
    batch = produced(3, **how)
    batch[position : position + size] = value.to_bytes(size, "big", signed=True)
    seal(batch)
    return batch


def miscounted(codec: int) -> bytearray:
    """Two records at 0 and 2, under a header that counts 0 and 1."""
    batch = encode_batch([Record(0, NOW, None, b"a"), Record(2, NOW + 1, None, b"b")], compression=codec, last_offset=2)
    batch[23:27] = (1).to_bytes(4, "big")
    seal(batch)
    return batch


def stored(log: PartitionLog, batch: bytes | bytearray, now: int = NOW) -> memoryview | bytes:
    result = log.append_as_leader(batch, leader_epoch=0, now=now)
    return log.read(result.base_offset, 1 << 20, log.log_end_offset).records


def sized(length: int) -> bytearray:
    """A batch that claims this length."""
    batch = produced()
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    return batch


class TestTheBatch:
    @pytest.mark.parametrize(
        ("batch", "expected"),
        [
            *((batch, error_codes.INVALID_RECORD) for batch in (b"", produced()[:-1], produced()[:16])),
            *((sized(length), error_codes.CORRUPT_MESSAGE) for length in (0, 13, -1)),
            (produced() + bytes(12), error_codes.CORRUPT_MESSAGE),
            *((patched(16, magic, 1), error_codes.CORRUPT_MESSAGE) for magic in (3, 127, -1)),
            *((patched(16, magic, 1), error_codes.INVALID_RECORD) for magic in (0, 1)),
            *((patched(21, codec, 2), error_codes.UNKNOWN_SERVER_ERROR) for codec in (5, 6, 7)),
            *((patched(23, last, 4), error_codes.INVALID_RECORD) for last in (1, 3, -1, -2)),
            *((patched(57, count, 4), error_codes.INVALID_RECORD) for count in (2, 4, 0, -1)),
            (produced(producer_id=7, producer_epoch=0), error_codes.INVALID_RECORD),
        ],
    )
    def test_bytes_that_are_no_whole_batch_of_this_format(self, batch: bytes, expected: int) -> None:
        assert code(batch) == expected

    def test_incomplete_bytes_after_it_are_left_out(self) -> None:
        for rest in (b"\0", b"\0" * 11, bytes(produced()[:16]), bytes(produced(5)[:-1])):
            log = new_log()
            assert log.append_as_leader(produced(2) + rest, leader_epoch=0, now=NOW).size == len(produced(2))
            assert log.log_end_offset == 2

    def test_the_leader_epoch_of_a_client_means_nothing(self) -> None:
        log = new_log()
        log.append_as_leader(produced(partition_leader_epoch=99), leader_epoch=4, now=NOW)
        assert log.epochs.latest == 4

    def test_batch_above_max_message_bytes_is_refused(self) -> None:
        batch = produced(3)
        assert code(batch, new_log(max_message_bytes=len(batch) - 1)) == error_codes.MESSAGE_TOO_LARGE
        new_log(max_message_bytes=len(batch)).append_as_leader(batch, leader_epoch=0, now=NOW)
        assert code(batch, new_log(segment_bytes=80)) == error_codes.RECORD_LIST_TOO_LARGE

    def test_batch_with_several_errors_is_refused_for_the_first(self) -> None:
        batch = produced(3)
        batch[0:8] = (7).to_bytes(8, "big")
        batch[-1] ^= 1
        small = new_log(max_message_bytes=10)
        # the base offset, before size and checksum
        assert code(batch, small) == error_codes.INVALID_RECORD
        batch[0:8] = bytes(8)
        assert code(batch, small) == error_codes.MESSAGE_TOO_LARGE
        assert code(batch) == error_codes.CORRUPT_MESSAGE

    def test_the_producer_gets_a_message_for_some_errors_only(self) -> None:
        assert refusal(b"").message_for_client is None
        assert refusal(produced(1), new_log(cleanup_policy="compact")).message_for_client is not None
        assert refusal(patched(16, 3, 1)).message_for_client is not None
        assert refusal(produced() + b"\0" * 12).message_for_client is None
        assert str(refusal(b"")) == "no whole record batch (error code 87)"


class TestKeys:
    def test_a_compacted_topic_takes_no_record_without_a_key(self) -> None:
        for count in (3, MANY):
            records = [Record(index, NOW, None if index in (1, 2) else b"k", b"v") for index in range(count)]
            refused = refusal(encode_batch(records), new_log(cleanup_policy="delete,compact"))
            assert refused.code == error_codes.INVALID_RECORD
            assert [error.batch_index for error in refused.record_errors] == [1, 2]


@pytest.mark.parametrize(
    ("settings", "batch"),
    [
        ({"cleanup_policy": "compact"}, produced(3, key=b"k")),
        ({"cleanup_policy": "compact"}, produced(1, key=b"")),
        ({}, produced(2, timestamp=0)),
        ({"message_timestamp_before_max_ms": 1000}, encode_batch([Record(0, -1, None, b"v")])),
        ({"message_timestamp_type": "LogAppendTime"}, produced(2, timestamp=NOW + 9 * HOUR)),
    ],
    ids=["keys", "an empty key", "the past", "no timestamp", "LogAppendTime"],
)
def test_batches_that_are_taken(settings: dict[str, Any], batch: bytearray) -> None:
    assert stored(new_log(**settings), batch)


class TestTimestamps:
    @pytest.mark.parametrize("count", [2, MANY])
    def test_timestamp_too_far_in_the_future_is_refused(self, count: int) -> None:
        batch = produced(count, timestamp=NOW + HOUR - count + 2)
        refused = refusal(batch)
        assert refused.code == error_codes.INVALID_TIMESTAMP
        assert [error.batch_index for error in refused.record_errors] == [count - 1]
        assert stored(new_log(), produced(count, timestamp=NOW + HOUR - count + 1))

    @pytest.mark.parametrize("count", [2, MANY])
    def test_timestamp_too_far_in_the_past_is_refused(self, count: int) -> None:
        log = new_log(message_timestamp_before_max_ms=1000)
        refused = refusal(produced(count, timestamp=NOW - 1001), log)
        assert refused.code == error_codes.INVALID_TIMESTAMP
        assert [error.batch_index for error in refused.record_errors] == [0]
        assert stored(log, produced(count, timestamp=NOW - 1000))

    def test_a_key_that_is_missing_counts_before_a_timestamp_but_the_timestamp_decides_the_code(self) -> None:
        records = [Record(0, NOW + 2 * HOUR, None, b"v"), Record(1, NOW + 2 * HOUR, b"k", b"v")]
        refused = refusal(encode_batch(records), new_log(cleanup_policy="compact"))
        assert refused.code == error_codes.INVALID_TIMESTAMP
        assert "key" in refused.record_errors[0].message
        assert "timestamp" in refused.record_errors[1].message

    @pytest.mark.parametrize("count", [2, MANY])
    def test_log_append_time(self, count: int) -> None:
        log = new_log(message_timestamp_type="LogAppendTime")
        result = log.append_as_leader(produced(count, timestamp=5), leader_epoch=0, now=NOW)
        assert result.log_append_time == NOW
        records = decode_records(log.read(0, 1 << 20, count).records)
        assert {record.timestamp for record in records} == {NOW}

    def test_a_producer_does_not_set_log_append_time(self) -> None:
        batch = produced(2)
        set_append_time(batch, NOW)
        refused = refusal(batch, new_log(message_timestamp_type="LogAppendTime"))
        assert refused.code == error_codes.INVALID_TIMESTAMP
        assert len(refused.record_errors) == 2

    def test_create_time_topic_clears_the_log_append_time_flag(self) -> None:
        batch = produced(2)
        set_append_time(batch, NOW + 5)
        log = new_log()
        assert log.append_as_leader(batch, leader_epoch=0, now=NOW).log_append_time == -1
        header = read_header(log.read(0, 1 << 20, log.log_end_offset).records)
        assert (header.timestamp_type, header.max_timestamp) == (0, NOW + 5)

    def test_max_timestamp_minus_one_of_a_batch_is_refused(self) -> None:
        batch = produced(2)
        set_append_time(batch, -1)
        assert refusal(batch).code == error_codes.INVALID_TIMESTAMP

    def test_a_header_that_claims_another_largest_timestamp_is_put_right(self) -> None:
        log = new_log()
        assert read_header(stored(log, produced(3, max_timestamp=NOW + 77))).max_timestamp == NOW + 2
        many = read_header(stored(log, produced(MANY, max_timestamp=-1)))
        assert many.max_timestamp == NOW + MANY - 1


class TestCompression:
    @pytest.mark.parametrize("codec", [1, 2, 3, 4])
    def test_as_the_producer_sent_it(self, codec: int) -> None:
        batch = produced(MANY, compression=codec)
        assert bytes(stored(new_log(), batch))[16:] == bytes(batch)[16:]

    @pytest.mark.parametrize("source", [0, 1, 2, 3, 4])
    @pytest.mark.parametrize(
        ("name", "codec"), [("uncompressed", 0), ("gzip", 1), ("snappy", 2), ("lz4", 3), ("zstd", 4)]
    )
    def test_as_the_topic_wants_it(self, source: int, name: str, codec: int) -> None:
        batch = produced(
            MANY, compression=source, producer_id=7, producer_epoch=1, base_sequence=4, is_transactional=True
        )
        log = new_log(compression_type=name)
        view = stored(log, batch)
        header = read_header(view)
        assert (header.compression, header.count, header.producer_id, header.base_sequence) == (codec, MANY, 7, 4)
        assert header.is_transactional
        assert decode_records(view) == decode_records(batch)

    def test_the_level_is_the_topics(self) -> None:
        batch = encode_batch([Record(0, NOW, None, bytes(index * index % 251 for index in range(20000)) * 3)])
        sizes = [len(stored(new_log(compression_type="gzip", compression_gzip_level=level), batch)) for level in (1, 9)]
        assert sizes[0] != sizes[1]

    def test_batch_that_grows_by_recompression_is_refused(self) -> None:
        batch = produced(MANY, size=100, compression=4)
        log = new_log(compression_type="uncompressed", max_message_bytes=len(batch))
        assert code(batch, log) == error_codes.MESSAGE_TOO_LARGE

    def test_log_append_time_and_another_codec_at_once(self) -> None:
        log = new_log(compression_type="zstd", message_timestamp_type="LogAppendTime")
        records = decode_records(stored(log, produced(20, timestamp=5)))
        assert {record.timestamp for record in records} == {NOW}

    def test_offsets_that_do_not_follow_one_another(self) -> None:
        for source, name, taken in (
            (0, "producer", [0, 2]),
            (0, "zstd", [0, 1]),
            (1, "zstd", [0, 1]),
            (1, "uncompressed", [0, 1]),
        ):
            batch = miscounted(source)
            assert [record.offset for record in decode_records(stored(new_log(compression_type=name), batch))] == taken
        for source, name in ((1, "producer"), (4, "zstd")):
            assert code(miscounted(source), new_log(compression_type=name)) == error_codes.UNKNOWN_SERVER_ERROR

    def test_the_time_that_a_producer_claims_for_all_its_records_becomes_theirs(self) -> None:
        batch = produced(3)
        set_append_time(batch, NOW + 7)
        view = stored(new_log(compression_type="gzip"), batch)
        assert [record.timestamp for record in decode_records(view)] == [NOW + 7] * 3
        assert read_header(view).base_timestamp == NOW + 7

    @pytest.mark.parametrize("count", [1, MANY])
    def test_bytes_that_the_codec_refuses(self, count: int) -> None:
        for codec in (1, 2, 3, 4):
            batch = produced(count, compression=codec)
            batch[61:] = b"\xff" * (len(batch) - 61)
            seal(batch)
            assert code(batch) == error_codes.UNKNOWN_SERVER_ERROR

    @pytest.mark.parametrize("count", [1, MANY])
    def test_lz4_with_linked_blocks(self, count: int) -> None:
        batch = produced(count, compression=3)
        batch[65] &= ~0x20
        seal(batch)
        assert code(batch) == error_codes.UNKNOWN_SERVER_ERROR

    def test_batch_that_expands_too_much_is_refused(self) -> None:
        bomb = encode_batch([Record(0, NOW, None, bytes(101 << 20))], compression=4)
        assert len(bomb) < 100_000
        assert code(bomb) == error_codes.INVALID_RECORD

    @pytest.mark.parametrize("count", [3, MANY])
    def test_a_limit_on_decompressed_records(self, count: int) -> None:
        batch = produced(count, size=50, compression=4)
        assert code(batch, new_log(max_decompressed_message_bytes=50)) == error_codes.INVALID_RECORD
        assert stored(new_log(max_decompressed_message_bytes=70), batch)
        assert stored(new_log(max_decompressed_message_bytes=50), produced(count, size=50))


class TestRecords:
    @pytest.mark.parametrize("compression", [0, 4])
    @pytest.mark.parametrize("count", [1, 2, READ_THROUGH, READ_THROUGH + 1, MANY])
    @pytest.mark.parametrize("lie", [-1, 1])
    def test_batch_with_a_wrong_record_count_is_refused(self, compression: int, count: int, lie: int) -> None:
        batch = produced(count, compression=compression)
        claimed = count + lie
        batch[57:61] = claimed.to_bytes(4, "big")
        batch[23:27] = (claimed - 1).to_bytes(4, "big", signed=True)
        seal(batch)
        assert code(batch) == error_codes.INVALID_RECORD

    def test_a_byte_behind_the_last_record(self) -> None:
        batch = produced(MANY) + b"\0"
        batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
        seal(batch)
        assert code(batch) == error_codes.INVALID_RECORD

    def test_records_in_two_frames_of_lz4(self) -> None:
        """Kafka reads the first frame only."""
        plain = produced(MANY)
        frames = [compress(LZ4, part) for part in (plain[61:1000], plain[1000:])]
        batch = plain[:61] + b"".join(frames)
        batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
        batch[22] |= LZ4
        seal(batch)
        assert code(batch) == error_codes.INVALID_RECORD

    def test_damage_inside_a_small_batch(self) -> None:
        good = produced(3)
        for position in (61, 62, 63, 64, 65, 66, len(good) - 1):
            batch = bytearray(good)
            batch[position] = 0xFF
            seal(batch)
            if position != 62:  # the attributes of a record mean nothing
                assert code(batch) in (error_codes.INVALID_RECORD, error_codes.INVALID_TIMESTAMP)

    def test_lengths_of_every_varint_width_are_followed(self) -> None:
        for size in (0, 50, 5000, 20_000, 1_100_000):
            batch = produced(1, size=size)
            follow(batch, 61, len(batch), 1)
            with pytest.raises(InvalidRecord):
                follow(batch, 61, len(batch) - 1, 1)
            with pytest.raises(InvalidRecord):
                follow(batch, 61, len(batch), 2)

    @pytest.mark.parametrize("start", [b"\x01", b"\xff\xff\xff\xff\xff\x01", b"\x80", b"\xff\xff"])
    def test_lengths_that_cannot_be(self, start: bytes) -> None:
        with pytest.raises(InvalidRecord):
            follow(start, 0, len(start), 1)
