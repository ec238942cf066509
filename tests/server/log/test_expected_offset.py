"""Conditional publish in the log: what a batch may state about its offsets, and how that is
checked. A refusal changes nothing (KIP-27).
"""

import random
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.expected_offset import HEADER, LARGEST, MISMATCH, MOST_ERRORS, parsed
from kafkadouble.server.log.inspection import READ_THROUGH
from kafkadouble.server.log.log import AppendRefused, PartitionLog
from kafkadouble.wire.batch import Record, decode_all, encode_batch, read_header, seal
from kafkadouble.wire.compression import CODECS

from .batches import NOW, filled, idempotent, new_log, produced

OPTIONAL, REQUIRED, OFF = "optional", "required", "off"
ON = (OPTIONAL, REQUIRED)
MANY = 8 * READ_THROUGH  # records of a batch that would not be read through
CODEC_IDS = sorted(CODECS)


def log_at(end: int, mode: str = OPTIONAL, **settings: Any) -> PartitionLog:
    """A log of that mode whose next record gets the offset `end`."""
    log = filled(*([1] * end), **settings)
    log.config = new_log(produce_expected_offset=mode, **settings).config
    return log


def batch_of(*values: bytes | str | int | None, base: int = 0, **how: Any) -> bytearray:
    """A batch with one record for each value: the value of its header, "" for no header, None for
    null. `base`: the batch's base offset."""
    records = []
    for index, value in enumerate(values):
        text = str(value).encode() if isinstance(value, int) else value
        headers = () if text == "" else ((HEADER, text.encode() if isinstance(text, str) else text),)
        records.append(Record(index, NOW, b"k", b"v", (("other", b"1"), *headers)))
    return based(encode_batch(records, **how), base)


def based(batch: bytearray, base: int) -> bytearray:
    """The same batch with another base offset: eight bytes that no checksum covers."""
    batch[:8] = base.to_bytes(8, "big", signed=True)
    return batch


def append(log: PartitionLog, batch: bytearray | bytes) -> int:
    result = log.append_as_leader(batch, leader_epoch=0, now=NOW)
    log.commit_all()
    return result.base_offset


def refusal(log: PartitionLog, batch: bytearray | bytes) -> AppendRefused:
    """How it is refused; the log must not change."""
    before, producers = repr(log), [repr(producer) for producer in log.producers]
    with pytest.raises(AppendRefused) as caught:
        log.append_as_leader(batch, leader_epoch=0, now=NOW)
    assert repr(log) == before
    assert [repr(producer) for producer in log.producers] == producers
    assert caught.value.code == error_codes.INVALID_RECORD
    return caught.value


def blamed(log: PartitionLog, batch: bytearray | bytes) -> list[tuple[int, str]]:
    refused = refusal(log, batch)
    assert refused.is_shown
    assert refused.message == f"conditional publish: {refused.record_errors[0].message}"
    return [(error.batch_index, error.message) for error in refused.record_errors]


def mismatch(expected: int, actual: int) -> str:
    return MISMATCH.format(expected=expected, actual=actual)


class TestTheBaseOffset:
    @pytest.mark.parametrize("mode", ON)
    def test_right_expected_offset_is_accepted(self, mode: str) -> None:
        log = log_at(5, mode)
        assert append(log, based(produced(3), 5)) == 5
        assert append(log, based(produced(MANY), 8)) == 8
        assert [record.offset for record in decode_all(log.read(5, 1 << 20).records)][:4] == [5, 6, 7, 8]

    @pytest.mark.parametrize("mode", ON)
    @pytest.mark.parametrize("base", [1, 4, 6, 1 << 40, LARGEST - 5, LARGEST])
    def test_wrong_expected_offset_is_refused(self, mode: str, base: int) -> None:
        assert blamed(log_at(5, mode), based(produced(3), base)) == [(0, mismatch(base, 5))]

    @pytest.mark.parametrize("base", [-2, -(1 << 63)])
    @pytest.mark.parametrize("mode", ON)
    def test_negative_expected_offset_is_refused(self, mode: str, base: int) -> None:
        assert blamed(log_at(5, mode), based(produced(3), base)) == [(0, f"base offset {base} is no expected offset")]

    def test_expected_offset_minus_one_is_refused_if_required(self) -> None:
        [(index, why)] = blamed(log_at(0, REQUIRED), based(produced(2), -1))
        assert index == 0
        assert "required" in why

    @pytest.mark.parametrize("base", [1, 5, -1, -2])
    def test_nonzero_expected_offset_is_refused_where_it_is_disabled(self, base: int) -> None:
        refused = refusal(log_at(5, OFF), based(produced(2), base))
        assert (refused.is_shown, refused.record_errors) == (False, ())


class TestTheHeader:
    @pytest.mark.parametrize("mode", ON)
    @pytest.mark.parametrize("values", [(5,), (5, 6, 7), (5, "", ""), ("", "", 7), ("", 6, ""), (-1, 6, -1)])
    def test_is_held_against_the_offset_that_its_record_would_get(self, mode: str, values: tuple[Any, ...]) -> None:
        assert append(log_at(5, mode), batch_of(*values)) == 5

    @pytest.mark.parametrize("mode", ON)
    def test_every_wrong_record_is_reported(self, mode: str) -> None:
        assert blamed(log_at(5, mode), batch_of("", 7, 7, -1, 4)) == [(1, mismatch(7, 6)), (4, mismatch(4, 9))]

    @pytest.mark.parametrize("mode", ON)
    def test_zero_means_a_log_that_never_had_a_record(self, mode: str) -> None:
        log = log_at(0, mode)
        assert append(log, batch_of(0, 1)) == 0
        assert blamed(log, batch_of(0)) == [(0, mismatch(0, 2))]
        assert blamed(log_at(0, mode), batch_of("", 0)) == [(1, mismatch(0, 1))]

    @pytest.mark.parametrize("base", [0, -1])
    def test_expected_offset_minus_one_is_refused_if_required(self, base: int) -> None:
        [(_, why)] = blamed(log_at(0, REQUIRED), batch_of(-1, -1, base=base))
        assert "required" in why

    @pytest.mark.parametrize("mode", ON)
    @pytest.mark.parametrize(
        "value",
        [None, b"", "x", "-2", "-0", "+5", "05", " 5", "5 ", "5.0", "0x5", "\u0665", "5" * 30, "9223372036854775808"],
    )
    def test_unreadable_expected_offset_is_refused_by_name(self, mode: str, value: Any) -> None:
        records = [Record(0, NOW, None, b"a"), Record(1, NOW, None, b"b", ((HEADER, _bytes(value)),))]
        [(index, why)] = blamed(log_at(5, mode), encode_batch(records))
        assert index == 1
        assert why.startswith(f"header {HEADER} is ")
        assert len(why) < 120

    def test_repeated_expected_offset_header_is_checked_each_time(self) -> None:
        def twice(first: bytes, second: bytes) -> bytearray:
            return encode_batch([Record(0, NOW, None, b"v", ((HEADER, first), (HEADER, second)))])

        assert append(log_at(5), twice(b"5", b"5")) == 5
        assert append(log_at(5), twice(b"-1", b"5")) == 5
        assert blamed(log_at(5), twice(b"5", b"6")) == [(0, mismatch(6, 5))]

    def test_header_of_another_name_is_no_expected_offset(self) -> None:
        headers = ((HEADER + "s", b"9"), ("x-" + HEADER, b"9"), (HEADER.title(), b"9"))
        assert append(log_at(5), encode_batch([Record(0, NOW, None, HEADER.encode(), headers)])) == 5

    def test_expected_offset_header_means_nothing_if_off(self) -> None:
        assert append(log_at(5, OFF), batch_of(77, "x", None)) == 5

    def test_the_largest_offset(self) -> None:
        assert parsed(str(LARGEST).encode()) == LARGEST
        assert blamed(log_at(5), batch_of(LARGEST)) == [(0, mismatch(LARGEST, 5))]

    def test_refused_records_are_listed_up_to_a_bound(self) -> None:
        assert len(blamed(log_at(5), batch_of(*[0] * (MOST_ERRORS + 7)))) == MOST_ERRORS


def _bytes(value: Any) -> bytes | None:
    return None if value is None else value if isinstance(value, bytes) else value.encode()


class TestBothTogether:
    @pytest.mark.parametrize("mode", ON)
    def test_agreeing_expected_offsets_are_accepted(self, mode: str) -> None:
        assert append(log_at(5, mode), batch_of(5, "", 7, base=5)) == 5

    @pytest.mark.parametrize("mode", ON)
    def test_agreeing_wrong_expected_offsets_are_refused(self, mode: str) -> None:
        batch = batch_of(9, "", 11, base=9)
        assert blamed(log_at(5, mode), batch) == [(0, mismatch(9, 5)), (2, mismatch(11, 7))]

    @pytest.mark.parametrize("mode", ON)
    @pytest.mark.parametrize(("base", "value"), [(5, 6), (6, 5), (9, 8), (5, 0)])
    def test_disagreeing_expected_offsets_are_refused(self, mode: str, base: int, value: int) -> None:
        why = f"header {HEADER} is {value}, where the batch's base offset makes it {base}"
        assert blamed(log_at(5, mode), batch_of(value, base=base)) == [(0, why)]

    @pytest.mark.parametrize("mode", ON)
    def test_an_empty_header_leaves_it_to_the_base_offset(self, mode: str) -> None:
        assert append(log_at(5, mode), batch_of(-1, -1, base=5)) == 5

    @pytest.mark.parametrize("base", [0, -1])
    @pytest.mark.parametrize("mode", ON)
    def test_a_base_offset_that_expects_nothing_leaves_it_to_the_header(self, mode: str, base: int) -> None:
        assert append(log_at(5, mode), batch_of("", 6, base=base)) == 5


@pytest.mark.parametrize("count", [1, 3, MANY])
@pytest.mark.parametrize("codec", CODEC_IDS)
class TestEveryCodec:
    def test_expected_offsets_of_a_compressed_batch_are_checked(self, codec: int, count: int) -> None:
        log = log_at(5)
        assert append(log, batch_of(*range(5, 5 + count), compression=codec)) == 5
        wrong = batch_of(*[""] * (count - 1), 5, compression=codec)
        assert blamed(log, wrong) == [(count - 1, mismatch(5, 4 + 2 * count))]

    def test_expected_offset_follows_the_topic_config(self, codec: int, count: int) -> None:
        for compression in ("uncompressed", "zstd"):
            log = log_at(5, compression_type=compression)
            assert append(log, batch_of(*range(5, 5 + count), base=5, compression=codec)) == 5
            assert blamed(log, batch_of(5, *[""] * (count - 1), compression=codec)) == [(0, mismatch(5, 5 + count))]

    def test_expected_offsets_are_checked_under_log_append_time(self, codec: int, count: int) -> None:
        log = log_at(5, message_timestamp_type="LogAppendTime")
        assert append(log, batch_of(*range(5, 5 + count), compression=codec)) == 5
        assert blamed(log, batch_of(*range(5, 5 + count), base=5, compression=codec))[0] == (0, mismatch(5, 5 + count))


def test_records_are_numbered_as_they_will_be_read() -> None:
    """Uncompressed records keep the offsets within their batch, also out of order; in a rewritten
    batch they are counted."""
    batch = encode_batch([Record(index, NOW, None, b"v" * 9) for index in range(3)])
    swapped = encode_batch([Record(0, NOW, None, b"a"), Record(2, NOW, None, b"b", ((HEADER, b"7"),))], last_offset=2)
    swapped[23:27] = (1).to_bytes(4, "big")  # two offsets for two records, at 0 and 2
    seal(swapped)
    assert append(log_at(5), batch) == 5
    kept = log_at(5)
    assert append(kept, swapped) == 5
    assert [record.offset for record in decode_all(kept.read(5, 1 << 20).records)] == [5, 7]
    assert blamed(log_at(5, compression_type="lz4"), swapped) == [(1, mismatch(7, 6))]


def test_damage_behind_the_first_records_is_seen() -> None:
    batch = produced(MANY, size=30)
    broken = batch[:-1] + bytes([batch[-1] ^ 2])  # the count of headers of the last record
    seal(broken)
    assert append(log_at(5, OFF), broken) == 5
    refused = refusal(log_at(5, OPTIONAL), broken)
    assert refused.record_errors == ()


class TestIdempotentProducers:
    def test_a_refused_batch_leaves_a_gap_that_the_next_of_the_pipeline_falls_into(self) -> None:
        log = log_at(5)
        assert append(log, based(idempotent(0), 5)) == 5
        assert append(log, produced_at(6)) == 6
        assert blamed(log, based(idempotent(1), 6)) == [(0, mismatch(6, 7))]
        with pytest.raises(AppendRefused) as caught:
            append(log, based(idempotent(2), 7))
        assert caught.value.code == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER

    def test_the_sequence_of_a_refused_batch_may_be_used_again(self) -> None:
        log = log_at(5)
        assert blamed(log, based(idempotent(0), 6)) == [(0, mismatch(6, 5))]
        assert append(log, based(idempotent(0), 5)) == 5
        assert append(log, based(idempotent(1), 6)) == 6

    def test_a_fenced_epoch_is_reported_before_a_wrong_offset(self) -> None:
        log = log_at(5)
        append(log, based(idempotent(0, epoch=3), 5))
        with pytest.raises(AppendRefused) as caught:
            append(log, based(idempotent(1, epoch=2), 99))
        assert caught.value.code == error_codes.INVALID_PRODUCER_EPOCH


def produced_at(base: int, count: int = 1) -> bytearray:
    return based(produced(count), base)


class TestSeveralInFlight:
    def test_but_another_writer_may_fill_the_hole_exactly(self) -> None:
        """Why a writer has only one batch in flight: it cannot see that the records at 5 and 6 are
        not its own."""
        log = log_at(7, REQUIRED)
        assert blamed(log, produced_at(5, 2)) == [(0, mismatch(5, 7))]
        assert append(log, produced_at(7, 2)) == 7


class TestWhatMovesTheLog:
    def test_deleted_records_were_there(self) -> None:
        log = log_at(5, REQUIRED)
        log.delete_records_before(5)
        assert log.log_start_offset == log.log_end_offset == 5
        assert blamed(log, produced()) == [(0, mismatch(0, 5))]
        assert blamed(log, batch_of(0)) == [(0, mismatch(0, 5))]
        assert append(log, batch_of(5)) == 5

    def test_after_a_truncation_the_shorter_log_counts(self) -> None:
        log = log_at(5)
        log.truncate_to(3)
        assert blamed(log, batch_of(5)) == [(0, mismatch(5, 3))]
        assert append(log, batch_of(3)) == 3

    def test_a_log_that_lost_records_and_grew_again_looks_as_before(self) -> None:
        """An offset says how many records came before, not which."""
        log = log_at(5)
        log.truncate_to(4)
        assert append(log, batch_of(4)) == 4
        assert append(log, batch_of(5)) == 5

    def test_a_restart_at_an_offset(self) -> None:
        log = log_at(5, REQUIRED)
        log.truncate_fully_and_start_at(40)
        assert blamed(log, produced()) == [(0, mismatch(0, 40))]
        assert append(log, produced_at(40)) == 40

    def test_a_leader_is_followed_without_a_question(self) -> None:
        log = log_at(5, REQUIRED)
        batch = batch_of("x", 77)
        based(batch, 5)
        batch[12:16] = (0).to_bytes(4, "big")
        assert log.append_as_follower(batch, now=NOW) is not None

    def test_the_nodes_own_records_are_not_checked(self) -> None:
        log = log_at(5, REQUIRED)
        assert log.append_own(batch_of("x", 77), leader_epoch=0, now=NOW).base_offset == 5


@pytest.mark.parametrize("mode", ON)
def test_many_racing_writers_leave_every_record_at_its_expected_offset(mode: str) -> None:
    """Against a list: whatever is proposed, by both carriers, is taken exactly when it is true."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    choose = random.Random(seed)
    log, model = log_at(0, mode), 0
    for _ in range(400):
        guess, count = max(0, model + choose.choice((0, 0, 0, -1, 1, -3, 2))), choose.choice((1, 2, 5, 20))
        how = choose.choice(("base", "header", "both", "last header"))
        values: list[Any] = [""] * count
        if how in ("header", "both"):
            values = [guess + index for index in range(count)]
        elif how == "last header":
            values[-1] = guess + count - 1
        base = guess if how in ("base", "both") else 0
        batch = batch_of(*values, base=base, compression=choose.choice(CODEC_IDS))
        silent = how == "base" and guess == 0 and mode == OPTIONAL
        if guess == model or silent:
            assert append(log, batch) == model
            model += count
        else:
            refusal(log, batch)
    found = [read_header(batch) for batch in log.batches(0)]
    assert [header.base_offset for header in found[1:]] == [header.next_offset for header in found[:-1]]
    assert log.log_end_offset == model
