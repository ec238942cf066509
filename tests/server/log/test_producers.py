"""Idempotent producers and transactions on a log (KIP-98, KIP-890): which batch may come next, and
what read_committed consumers see.
"""

from itertools import combinations
from random import Random

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.log.log import AppendOrigin, AppendRefused, AppendResult, PartitionLog
from kafkadouble.server.log.producers import LAST_SEQUENCE
from kafkadouble.server.log.transactions import AbortedTransaction, Transactions

from .batches import NOW, everything, idempotent, marker, new_log, produced, transactional

WEEK = 7 * 86_400_000


def append(log: PartitionLog, batch: bytes | bytearray, now: int = NOW) -> AppendResult:
    return log.append_as_leader(batch, leader_epoch=0, now=now)


def end(log: PartitionLog, *, commit: bool, version: int = 0, **how: int) -> AppendResult:
    return log.append_own(marker(commit=commit, **how), leader_epoch=0, now=NOW, transaction_version=version)


def refused(log: PartitionLog, batch: bytes | bytearray) -> int:
    """The code with which it is refused; nothing of the log may change."""
    before = (log.log_end_offset, log.size, [(p.producer_id, p.epoch, list(p.batches)) for p in log.producers])
    with pytest.raises(AppendRefused) as caught:
        append(log, batch)
    assert before == (log.log_end_offset, log.size, [(p.producer_id, p.epoch, list(p.batches)) for p in log.producers])
    return caught.value.code


def test_batches_in_sequence() -> None:
    log = new_log()
    assert [append(log, idempotent(sequence, 3)).base_offset for sequence in (0, 3, 6)] == [0, 3, 6]


def test_a_retry_is_answered_with_the_old_offset() -> None:
    log = new_log()
    for sequence in range(7):
        append(log, idempotent(sequence * 2, 2, timestamp=NOW + sequence))
    size = log.size
    result = append(log, idempotent(6, 2, timestamp=NOW + 3))
    assert (result.base_offset, result.last_offset, result.duplicate, result.size) == (6, 7, True, 0)
    assert (
        result.log_append_time == NOW + 4
    )  # as Kafka does: the largest timestamp of the first attempt, on CreateTime topics too
    assert (log.log_end_offset, log.size) == (14, size)


def test_only_the_last_five_batches_are_remembered() -> None:
    log = new_log()
    for sequence in range(6):
        append(log, idempotent(sequence))
    assert append(log, idempotent(1)).duplicate
    assert refused(log, idempotent(0)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_that_covers_other_sequences_is_no_retry() -> None:
    log = new_log()
    append(log, idempotent(0, 4))
    assert refused(log, idempotent(0, 3)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.parametrize("sequence", [0, 1, 4, 6, 7])
def test_a_gap_or_a_step_back_is_out_of_order(sequence: int) -> None:
    log = new_log()
    append(log, idempotent(0, 5))
    assert refused(log, idempotent(sequence, 2)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, idempotent(5, 2)).base_offset == 5


def test_an_unknown_producer_may_begin_anywhere() -> None:
    log = new_log()
    assert append(log, idempotent(500)).base_offset == 0


def test_sequences_wrap_around() -> None:
    log = new_log()
    append(log, idempotent(LAST_SEQUENCE - 1, 2))
    append(log, idempotent(0, 2))
    assert append(log, idempotent(LAST_SEQUENCE - 1, 2)).duplicate
    assert append(log, idempotent(2)).base_offset == 4


def test_a_batch_across_the_wrap() -> None:
    log = new_log()
    append(log, idempotent(LAST_SEQUENCE, 3))
    assert append(log, idempotent(2)).base_offset == 3
    assert append(log, idempotent(LAST_SEQUENCE, 3)).duplicate


def test_a_new_epoch_begins_at_zero() -> None:
    log = new_log()
    append(log, idempotent(0, 5))
    assert refused(log, idempotent(5, epoch=1)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(log, idempotent(0, epoch=1))
    assert append(log, idempotent(0, epoch=1)).duplicate


def test_an_old_epoch_is_fenced() -> None:
    log = new_log()
    append(log, idempotent(0, epoch=3))
    assert refused(log, idempotent(1, epoch=2)) == error_codes.INVALID_PRODUCER_EPOCH
    assert refused(log, idempotent(0, epoch=2)) == error_codes.INVALID_PRODUCER_EPOCH


def test_producers_do_not_know_of_one_another() -> None:
    log = new_log()
    append(log, idempotent(0, producer=1))
    append(log, idempotent(0, producer=2))
    append(log, idempotent(1, producer=1))
    assert [producer.producer_id for producer in log.producers] == [1, 2]


def test_silent_producers_are_forgotten() -> None:
    log = new_log()
    append(log, idempotent(0, producer=1, timestamp=NOW))
    append(log, idempotent(0, producer=2, timestamp=NOW + 10))
    append(log, transactional(0, producer=3, timestamp=NOW))
    assert log.producers.expire(NOW + WEEK - 1, WEEK) == []
    assert log.producers.expire(NOW + WEEK, WEEK) == [1]
    assert append(log, idempotent(9, producer=1)).base_offset == 3
    assert log.producers.get(3) is not None


def test_our_own_batches_have_no_sequences() -> None:
    log = new_log()
    for _ in range(2):
        log.append_own(produced(producer_id=7, producer_epoch=0, is_transactional=True), leader_epoch=0, now=NOW)
    assert log.log_end_offset == 2
    with pytest.raises(AppendRefused) as caught:
        log.append_own(produced(producer_id=7, producer_epoch=0), leader_epoch=0, now=NOW)
    assert caught.value.code == error_codes.INVALID_TXN_STATE


def test_a_follower_takes_what_the_leader_took() -> None:
    log = new_log()
    for base, epoch in ((0, 5), (1, 3)):
        batch = idempotent(40 + 10 * base, epoch=epoch)
        batch[0:8] = base.to_bytes(8, "big")
        log.append_as_follower(batch, now=NOW)
    producer = log.producers.get(7)
    assert producer is not None
    assert (producer.epoch, producer.last_sequence) == (3, 50)


class TestTransactions:
    def test_the_last_stable_offset_waits_for_the_marker_and_its_replication(self) -> None:
        log = new_log()
        append(log, produced(2))
        append(log, transactional(0, 3))
        append(log, produced(1))
        log.high_watermark = 6
        assert (log.first_unstable_offset, log.last_stable_offset) == (2, 2)
        end(log, commit=True)
        assert (log.first_unstable_offset, log.last_stable_offset) == (2, 2)
        log.high_watermark = 6
        assert log.last_stable_offset == 2
        log.high_watermark = 7
        assert (log.first_unstable_offset, log.last_stable_offset) == (None, 7)

    def test_transactions_of_several_producers_are_open_at_once(self) -> None:
        log = new_log()
        append(log, transactional(0, 2, producer=1))
        append(log, transactional(0, 2, producer=2))
        append(log, transactional(2, 2, producer=1))
        end(log, commit=False, producer=1)
        assert log.first_unstable_offset == 0
        log.high_watermark = log.log_end_offset
        assert log.last_stable_offset == 2
        append(log, transactional(0, producer=3))
        end(log, commit=True, producer=3)
        assert log.first_unstable_offset == 2  # open, and older than the one that has just ended
        log.truncate_to(7)
        assert log.transactions.aborted == [AbortedTransaction(1, 0, 6, 2)]
        end(log, commit=False, producer=2)
        log.high_watermark = log.log_end_offset
        assert log.last_stable_offset == 8
        assert log.transactions.aborted[1] == AbortedTransaction(2, 2, 7, 8)

    def test_aborted_transactions_in_a_range_are_returned(self) -> None:
        log = new_log()
        for sequence in range(4):
            append(log, transactional(sequence))
            end(log, commit=sequence % 2 == 0)
        assert [aborted.first_offset for aborted in log.aborted_in(0, 8)] == [2, 6]
        assert [aborted.first_offset for aborted in log.aborted_in(0, 6)] == [2]
        assert [aborted.first_offset for aborted in log.aborted_in(3, 7)] == [2, 6]
        assert [aborted.first_offset for aborted in log.aborted_in(4, 6)] == []

    @pytest.mark.parametrize("seed", range(5))
    def test_no_aborted_transaction_that_a_reader_needs_is_missing(self, seed: int) -> None:
        """As a search through all of them finds it, also where transactions overlap."""
        random, transactions = Random(seed), Transactions()
        open_since: dict[int, int] = {}
        for offset in range(60):
            producer = random.randrange(6)
            if producer in open_since and random.random() < 0.7:
                transactions.end(producer, open_since.pop(producer), offset, random.random() < 0.7)
            elif producer not in open_since:
                open_since[producer] = offset
                transactions.begin(producer, offset)
        assert len(transactions.aborted) > 3
        for start, bound in combinations(range(62), 2):
            needed = [each for each in transactions.aborted if each.last_offset >= start and each.first_offset < bound]
            assert transactions.aborted_in(start, bound) == needed

    def test_a_marker_without_a_transaction_changes_no_stability(self) -> None:
        log = new_log()
        end(log, commit=False)
        log.high_watermark = 1
        assert (log.last_stable_offset, log.transactions.aborted) == (1, [])

    def test_a_write_outside_of_the_open_transaction(self) -> None:
        log = new_log()
        append(log, transactional(0))
        assert refused(log, idempotent(1)) == error_codes.INVALID_TXN_STATE

    def test_a_marker_with_a_newer_epoch_fences_the_producer(self) -> None:
        log = new_log()
        append(log, transactional(0, 2))
        end(log, commit=False, epoch=1)
        assert refused(log, transactional(2)) == error_codes.INVALID_PRODUCER_EPOCH
        assert refused(log, transactional(2, epoch=1)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        append(log, transactional(0, epoch=1))

    def test_sequences_go_on_after_a_marker_of_the_same_epoch(self) -> None:
        log = new_log()
        append(log, transactional(0, 2))
        end(log, commit=True)
        append(log, transactional(2))

    def test_an_old_marker_or_an_old_coordinator_is_refused(self) -> None:
        log = new_log()
        append(log, transactional(0, epoch=4))
        end(log, commit=True, epoch=4, coordinator=9)
        with pytest.raises(AppendRefused) as caught:
            end(log, commit=True, epoch=3, coordinator=9)
        assert caught.value.code == error_codes.INVALID_PRODUCER_EPOCH
        with pytest.raises(AppendRefused) as caught:
            end(log, commit=True, epoch=4, coordinator=8)
        assert caught.value.code == error_codes.TRANSACTION_COORDINATOR_FENCED

    def test_in_version_2_a_marker_bumps_the_epoch(self) -> None:
        log = new_log()
        append(log, transactional(0, epoch=4))
        with pytest.raises(AppendRefused) as caught:
            end(log, commit=True, epoch=4, version=2)
        assert caught.value.code == error_codes.INVALID_PRODUCER_EPOCH
        end(log, commit=True, epoch=5, version=2)
        end(log, commit=True, epoch=5, version=2)  # a retry, when nothing is open any more
        append(log, transactional(0, epoch=5))

    def test_at_the_last_epoch_there_is_nothing_to_bump_to(self) -> None:
        log = new_log()
        append(log, transactional(0, epoch=32767))
        end(log, commit=True, epoch=32767, version=2)

    def test_a_verified_producer_begins_with_its_lowest_sequence(self) -> None:
        log = new_log()
        log.producers.verify(7, 3, 0, False, NOW)
        log.producers.verify(7, 1, 0, False, NOW)
        assert refused(log, transactional(3)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        append(log, transactional(1, 2))
        append(log, transactional(3))

    def test_transaction_of_version_2_begins_at_sequence_zero(self) -> None:
        log = new_log()
        log.producers.verify(7, 3, 0, True, NOW)
        assert refused(log, transactional(3)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        log.producers.verify(7, 0, 0, True, NOW)
        append(log, transactional(0))
        log.producers.verify(7, 1, 1, True, NOW)
        with pytest.raises(AppendRefused) as caught:
            log.producers.verify(7, 0, -1, True, NOW)
        assert caught.value.code == error_codes.INVALID_PRODUCER_EPOCH

    def test_a_log_start_inside_an_open_transaction(self) -> None:
        log = new_log()
        append(log, transactional(0, 5))
        append(log, produced(5))
        log.high_watermark = 10
        log.delete_records_before(3)
        assert (log.first_unstable_offset, log.last_stable_offset) == (0, 0)  # as in Kafka

    def test_a_control_batch_that_is_no_marker_is_refused(self) -> None:
        log = new_log()
        batch = marker(commit=True)
        batch[69] = 9  # the type, in the key of the record
        with pytest.raises(AppendRefused) as caught:
            log.append_own(batch, leader_epoch=0, now=NOW)
        assert caught.value.code == error_codes.UNKNOWN_SERVER_ERROR


class TestTruncation:
    def test_producers_are_as_they_were(self) -> None:
        log = new_log()
        for sequence in range(4):
            append(log, idempotent(sequence))
        log.truncate_to(2)
        assert append(log, idempotent(1)).duplicate
        assert refused(log, idempotent(3)) == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert append(log, idempotent(2)).base_offset == 2

    def test_an_aborted_transaction_becomes_open_again(self) -> None:
        log = new_log()
        append(log, transactional(0, 2))
        end(log, commit=False)
        append(log, transactional(2, 2))
        end(log, commit=False)
        log.high_watermark = log.log_end_offset
        assert len(log.transactions.aborted) == 2
        log.truncate_to(5)
        assert (log.high_watermark, log.first_unstable_offset) == (5, 3)
        assert log.transactions.aborted == [AbortedTransaction(7, 0, 2, 3)]
        log.truncate_to(2)
        assert (log.first_unstable_offset, log.transactions.aborted) == (0, [])

    def test_an_aborted_transaction_stays_listed_when_its_records_are_deleted(self) -> None:
        log = new_log(segment_bytes=200)
        append(log, transactional(0, 3))
        end(log, commit=False)
        append(log, transactional(3, 3))
        log.high_watermark = log.log_end_offset
        log.delete_records_before(3)
        log.retain(NOW)
        log.truncate_to(4)
        assert log.transactions.aborted == [AbortedTransaction(7, 0, 3, 4)]
        assert everything(log) == [3]

    def test_a_transaction_that_is_cut_off_is_not_open(self) -> None:
        log = new_log()
        append(log, idempotent(0, 2))
        append(log, transactional(0, 2, producer=8))
        log.truncate_to(2)
        assert (log.first_unstable_offset, [producer.producer_id for producer in log.producers]) == (None, [7])

    def test_after_a_full_truncation_no_producer_is_known(self) -> None:
        log = new_log()
        append(log, transactional(0, 3))
        log.truncate_fully_and_start_at(50)
        assert (len(log.producers), log.first_unstable_offset, log.last_stable_offset) == (0, None, 50)
        assert append(log, idempotent(9)).base_offset == 50


def test_producer_states_have_a_repr() -> None:
    log = new_log()
    append(log, transactional(0, 3))
    assert repr(log.producers.get(7)) == "Producer 7 of epoch 0, last sequence 2, transaction open from 0"
    assert repr(log.transactions) == "1 transactions open, 0 aborted"
    assert AppendOrigin.CLIENT.value == "client"


def test_the_last_stable_offset_is_the_base_of_the_batch_at_the_log_start_offset() -> None:
    log = new_log()
    log.append_as_leader(transactional(0, 5), leader_epoch=0, now=NOW)
    log.append_as_leader(transactional(5, 5), leader_epoch=0, now=NOW)
    log.commit_all()
    for start, stable in ((0, 0), (2, 0), (5, 5), (7, 5), (10, 10)):
        log.delete_records_before(start)
        assert log.last_stable_offset == stable
