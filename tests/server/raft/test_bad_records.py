"""Bytes from a leader that are no batches, or not the ones that go on here."""

from random import Random

import pytest

from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.wire.batch import KRAFT_VOTERS, encode_control_batch, read_header
from tests.server.raft.asking import shown
from tests.server.raft.followed import Followed, batch, response
from tests.server.raft.quorum import START, is_ascending


def voters_batch(value: bytes) -> bytes:
    return bytes(encode_control_batch(KRAFT_VOTERS, value, base_offset=0, timestamp=START, partition_leader_epoch=4))


GOOD = batch(0, b"a", b"b")
CORRUPT = [
    b"",
    b"\x00",
    b"garbage that is no batch at all, and long enough to be one if it were" * 3,
    GOOD[:-1],
    GOOD[:40],
    GOOD[:-1] + b"\xff",
    GOOD[:16] + b"\x01" + GOOD[17:],
    batch(1, b"a"),
    batch(0, b"a") + batch(2, b"b")[:-3] + b"abc",
    voters_batch(b"no voters"),
    voters_batch(b""),
]


@pytest.mark.parametrize("records", CORRUPT, ids=range(len(CORRUPT)))
def test_62_bytes_that_are_no_batches_change_nothing_and_are_fetched_again(records: bytes) -> None:
    followed = Followed()
    before = shown(followed.replica)
    followed.answer(response(records, high_watermark=-1))
    assert shown(followed.replica) == before
    assert followed.replica.failure is None
    followed.tick(20)
    assert followed.fetched() == (0, 0, 4)


@pytest.mark.parametrize("seed", range(20))
def test_62_random_bytes_never_kill_a_replica(seed: int) -> None:
    random = Random(seed)
    followed = Followed()
    good = batch(0, b"a", b"b") + batch(2, b"c")
    for _ in range(50):
        spoilt = bytearray(good)
        for _ in range(random.randrange(1, 4)):
            spoilt[random.randrange(len(spoilt))] = random.randrange(256)
        records = random.choice(
            [random.randbytes(random.randrange(200)), bytes(spoilt), good[: random.randrange(len(good))]]
        )
        for send in followed.replica.take_outgoing():
            followed.replica.answered(send.token, response(records), followed.now)
        followed.tick(25)
        assert followed.replica.failure is None
        if followed.replica.epoch != 4 or not isinstance(followed.replica.state, FollowerState):
            break
    ends = [read_header(batch).next_offset for batch in followed.replica.log.log.batches(0)]
    assert is_ascending(ends)
    assert ends[-1:] in ([], [followed.replica.log.end_offset])


def test_62_a_batch_of_a_later_epoch_than_the_request_is_left_out() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a") + batch(1, b"b", epoch=5)))
    assert followed.replica.log.end == OffsetAndEpoch(1, 4)


def test_62_batches_with_falling_epochs_are_refused() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", epoch=3) + batch(1, b"b", epoch=2)))
    assert followed.replica.log.end_offset == 0


def test_62_batches_with_a_gap_are_refused() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a") + batch(2, b"b")))
    assert followed.replica.log.end_offset == 0
