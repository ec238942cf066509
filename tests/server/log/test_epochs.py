"""The leader epochs of a log, case by case as KIP-101 and KIP-279 demand them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.epochs import LeaderEpochCache
from kafkadouble.server.log.offset_and_epoch import UNDEFINED, OffsetAndEpoch
from kafkadouble.wire.errors import UsageError


def cache(*entries: tuple[int, int]) -> LeaderEpochCache:
    """Epochs with the offsets at which they start."""
    return LeaderEpochCache(OffsetAndEpoch(start, epoch) for epoch, start in entries)


def shown(epochs: LeaderEpochCache) -> list[tuple[int, int]]:
    return [(entry.epoch, entry.offset) for entry in epochs.entries]


@pytest.mark.parametrize(
    ("known", "requested", "answer"),
    [
        pytest.param([(0, 0)], -1, UNDEFINED, id="none asked"),
        pytest.param([(0, 0)], 0, OffsetAndEpoch(13, 0), id="the latest ends at the end of the log"),
        pytest.param([(0, 0)], 3, UNDEFINED, id="yet to come"),
        pytest.param([], 0, UNDEFINED, id="nothing known"),
        pytest.param([(2, 0), (4, 13)], 4, OffsetAndEpoch(13, 4), id="the latest, though it has no record"),
        pytest.param([(2, 0), (4, 9)], 2, OffsetAndEpoch(9, 2), id="ends where the next starts"),
        pytest.param([(2, 0), (4, 9)], 3, OffsetAndEpoch(9, 2), id="a gap: the one below it"),
        pytest.param([(2, 5), (4, 9)], 1, OffsetAndEpoch(5, 1), id="older than the first: where that starts"),
        pytest.param([(1, 0), (2, 4), (4, 6)], 2, OffsetAndEpoch(6, 2), id="an epoch that is followed by a gap"),
    ],
)
def test_end_offset_of_a_leader_epoch(known: list[tuple[int, int]], requested: int, answer: OffsetAndEpoch) -> None:
    assert cache(*known).end_offset_for(requested, 13) == answer


@pytest.mark.parametrize(
    ("known", "assigned", "after"),
    [
        ([], (0, 0), [(0, 0)]),
        ([(0, 0)], (1, 5), [(0, 0), (1, 5)]),
        ([(0, 0), (1, 5)], (1, 5), [(0, 0), (1, 5)]),
        ([(0, 0), (1, 5)], (1, 9), [(0, 0), (1, 5)]),
        ([(0, 0), (1, 5)], (1, 3), [(0, 0), (1, 3)]),
        ([(0, 0), (1, 5)], (2, 5), [(0, 0), (2, 5)]),
        ([(0, 0), (1, 5)], (2, 3), [(0, 0), (2, 3)]),
        ([(0, 0), (3, 5)], (2, 9), [(0, 0), (2, 9)]),
        ([(0, 0), (1, 5)], (2, 0), [(2, 0)]),
    ],
)
def test_entries_always_ascend(
    known: list[tuple[int, int]], assigned: tuple[int, int], after: list[tuple[int, int]]
) -> None:
    epochs = cache(*known)
    changed = epochs.assign(*assigned)
    assert shown(epochs) == after
    assert changed == (known != after)


def test_negative_epochs_and_offsets_are_refused() -> None:
    with pytest.raises(UsageError):
        cache((-1, 0))
    with pytest.raises(UsageError):
        cache((0, -1))


@pytest.mark.parametrize(
    ("end", "after"),
    [
        (0, []),
        (4, [(2, 0)]),
        (5, [(2, 0)]),
        (6, [(2, 0), (3, 5)]),
        (9, [(2, 0), (3, 5)]),
        (10, [(2, 0), (3, 5), (7, 9)]),
        (99, [(2, 0), (3, 5), (7, 9)]),
    ],
)
def test_truncation_from_the_end_forgets_what_starts_there_or_later(end: int, after: list[tuple[int, int]]) -> None:
    epochs = cache((2, 0), (3, 5), (7, 9))
    epochs.truncate_from_end(end)
    assert shown(epochs) == after


@pytest.mark.parametrize(
    ("start", "after"),
    [
        (0, [(2, 1), (3, 5), (7, 9)]),
        (1, [(2, 1), (3, 5), (7, 9)]),
        (4, [(2, 4), (3, 5), (7, 9)]),
        (5, [(3, 5), (7, 9)]),
        (8, [(3, 8), (7, 9)]),
        (9, [(7, 9)]),
        (99, [(7, 99)]),
    ],
)
def test_truncation_from_the_start_keeps_the_covering_epoch(start: int, after: list[tuple[int, int]]) -> None:
    epochs = cache((2, 1), (3, 5), (7, 9))
    epochs.truncate_from_start(start)
    assert shown(epochs) == after


def test_leader_epoch_of_an_offset_is_found() -> None:
    epochs = cache((2, 1), (3, 5))
    assert [epochs.epoch_for(offset) for offset in (0, 1, 4, 5, 99)] == [-1, 2, 2, 3, 3]
    assert cache().epoch_for(0) == -1


def test_epoch_cache_has_an_earliest_and_a_latest_epoch() -> None:
    assert (cache().latest, cache().earliest) == (-1, UNDEFINED)
    assert (cache((2, 1), (3, 5)).latest, cache((2, 1), (3, 5)).earliest) == (3, OffsetAndEpoch(1, 2))
    epochs = cache((2, 1))
    epochs.clear()
    assert len(epochs) == 0


def test_epoch_cache_has_a_repr() -> None:
    assert repr(cache((2, 0), (3, 5))) == "leader epochs 2 from 0, 3 from 5"
    assert repr(cache()) == "leader epochs (none)"


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), max_size=12), st.integers(-1, 10))
def test_assigned_epochs_and_start_offsets_ascend(assigned: list[tuple[int, int]], requested: int) -> None:
    epochs = cache(*assigned)
    entries = shown(epochs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(entries))
    end = epochs.end_offset_for(requested, 40)
    assert end == UNDEFINED or (end.epoch <= requested and 0 <= end.offset <= 40)


class Written:
    """What the cache is held to: the epoch of every offset, one by one."""

    def __init__(self) -> None:
        self.start, self.epochs = 0, list[int]()

    @property
    def end(self) -> int:
        return self.start + len(self.epochs)

    def runs(self) -> list[tuple[int, int]]:
        """The epochs that hold records, each with its first offset."""
        numbered = list(enumerate(self.epochs, start=self.start))
        return [(e, o) for (o, e), before in zip(numbered, [-1, *self.epochs], strict=False) if e != before]

    def end_of(self, epoch: int) -> OffsetAndEpoch:
        """Where an epoch ends, by looking at every record."""
        if epoch < 0 or not self.epochs or epoch > self.epochs[-1]:
            return UNDEFINED
        later = [offset for offset, of in enumerate(self.epochs, start=self.start) if of > epoch]
        upto = [of for of in self.epochs if of <= epoch]
        return OffsetAndEpoch(later[0] if later else self.end, upto[-1] if upto else epoch)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 3), st.integers(1, 4)),
        st.tuples(st.just("cut the end"), st.integers(0, 30), st.just(0)),
        st.tuples(st.just("cut the start"), st.integers(0, 30), st.just(0)),
    ),
    max_size=20,
)


@given(STEPS)
def test_after_any_change_of_a_log_its_cache_equals_that_of_the_log_read_again(
    steps: list[tuple[str, int, int]],
) -> None:
    epochs, log = cache(), Written()
    for step, number, count in steps:
        if step == "append":  # in the epoch of the last record, or so many later
            epoch = (log.epochs[-1] if log.epochs else max(0, epochs.latest)) + number
            epochs.assign(epoch, log.end)
            log.epochs += [epoch] * count
        elif step == "cut the end":
            end = max(log.start, min(number, log.end))
            epochs.truncate_from_end(end)
            del log.epochs[end - log.start :]
        # an empty log keeps an epoch without a record
        elif log.start < (start := min(number, log.end)) < log.end:
            epochs.truncate_from_start(start)
            del log.epochs[: start - log.start]
            log.start = start
        assert shown(epochs) == log.runs()
        for requested in range(-1, epochs.latest + 2):
            assert epochs.end_offset_for(requested, log.end) == log.end_of(requested)
        for offset in range(log.start, log.end):
            assert epochs.epoch_for(offset) == log.epochs[offset - log.start]


@pytest.mark.parametrize(
    ("message", "batch", "after"),
    [
        ([(1, 0), (2, 3), (3, 37)], (1, 3, 6), [(1, 0)]),  # of the cut at 3 only the entries stayed
        ([(1, 0), (2, 3)], (1, 0, 2), [(1, 0), (2, 3)]),
        ([(1, 0), (2, 2)], (1, 0, 3), [(1, 0)]),
        ([(1, 0)], (2, 3, 4), [(1, 0), (2, 3)]),
        ([(1, 0), (2, 5)], (2, 3, 6), [(1, 0), (2, 3)]),
        ([(1, 3)], (2, 3, 3), [(2, 3)]),
        ([(2, 5)], (2, 3, 6), [(2, 3)]),
        ([], (0, 0, 0), [(0, 0)]),
    ],
)
def test_the_epoch_in_a_batch_overrides_an_earlier_entry(
    message: list[tuple[int, int]], batch: tuple[int, int, int], after: list[tuple[int, int]]
) -> None:
    epochs = cache(*message)
    epochs.believe(*batch)
    assert shown(epochs) == after
    assert epochs.latest == after[-1][0]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=4),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=5),
)
def test_a_cache_that_believes_every_batch_has_all_epochs(
    message: list[tuple[int, int]], batches: list[tuple[int, int]]
) -> None:
    epochs, log = cache(*message), Written()
    for step, count in batches:
        epoch = (log.epochs[-1] if log.epochs else 0) + step
        epochs.believe(epoch, log.end, log.end + count - 1)
        log.epochs += [epoch] * count
    epochs.truncate_from_end(log.end)
    assert shown(epochs) == log.runs()
