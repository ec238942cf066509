"""Compares our partition assignors with Apache Kafka 4.4.0's own classes, on machines that have its
jars: the same groups, the same assignments, in the same order. A failure prints the seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.coordinator.timeline_hash_map import TimelineHashMap, overlaid_order
from kafkadouble.server.groups.assignor.partition_assignor import PartitionAssignor, PartitionAssignorError
from kafkadouble.server.groups.assignor.range_assignor import RangeAssignor
from kafkadouble.server.groups.assignor.simple_assignor import SimpleAssignor
from kafkadouble.server.groups.assignor.uniform_assignor import UniformAssignor
from kafkadouble.server.java.hash_tables import (
    JavaHashMap,
    hash_map_order,
    hash_set_copy_order,
    integer_hash,
    string_hash,
    topic_id_partition_hash,
    uuid_hash,
)
from kafkadouble.server.java.integer_set import integer_set_copy_order
from kafkadouble.server.java.strings import java_hash
from tests.server.configs.witness import Witness
from tests.server.groups.assignor.random_group import RandomGroup, answer_of

SEEDS = range(4)
ASSIGNORS: dict[str, PartitionAssignor] = {
    each.name: each for each in (RangeAssignor(), UniformAssignor(), SimpleAssignor())
}


# Hash tables.


def some_integer(made: random.Random) -> int:
    # Often a multiple, so that keys share bins.
    return (
        made.randrange(made.choice([20, 300, 70_000, 2_000_000]))
        * made.choice([1, 1, 16, 64, 512, 1 << 16])
        % (1 << 31)
    )


def some_string(made: random.Random) -> str:
    # "Aa" and "BB" have the same hash.
    return "".join(made.choices(["Aa", "BB", "C#", "é", "\U0001f600", "x"], k=made.randrange(8)))


def some_uuid(made: random.Random) -> Uuid:
    low = made.choice([1, 40, 1 << 62])
    words = [made.randrange(1 << 32), made.randrange(low) * 64 % (1 << 32)]
    return Uuid(b"".join(word.to_bytes(4) for word in (words[0], words[0] ^ words[1], 7, 7)))


TOPIC_IDS = [Uuid(each * 7 + bytes([1, 2])) for each in (b"ab", b"cd", b"e\xff", b"\x90\0")]
Kind = tuple[Callable[[random.Random], Any], Callable[[Any], int]]
KINDS: dict[str, Kind] = {
    "integer": (some_integer, integer_hash),
    "string": (some_string, string_hash),
    "uuid": (some_uuid, uuid_hash),
    "topic_id_partition": (
        lambda made: (made.choice(TOPIC_IDS), some_integer(made) % 100_000),
        topic_id_partition_hash,
    ),
}


def shown(key: Any) -> Any:
    return [shown(each) for each in key] if isinstance(key, tuple) else str(key) if isinstance(key, Uuid) else key


def run_steps(steps: list[tuple[str, Any]], hash_of: Callable[[Any], int], capacity: int) -> list[Any]:
    table: JavaHashMap[Any, int] = JavaHashMap(hash_of, capacity)
    for step, key in steps:
        if step == "put":
            table.put(key, 1)
        elif step == "compute":
            table.compute_if_absent(key, lambda: 1)
        else:
            table.remove(key, by_iterator=step == "remove_by_iterator")
    return [shown(key) for key in table]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_hash_maps_have_javas_order(kafka: Witness, kind: str, seed: int) -> None:
    made = random.Random(seed)
    some_key, hash_of = KINDS[kind]
    questions, mine = [], []
    for _ in range(150):
        keys = [some_key(made) for _ in range(made.choice([5, 30, 200, 600]))]
        weights = [made.random() for _ in range(4)]
        choices = made.choices(
            ["put", "compute", "remove", "remove_by_iterator"], weights, k=made.choice([10, 100, 700])
        )
        steps = [(choice, made.choice(keys)) for choice in choices]
        capacity = made.choice([0, 1, 2, 3, 13, 16, 64, 100])
        shown_steps = [[step, shown(key)] for step, key in steps]
        questions.append({"op": "hash_map", "kind": kind, "capacity": capacity, "steps": shown_steps})
        mine.append(run_steps(steps, hash_of, capacity))
    assert mine == kafka.ask_all(questions, in_flight=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_copied_sets_have_javas_order(kafka: Witness, seed: int) -> None:
    made = random.Random(seed)
    lists = [
        list(dict.fromkeys(some_integer(made) for _ in range(size)))
        for size in [*range(60), 95, 96, 97, 384, 385, 1000]
    ]
    lists += [made.sample(range(made.randrange(size, 4 * size)), size) for size in range(1, 200)]
    questions = ({"op": "hash_set_copy", "kind": "integer", "keys": numbers} for numbers in lists)
    theirs = kafka.ask_all(questions, in_flight=1)
    assert [integer_set_copy_order(numbers) for numbers in lists] == theirs
    assert [hash_set_copy_order(numbers, integer_hash) for numbers in lists] == theirs


def some_steps(made: random.Random, count: int) -> list[tuple[str, str]]:
    keys = [some_string(made) for _ in range(max(3, count // made.choice([1, 4])))]
    return [(made.choice(["put", "put", "remove"]), made.choice(keys)) for _ in range(count)]


def change(present: dict[str, int], steps: list[tuple[str, str]]) -> None:
    for step, key in steps:
        if step == "put":
            present[key] = 1
        else:
            present.pop(key, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_timeline_maps_have_kafkas_order(kafka: Witness, seed: int) -> None:
    """Also with changes that are not written yet, as the members of a group come to an assignor."""
    made = random.Random(seed)
    questions: list[dict[str, Any]] = []
    mine = []
    for _ in range(200):
        steps, changes = some_steps(made, made.choice([0, 1, 4, 50, 400])), some_steps(made, made.choice([0, 1, 5, 12]))
        question: dict[str, Any] = {
            "kind": "string",
            "expected_size": made.choice([0, 0, 1, 3, 50]),
            "steps": steps,
            "changes": changes,
        }
        questions += [question | {"op": "timeline"}, question | {"op": "overlay"}]
        base: TimelineHashMap[str, int] = TimelineHashMap(java_hash, question["expected_size"])
        change(base, steps)
        changed = dict(base)
        change(changed, changes)
        mine += [base.in_order(), hash_map_order(overlaid_order(base, changed, string_hash), string_hash)]
    assert mine == kafka.ask_all(questions, in_flight=1)


# Assignors.


def outcome(assignor: PartitionAssignor, group: RandomGroup) -> dict[str, Any]:
    """The assignment, which becomes that of the group, or the error."""
    spec = group.spec()
    try:
        result = assignor.assign(spec, group.topics)
    except PartitionAssignorError as error:
        return {"error": str(error)}
    group.follow(result)
    return {"order": list(spec.members), "members": answer_of(result)}


ERRORS = {"NoSuchElementException": "There are fewer members than a partition needs."}
"""Our message for an exception of Java that the simple assignor does not expect."""


def assert_agrees(kafka: Witness, name: str, groups: Iterator[RandomGroup], rounds: int) -> None:
    questions, mine = [], []
    for group in groups:
        for _ in range(rounds):
            questions.append(group.question(name))
            mine.append(outcome(ASSIGNORS[name], group))
            group.change()
    differing = [
        (asked, ours, theirs)
        for asked, ours, theirs in zip(questions, mine, kafka.ask_all(questions, in_flight=1), strict=True)
        if ours != (theirs if "error" not in theirs else {"error": ERRORS.get(theirs["class"], theirs["error"])})
    ]
    assert questions
    assert not differing, f"{len(differing)} of {len(questions)} assignments differ, first {differing[0]}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("homogeneous", [True, False], ids=["homogeneous", "heterogeneous"])
@pytest.mark.parametrize("name", ASSIGNORS)
def test_groups_are_assigned_as_in_kafka(kafka: Witness, name: str, homogeneous: bool, seed: int) -> None:
    made = random.Random(seed)
    groups = (
        RandomGroup(made, homogeneous=homogeneous, shared=name == "simple", size=made.choice([3, 12, 80]))
        for _ in range(100)
    )
    assert_agrees(kafka, name, groups, rounds=6)


@pytest.mark.parametrize("members", [64, 100, 128])
@pytest.mark.parametrize("name", ["uniform", "simple"])
def test_large_groups_are_assigned_as_in_kafka(kafka: Witness, name: str, members: int) -> None:
    """Members get every 64th partition or so, which are numbers that share a bin of a table."""
    made = random.Random(members)
    group = RandomGroup(made, homogeneous=False, shared=name == "simple", all_initialized=True, size=2)
    for topic, partitions in (("large", 1500), ("small", 200)):
        group.topics.create(topic, Uuid.random(made.randbytes), partitions)
    while len(group.members) < members:
        group.join()
    for member in group.members.values():
        member.topics = ["large"] if made.random() < 0.9 else ["large", "small"]
    group.initialize_partitions()
    assert_agrees(kafka, name, iter([group]), rounds=12)
