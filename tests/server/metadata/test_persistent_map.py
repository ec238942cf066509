"""A PersistentMap equals a dict that is copied before each change, and stays cheap to change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.metadata.persistent_map import ONE_DICT, PersistentMap

CHANGES = st.lists(st.tuples(st.booleans(), st.integers(0, 400)), max_size=600)


@given(CHANGES)
def test_changes_give_what_a_dict_gives_and_leave_the_older_map(changes: list[tuple[bool, int]]) -> None:
    mapping: PersistentMap[int, int] = PersistentMap()
    plain: dict[int, int] = {}
    for at, (is_set, key) in enumerate(changes):
        older, copied = mapping, dict(plain)
        if is_set:
            mapping, plain[key] = mapping.set(key, at), at
        elif key in plain:
            mapping = mapping.delete(key)
            del plain[key]
        assert older == copied
        assert mapping == plain
        assert (len(mapping), mapping.get(key)) == (len(plain), plain.get(key))
    assert sorted(mapping.items()) == sorted(plain.items())
    assert hash(mapping) == hash(PersistentMap(plain))


@pytest.mark.parametrize("length", [0, 1, ONE_DICT, ONE_DICT + 1, 1000])
def test_update_equals_a_set_for_each_entry(length: int) -> None:
    entries = {number: str(number) for number in range(length)}
    one_by_one: PersistentMap[int, str] = PersistentMap()
    for key, value in entries.items():
        one_by_one = one_by_one.set(key, value)
    assert PersistentMap({-1: "x"}).update(entries) == one_by_one.set(-1, "x")


def test_delete_of_a_missing_key_is_a_key_error() -> None:
    for mapping in (PersistentMap({1: 2}), PersistentMap(dict.fromkeys(range(1000)))):
        with pytest.raises(KeyError):
            mapping.delete("missing")  # type: ignore[arg-type]


def copied_entries(mapping: PersistentMap[int, int]) -> int:
    """How many entries and references a change copies at most."""
    return len(mapping._buckets) + max(map(len, mapping._buckets))


def test_a_change_copies_few_entries_while_a_map_grows_and_shrinks() -> None:
    mapping: PersistentMap[int, int] = PersistentMap()
    for key in range(20_000):
        mapping = mapping.set(key, key)
        assert copied_entries(mapping) <= max(4 * ONE_DICT + 1, 8 * len(mapping) ** 0.5)
    for key in range(20_000):
        mapping = mapping.delete(key)
        assert copied_entries(mapping) <= max(4 * ONE_DICT + 1, 12 * len(mapping) ** 0.5)
