"""KIP-630's sharing of one response among several snapshots, as properties."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.raft.snapshots.sharing import response_max_bytes, share

REMAINING = st.lists(st.integers(0, 1000), max_size=12)


@given(st.integers(0, 5000), REMAINING)
def test_never_more_than_the_response_may_have_nor_than_there_is(budget: int, remaining: list[int]) -> None:
    shares = share(budget, remaining)
    assert len(shares) == len(remaining)
    assert all(0 <= some <= left for some, left in zip(shares, remaining, strict=True))
    assert sum(shares) <= budget


@given(st.integers(0, 5000), st.lists(st.integers(0, 1000), min_size=1, max_size=12))
def test_each_gets_the_average_at_least_if_it_has_so_much_left(budget: int, remaining: list[int]) -> None:
    average = budget // len(remaining)
    assert all(some >= min(left, average) for some, left in zip(share(budget, remaining), remaining, strict=True))


@given(st.integers(0, 5000), REMAINING)
def test_what_one_does_not_need_goes_to_the_others(budget: int, remaining: list[int]) -> None:
    assert sum(share(budget, remaining)) == min(budget, sum(remaining))


@given(st.integers(0, 5000), st.lists(st.integers(0, 1000), min_size=1, max_size=12))
def test_those_that_get_less_than_they_have_get_the_same(budget: int, remaining: list[int]) -> None:
    """But for a byte that does not divide."""
    cut = [some for some, left in zip(share(budget, remaining), remaining, strict=True) if some < left]
    assert not cut or max(cut) - min(cut) <= 1


def test_an_example() -> None:
    assert share(100, [10, 500, 500]) == [10, 45, 45]
    assert share(100, [500]) == [100]
    assert share(101, [500, 500]) == [51, 50]
    assert share(0, [500, 500]) == [0, 0]
    assert share(100, []) == []


def test_the_smaller_of_both_bounds_counts() -> None:
    assert [response_max_bytes(7, None), response_max_bytes(7, 5), response_max_bytes(7, 9)] == [7, 5, 7]
