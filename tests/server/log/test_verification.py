"""The verification of transactional batches by their log (KIP-890): a batch that the coordinator
was not asked about, a transaction that ended meanwhile, and batches that overtake each other."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.log.log import AppendRefused, AppendResult, PartitionLog
from kafkadouble.server.log.producers import NOT_REQUIRED, VerificationStateEntry
from tests.server.log.batches import NOW, idempotent, marker, new_log, transactional

DAY = 86_400_000


def append(
    log: PartitionLog, batch: bytes | bytearray, verification: VerificationStateEntry | None = None
) -> AppendResult:
    return log.append_as_leader(batch, 0, NOW, None, verification)


def refused(log: PartitionLog, batch: bytes | bytearray, verification: VerificationStateEntry | None = None) -> int:
    """The error code; the log does not change."""
    before = log.log_end_offset, len(log.producers)
    with pytest.raises(AppendRefused) as caught:
        append(log, batch, verification)
    assert (log.log_end_offset, len(log.producers)) == before
    return caught.value.code


def verify(log: PartitionLog, sequence: int = 0, epoch: int = 0, *, new: bool = False) -> VerificationStateEntry | None:
    return log.producers.verify(7, sequence, epoch, new, NOW)


def end(log: PartitionLog, *, commit: bool = False, epoch: int = 0, version: int = 0) -> None:
    log.append_own(marker(commit=commit, epoch=epoch), leader_epoch=0, now=NOW, transaction_version=version)


def test_a_batch_that_was_not_verified_is_refused() -> None:
    assert refused(new_log(), transactional(0)) == codes.INVALID_TXN_STATE


def test_a_verified_batch_opens_the_transaction_for_the_next_ones() -> None:
    log = new_log()
    assert append(log, transactional(0), verify(log)).base_offset == 0
    assert verify(log, 1) is None
    assert append(log, transactional(1)).base_offset == 1
    assert log.producers._verifications == {}


def test_other_batches_need_no_verification() -> None:
    log = new_log()
    assert append(log, idempotent(0)).base_offset == 0
    assert append(log, transactional(0, producer=8), NOT_REQUIRED).base_offset == 1


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_that_ended_meanwhile_is_not_opened_again(commit: bool) -> None:
    """The marker comes between the coordinator's answer and the append: the batch would stay in an
    open transaction for ever."""
    log = new_log()
    verification = verify(log)
    end(log, commit=commit)
    assert refused(log, transactional(0), verification) == codes.INVALID_TXN_STATE
    assert append(log, transactional(0), verify(log)).base_offset == 1


def test_the_verification_of_another_transaction_is_refused() -> None:
    log = new_log()
    old = verify(log)
    end(log)
    assert verify(log) is not old
    assert refused(log, transactional(0), old) == codes.INVALID_TXN_STATE


def test_a_later_batch_does_not_overtake() -> None:
    """Both wait for the same answer; the second one is handled first."""
    log = new_log()
    verification = verify(log, 0)
    assert verify(log, 3) is verification
    assert refused(log, transactional(3), verification) == codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, transactional(0, 3), verification).base_offset == 0
    assert append(log, transactional(3), verification).base_offset == 3


def test_the_lowest_sequence_counts_in_any_order() -> None:
    log = new_log()
    verification = verify(log, 3)
    assert verify(log, 0) is verification
    assert refused(log, transactional(3), verification) == codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, transactional(0, 3), verification).base_offset == 0


def test_a_newer_epoch_begins_its_own_sequences() -> None:
    log = new_log()
    verification = verify(log, 0, epoch=1)
    assert verify(log, 5, epoch=2) is verification
    assert append(log, transactional(5, epoch=2), verification).base_offset == 0


def test_an_old_epoch_is_fenced_before_the_coordinator_is_asked() -> None:
    log = new_log()
    append(log, transactional(0, epoch=2), verify(log, epoch=2))
    with pytest.raises(AppendRefused) as caught:
        verify(log, epoch=1)
    assert caught.value.code == codes.INVALID_PRODUCER_EPOCH
    assert verify(log, epoch=3) is not None


def test_retried_transactional_batch_needs_no_verification() -> None:
    """The batch was appended, its answer was lost, and the transaction has ended."""
    log = new_log()
    append(log, transactional(0), verify(log))
    end(log, commit=True)
    assert append(log, transactional(0)).duplicate


def test_version_2_begins_at_zero() -> None:
    log = new_log()
    assert refused(log, transactional(4), verify(log, 4, new=True)) == codes.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_marker_of_the_last_transaction_leaves_the_next_one_alone() -> None:
    """Version 2: a repeated marker has the epoch of the transaction that begins."""
    log = new_log()
    append(log, transactional(0), verify(log, new=True))
    end(log, commit=True, epoch=1, version=2)
    verification = verify(log, epoch=1, new=True)
    end(log, commit=True, epoch=1, version=2)
    assert append(log, transactional(0, epoch=1), verification).base_offset == 3


def test_unused_producer_verifications_expire() -> None:
    log = new_log()
    verify(log)
    log.producers.expire(NOW + DAY - 1, DAY)
    assert len(log.producers._verifications) == 1
    log.producers.expire(NOW + DAY, DAY)
    assert log.producers._verifications == {}


def test_a_follower_takes_what_was_verified() -> None:
    leader, follower = new_log(), new_log()
    append(leader, transactional(0), verify(leader))
    end(leader)
    leader.high_watermark = leader.log_end_offset
    for batch in leader.batches(0):
        follower.append_as_follower(bytes(batch), now=NOW)
    assert follower.log_end_offset == 2
