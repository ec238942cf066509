"""Compares consumer groups with Apache Kafka 4.4.0's own classes, on machines that have its jars:
the hash of subscribed topics, the next step of a member, and the records of a member. A failure
prints the seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from kafkadouble.messages.coordinator import decode_value, encode_value
from kafkadouble.messages.generated.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.consumer import records
from kafkadouble.server.groups.consumer.consumer_group_member import ConsumerGroupMember
from kafkadouble.server.groups.consumer.current_assignment import ReconciliationTarget, reconcile
from kafkadouble.server.groups.modern.metadata_hash import compute_metadata_hash, compute_topic_hash
from kafkadouble.server.requests.request import Refusal
from tests.server.configs.witness import Witness, running
from tests.server.groups.consumer.random_member import (
    PARTITIONS,
    TOPICS,
    as_json,
    epochs_as_json,
    made_member,
    made_target,
)

SEEDS = range(4)


@pytest.fixture(scope="module")
def kafka() -> Iterator[Witness]:
    """The classes of Apache Kafka 4.4.0."""
    yield from running(Path(__file__).with_name("ConsumerGroupWitness.java"))


# The hash of topics.


def made_topics(made: Random) -> list[list[Any]]:
    """Returns topics: the name, the id, and the replicas of each partition."""
    names = made.sample(["t", "orders.eu", "a_b-c", "x" * 249, "z"], made.randrange(6))
    replicas = range(made.choice([1, 4]))
    return [
        [
            name,
            str(Uuid(made.randbytes(16))),
            [made.sample(replicas, len(replicas)) for _ in range(made.randrange(1, 9))],
        ]
        for name in names
    ]


RACKS = ["", "rack-a", "räck", "rack-a"]
"""The rack of each broker; two of them share one."""


@pytest.mark.parametrize("seed", SEEDS)
def test_hashes_of_topics_are_kafkas(kafka: Witness, seed: int) -> None:
    made = Random(seed)
    groups = [made_topics(made) for _ in range(40)]
    theirs = kafka.ask_all(
        (
            {"op": "hash", "topics": [[name, id, racks_of(replicas)] for name, id, replicas in topics]}
            for topics in groups
        ),
        in_flight=4,
    )
    assert [hashes(topics) for topics in groups] == theirs
    assert any(len(topics) > 2 for topics in groups)


def racks_of(partitions: list[list[int]]) -> list[list[str]]:
    return [[RACKS[replica] for replica in replicas] for replicas in partitions]


def hashes(topics: list[list[Any]]) -> dict[str, Any]:
    images = {name: topic_image(name, id, partitions) for name, id, partitions in topics}
    brokers = {id: SimpleNamespace(rack=rack) for id, rack in enumerate(RACKS)}
    image: Any = SimpleNamespace(brokers=brokers, topic_named=images.get)
    return {
        "topics": {name: compute_topic_hash(each, image) for name, each in images.items()},
        "group": compute_metadata_hash([*images, "nowhere"], {}, image),
    }


def topic_image(name: str, id: str, partitions: list[list[int]]) -> Any:
    in_order = [(index, SimpleNamespace(replicas=replicas)) for index, replicas in enumerate(partitions)]
    return SimpleNamespace(name=name, id=Uuid.parse(id), partitions=partitions, in_order=lambda: in_order)


# The next step of a member.


@pytest.mark.parametrize("seed", SEEDS)
def test_the_steps_of_members_are_kafkas(kafka: Witness, seed: int) -> None:
    made = Random(seed)
    asked, mine = [], []
    for _ in range(500):
        member = made_member(made)
        target, current = made_target(made, member)
        asked.append(question(member, target, current))
        mine.append(step(member, target))
    theirs = kafka.ask_all(asked)
    differing = [each for each in zip(asked, mine, map(without_message, theirs), strict=True) if each[1] != each[2]]
    assert not differing, f"{len(differing)} of {len(asked)} steps differ, first {differing[0]}"
    assert sum(answer == FENCED for answer in mine) > 20
    assert {answer["state"] for answer in mine if answer != FENCED} == {0, 1, 2}


FENCED = {"class": "FencedMemberEpochException"}


def question(
    member: ConsumerGroupMember, target: ReconciliationTarget, current: dict[Uuid, dict[int, int]]
) -> dict[str, Any]:
    # The topics that the regular expression matches are a part of the names here.
    return {
        "op": "reconcile",
        "member": as_json(member) | {"subscribed_topic_regex": ""},
        "topics": [[name, str(id), [[] for _ in PARTITIONS]] for name, id in TOPICS.items()],
        "epoch": target.epoch,
        "target": [[str(id), list(each)] for id, each in target.assignment.items()],
        "changed": target.has_subscription_changed,
        "owned": None if target.owned is None else [[str(each.topic_id), each.partitions] for each in target.owned],
        "partition_epochs": epochs_as_json(current),
    }


def step(member: ConsumerGroupMember, target: ReconciliationTarget) -> dict[str, Any]:
    try:
        after = reconcile(member, target)
    except Refusal:
        return FENCED
    return {
        "member_epoch": after.member_epoch,
        "previous_member_epoch": after.previous_member_epoch,
        "state": int(after.state),
        "assigned": epochs_as_json(after.assigned_partitions),
        "pending": epochs_as_json(after.partitions_pending_revocation),
    }


def without_message(answer: dict[str, Any]) -> dict[str, Any]:
    return {"class": answer["class"]} if "class" in answer else answer


# Records.


@pytest.mark.parametrize("seed", SEEDS)
def test_records_of_members_are_kafkas_byte_by_byte(kafka: Witness, seed: int) -> None:
    made = Random(seed)
    members = [made_member(made) for _ in range(100)]
    theirs = kafka.ask_all({"op": "write", "member": as_json(member)} for member in members)
    for member, written in zip(members, theirs, strict=True):
        subscription, current = (record.encoded(0, 0) for record in written_records(member))
        assert [hex_of(subscription.key), hex_of(subscription.value)] == written[0]
        assert [hex_of(current.key), hex_of(current.value)] == [written[1][0], in_order(written[1][1])]


def written_records(member: ConsumerGroupMember) -> list[Any]:
    return [records.member_subscription_record("g", member), records.current_assignment_record("g", member)]


def hex_of(data: bytes | None) -> str:
    assert data is not None
    return data.hex()


def in_order(value: str) -> str:
    """Kafka's value with its topics and partitions in order; Kafka writes them unordered."""
    message, version = decode_value(bytes.fromhex(value), ConsumerGroupCurrentMemberAssignmentKey())
    assert isinstance(message, ConsumerGroupCurrentMemberAssignmentValue)
    for topics in (message.assigned_partitions, message.partitions_pending_revocation):
        for topic in topics:
            assert topic.assignment_epochs is not None
            pairs = sorted(zip(topic.partitions, topic.assignment_epochs, strict=True))
            topic.partitions, topic.assignment_epochs = [each for each, _ in pairs], [each for _, each in pairs]
    message.assigned_partitions = sorted(message.assigned_partitions, key=lambda each: each.topic_id)
    message.partitions_pending_revocation = sorted(
        message.partitions_pending_revocation, key=lambda each: each.topic_id
    )
    return encode_value(message, version).hex()
