"""The order of Java's hash tables, in examples from Java 17. `make interop-codecs` compares many
more with Java itself."""

from __future__ import annotations

import random

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.coordinator.timeline_hash_map import (
    TimelineHashMap,
    overlaid_order,
    timeline_hash_map_order,
    timeline_table_size,
)
from kafkadouble.server.java import hash_tables
from kafkadouble.server.java.hash_tables import (
    JavaHashMap,
    JavaHashSet,
    copy_capacity,
    hash_map_order,
    integer_hash,
    string_hash,
    table_size_for,
    topic_id_partition_hash,
    uuid_hash,
)
from kafkadouble.server.java.integer_set import JavaIntegerSet, integer_set_copy_order
from kafkadouble.server.java.strings import java_hash, java_order

SHARED_BIN = [0, 16, 32, 48]
"""Of a table of 16 bins."""


def test_java_map_put_appends_to_a_bin_and_compute_if_absent_does_not() -> None:
    put: JavaHashMap[int, str] = JavaHashMap(integer_hash)
    computed: JavaHashMap[int, str] = JavaHashMap(integer_hash)
    for number in SHARED_BIN:
        put.put(number, "x")
        assert computed.compute_if_absent(number, lambda: "x") == "x"
    assert list(put) == SHARED_BIN
    assert list(computed) == SHARED_BIN[::-1]
    assert list(computed.items()) == [(number, "x") for number in SHARED_BIN[::-1]]


def test_a_value_that_is_present_stays_or_is_replaced() -> None:
    table: JavaHashMap[str, int] = JavaHashMap(string_hash)
    table.put("a", 1)
    assert table.compute_if_absent("a", lambda: 2) == 1
    table.put("a", 3)
    assert (table["a"], table.get("a"), table.get("b"), len(table)) == (3, 3, None, 1)


def test_the_table_doubles_at_three_quarters() -> None:
    numbers = [16, *range(1, 12)]
    assert hash_map_order(numbers, integer_hash) == numbers
    assert hash_map_order([*numbers, 12], integer_hash) == [*range(1, 13), 16]


def test_a_long_bin_doubles_a_small_table_and_becomes_a_tree_in_a_large_one() -> None:
    numbers = [16 * number for number in range(9)]
    # The ninth key of one bin makes 32 bins, where 16 comes after every even multiple.
    assert hash_map_order(numbers, integer_hash) == numbers[::2] + numbers[1::2]
    multiples = [64 * number for number in range(12)]
    # In a tree the root, which is the fourth of so many keys in ascending order, comes first.
    assert hash_map_order(multiples, integer_hash, 64) == [192, 0, 64, 128, *multiples[4:]]


@pytest.mark.parametrize("by_iterator", [False, True])
def test_every_key_can_be_removed_from_a_tree(by_iterator: bool) -> None:
    made = random.Random(1)
    table: JavaHashSet[int] = JavaHashSet(integer_hash, 64)
    numbers = [64 * number for number in range(200)]
    for number in made.sample(numbers, len(numbers)):
        table.add(number)
    for number in made.sample(numbers, len(numbers)):
        assert table.remove(number, by_iterator=by_iterator)
        assert not table.remove(number)
        numbers.remove(number)
        assert sorted(table) == numbers


def test_java_set_of_int_has_the_order_of_the_general_one() -> None:
    made = random.Random(2)
    for _ in range(200):
        most = made.choice([16, 40, 3000, 200_000])
        fast, plain = JavaIntegerSet(), JavaHashSet(integer_hash)
        for number in [made.randrange(most) for _ in range(made.choice([5, 20, 200]))]:
            if made.random() < 0.8:
                fast.add(number)
                plain.add(number)
            else:
                assert fast.remove(number) == plain.remove(number)
            assert fast.keys() == plain.keys()


def test_the_size_of_a_copied_set_depends_on_the_release_of_java(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = [16, *range(1, 12)]
    assert [copy_capacity(size) for size in (0, 11, 12, 13, 24)] == [16, 16, 17, 18, 33]
    assert integer_set_copy_order(numbers) == [*range(1, 12), 16]
    monkeypatch.setattr(hash_tables, "JAVA_RELEASE", 21)
    assert [copy_capacity(size) for size in (0, 11, 12, 13, 24)] == [16, 16, 16, 18, 32]
    assert integer_set_copy_order(numbers) == numbers


def test_tables_have_a_power_of_two_of_bins() -> None:
    assert [table_size_for(capacity) for capacity in (0, 1, 2, 3, 16, 17)] == [1, 1, 2, 4, 16, 32]
    assert [timeline_table_size(keys) for keys in (0, 2, 3, 5, 6, 10, 11)] == [2, 2, 4, 4, 8, 8, 16]
    assert [timeline_table_size(0, size) for size in (0, 1, 2, 3, 12, 13)] == [2, 2, 4, 4, 16, 32]


def test_hashes_are_javas() -> None:
    topic_id = Uuid(bytes(range(16)))
    assert uuid_hash(topic_id) == 0
    assert topic_id_partition_hash((topic_id, 70_000)) == 70_001
    # The low half of a hash code is mixed with its high half.
    assert uuid_hash(Uuid(b"\xff\xff\x00\x01" + bytes(12))) == 0xFFFFFFFE
    assert string_hash("polygenelubricants") == 0x80008000
    assert integer_hash(65_536) == 65_537


def test_a_timeline_map_goes_through_each_slot_from_its_end() -> None:
    # "Aa" and "BB" have one hash, so they share a slot.
    assert timeline_hash_map_order(["Aa", "BB"], java_hash) == ["BB", "Aa"]
    keys = [str(number) for number in range(6)]
    assert timeline_hash_map_order(keys, java_hash) == ["4", "1", "3", "0", "5", "2"]


def test_to_put_a_present_key_makes_room_for_one_more() -> None:
    members: TimelineHashMap[str, int] = TimelineHashMap(java_hash)
    for key in "01":
        members[key] = 1
    assert members.in_order() == timeline_hash_map_order("01", java_hash)
    members["0"] = 2
    assert members.in_order() == timeline_hash_map_order("01", java_hash, most_keys=3)
    assert members == {"0": 2, "1": 1}


def test_new_keys_come_after_those_that_are_written() -> None:
    members: TimelineHashMap[str, int] = TimelineHashMap(java_hash)
    for key in "abc":
        members[key] = 1
    changed = {"z": 1, "y": 1, "c": 1, "a": 1}
    kept = [key for key in members.in_order() if key != "b"]
    assert overlaid_order(members, changed, string_hash) == [*kept, "y", "z"]


def test_strings_are_ordered_by_code_units() -> None:
    assert sorted(["\uffff", "\U0001f600", "z"], key=java_order) == ["z", "\U0001f600", "\uffff"]
