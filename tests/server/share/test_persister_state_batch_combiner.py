"""Combined state batches: for every offset, what a naive search over all batches says."""

import random
from itertools import pairwise

import pytest

from kafkadouble.server.share.persister import PersisterStateBatch
from kafkadouble.server.share.persister_state_batch_combiner import combine_state_batches
from tests.server.share.broker import batch

CASES = [
    # (before, new, start offset; combined)
    ([], [], -1, []),
    ([], [batch(5, 9)], -1, [batch(5, 9)]),
    ([batch(0, 4)], [batch(5, 9)], -1, [batch(0, 9)]),
    ([batch(0, 4)], [batch(6, 9)], -1, [batch(0, 4), batch(6, 9)]),
    ([batch(0, 9, 0, 1)], [batch(3, 5, 2, 1)], -1, [batch(0, 2, 0, 1), batch(3, 5, 2, 1), batch(6, 9, 0, 1)]),
    ([batch(0, 9, 2, 1)], [batch(3, 5, 0, 2)], -1, [batch(0, 2, 2, 1), batch(3, 5, 0, 2), batch(6, 9, 2, 1)]),
    ([batch(0, 9, 2, 3)], [batch(3, 5, 4, 1)], -1, [batch(0, 9, 2, 3)]),
    ([batch(0, 9)], [], 4, [batch(4, 9)]),
    ([batch(0, 9), batch(10, 12, 0)], [], 10, [batch(10, 12, 0)]),
    ([batch(0, 9)], [], 10, []),
    ([batch(9, 3)], [batch(5, 6)], -1, [batch(5, 6)]),
]


@pytest.mark.parametrize(("before", "new", "start", "combined"), CASES)
def test_share_state_batches_are_combined(
    before: list[PersisterStateBatch], new: list[PersisterStateBatch], start: int, combined: list[PersisterStateBatch]
) -> None:
    assert combine_state_batches(before, new, start) == tuple(combined)


def naive(batches: list[PersisterStateBatch], start: int) -> dict[int, tuple[int, int]]:
    """Offset -> the highest delivery count and state of a batch that has it."""
    found: dict[int, tuple[int, int]] = {}
    for first, last, state, count in batches:
        for offset in range(max(first, start), last + 1):
            found[offset] = max(found.get(offset, (0, 0)), (count, state))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_random_batches(seed: int) -> None:
    chance = random.Random(seed)

    def some() -> list[PersisterStateBatch]:
        firsts = [chance.randrange(40) for _ in range(chance.randrange(6))]
        return [
            batch(each, each + chance.randrange(12), chance.choice((0, 2, 4)), chance.randint(1, 4)) for each in firsts
        ]

    before, new, start = some(), some(), chance.choice((-1, 0, 7, 20))
    combined = combine_state_batches(before, new, start)
    assert naive(list(combined), -1) == naive(before + new, start)
    for one, following in pairwise(combined):
        assert one.last_offset < following.first_offset
        assert one.last_offset + 1 < following.first_offset or one[2:] != following[2:], "neighbours are one batch"
