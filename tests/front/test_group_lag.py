"""Which partitions the lag of a group counts."""

from __future__ import annotations

from kafkadouble.group_lag import in_words, is_caught_up, lags
from kafkadouble.groups import Committed, Group, Member

LOGS = {("t", 0): (2, 10), ("t", 1): (0, 5), ("t", 2): (7, 7)}


def group(type: str, committed: dict[int, int], assigned: list[int], *, others: int = 0, **known: int) -> Group:
    """A group with its lags: `known` by the name of the partition, as `t0=3`."""
    members = (Member("m", None, "c", "/127.0.0.1", tuple(("t", each) for each in assigned)),) if assigned else ()
    offsets = {("t", index): Committed(offset, "") for index, offset in committed.items()}
    made = Group("g", type, "Stable", "range", members, offsets, {})
    found = {(name[:1], int(name[1:])): lag for name, lag in known.items()}
    return made._replace(lags=lags(made, [("t", index) for index in range(others)], bounds, found))


def bounds(partitions: list[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
    return {each: LOGS[each] for each in partitions if each in LOGS}


def test_an_assigned_partition_without_a_commit_is_behind_by_all_that_its_log_holds() -> None:
    found = group("consumer", {0: 9}, [0, 1, 2])
    assert found.lags == {("t", 0): 1, ("t", 1): 5, ("t", 2): 0}
    assert not is_caught_up(found, 5)
    assert is_caught_up(found, 6)


def test_a_share_partition_without_a_start_offset_is_behind_and_others_have_the_lag_of_the_coordinator() -> None:
    found = group("share", {0: 4}, [0, 1], t0=3)
    assert found.lags == {("t", 0): 3, ("t", 1): 5}
    assert "; without a committed offset: t-1 (a member that begins at latest" in in_words(found)


def test_without_members_only_partitions_with_records_are_added() -> None:
    assert group("classic", {0: 10}, [], others=3).lags == {("t", 0): 0, ("t", 1): 5}


def test_a_commit_below_the_log_start_or_beyond_the_end() -> None:
    assert group("classic", {0: 1, 1: 9}, []).lags == {("t", 0): 9, ("t", 1): 0}


def test_a_group_is_not_caught_up_while_a_lag_is_unknown() -> None:
    assert not is_caught_up(group("classic", {}, []), 100)
    found = group("classic", {0: 10, 3: 0}, [])
    assert (found.lag, is_caught_up(found, 100)) == (0, False)
    assert in_words(found).endswith("a lag of 0; without a leader: t-3")
