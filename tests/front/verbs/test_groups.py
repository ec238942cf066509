"""What an administrator does to groups, and what the members notice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafkadouble import KafkaDouble, KafkaError, Member, UsageError


def offsets(kafka: KafkaDouble, group: str = "g") -> dict[tuple[str, int], int]:
    return {each: committed.offset for each, committed in kafka.groups()[group].offsets.items()}


@pytest.fixture(params=[1, 3])
def running(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    """With a clock that runs."""
    config = {"group.initial.rebalance.delay.ms": 0}
    with KafkaDouble(brokers=request.param, seed=7, config=config) as kafka:
        kafka.create_topic("t", 2, replication_factor=request.param)
        kafka.produce_all("t", ["a", "b", "c"], partition=0)
        yield kafka


def consumer_of(kafka: KafkaDouble, **settings: object) -> Consumer:
    # The consumer protocol refuses an interval of the client: the coordinator says it.
    interval = {} if "group.protocol" in settings else {"heartbeat.interval.ms": 100}
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
            **interval,
            **settings,
        }
    )
    consumer.subscribe(["t"])
    return consumer


def poll(consumer: Consumer) -> bytes | None:
    message = consumer.poll(20)
    assert message is not None
    assert message.error() is None
    return message.value()


def test_offsets_are_committed(kafka: KafkaDouble) -> None:
    kafka.commit_offsets("g", {("t", 0): 5, ("t", 1): 7})
    assert offsets(kafka) == {("t", 0): 5, ("t", 1): 7}
    kafka.commit_offsets("g", {("t", 1): 0})
    assert offsets(kafka) == {("t", 0): 5, ("t", 1): 0}
    assert kafka.groups()["g"].state == "Empty"
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no t-9"):
        kafka.commit_offsets("g", {("t", 0): 1, ("t", 9): 1})
    assert offsets(kafka) == {("t", 0): 5, ("t", 1): 0}


def test_offsets_are_reset(kafka: KafkaDouble) -> None:
    kafka.produce_all("t", ["a", "b", "c"], partition=0)
    assert kafka.reset_offsets("g", "t", to="latest") == {("t", 0): 3, ("t", 1): 0}
    assert kafka.reset_offsets("g", "t", to="earliest", partition=0) == {("t", 0): 0}
    assert offsets(kafka) == {("t", 0): 0, ("t", 1): 0}
    assert kafka.reset_offsets("g", "t", to=2) == {("t", 0): 2, ("t", 1): 0}, "the nearest that the log has"
    assert offsets(kafka) == {("t", 0): 2, ("t", 1): 0}
    with pytest.raises(UsageError, match="to is earliest, latest or an offset from 0, not 'first'"):
        kafka.reset_offsets("g", "t", to="first")
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no nowhere"):
        kafka.reset_offsets("g", "nowhere", to="latest")


def test_a_group_is_deleted(kafka: KafkaDouble) -> None:
    kafka.commit_offsets("g", {("t", 0): 5})
    kafka.delete_group("g")
    assert kafka.groups() == {}
    with pytest.raises(KafkaError, match="GROUP_ID_NOT_FOUND: g: "):
        kafka.delete_group("g")


def test_a_client_begins_where_it_was_committed(running: KafkaDouble) -> None:
    running.commit_offsets("g", {("t", 0): 2})
    consumer = consumer_of(running)
    assert poll(consumer) == b"c"
    consumer.close()


def test_a_group_with_members_is_refused_as_by_kafka(running: KafkaDouble) -> None:
    consumer = consumer_of(running)
    assert poll(consumer) == b"a"
    with pytest.raises(KafkaError, match="UNKNOWN_MEMBER_ID: g, t-0: "):
        running.commit_offsets("g", {("t", 0): 1})
    with pytest.raises(KafkaError, match="UNKNOWN_MEMBER_ID: g, t-0: "):
        running.reset_offsets("g", "t", to="earliest")
    with pytest.raises(KafkaError, match="NON_EMPTY_GROUP: g: "):
        running.delete_group("g")
    consumer.close()
    running.commit_offsets("g", {("t", 0): 1})
    running.delete_group("g")


def test_a_member_expires_and_joins_again(running: KafkaDouble) -> None:
    lost: list[TopicPartition] = []
    consumer = consumer_of(running)
    consumer.subscribe(["t"], on_lost=lambda _, partitions: lost.extend(partitions))
    assert poll(consumer) == b"a"
    (member,) = running.groups()["g"].members
    running.expire_member("g", member.id)
    assert member.id not in {member.id for member in running.groups()["g"].members}
    while not lost:
        consumer.poll(0.05)
    while not (members := running.groups()["g"].members):
        consumer.poll(0.05)
    assert [member.id for member in members] != [member.id]
    consumer.close()


def test_the_others_rebalance_when_a_member_expires(running: KafkaDouble) -> None:
    first, second = consumer_of(running), consumer_of(running, **{"group.instance.id": "static"})
    while len({member.assignment for member in members(running) if member.assignment}) < 2:
        first.poll(0.02), second.poll(0.02)
    running.expire_member("g", "static")
    assert all(member.instance_id is None for member in members(running))
    while not any(len(member.assignment) == 2 for member in members(running)):
        first.poll(0.02)
    first.close()
    second.close()


def members(kafka: KafkaDouble) -> list[Member]:
    groups = kafka.groups()
    return [*groups["g"].members] if "g" in groups else []


def test_expire_member_of_unknown_group_or_member_is_refused(kafka: KafkaDouble) -> None:
    with pytest.raises(KafkaError, match="GROUP_ID_NOT_FOUND: there is no group 'g'"):
        kafka.expire_member("g", "m")
    kafka.commit_offsets("g", {("t", 0): 5})
    with pytest.raises(KafkaError, match="UNKNOWN_MEMBER_ID: g has the members"):
        kafka.expire_member("g", "m")


def test_invalid_offsets_or_member_ids_are_refused(kafka: KafkaDouble) -> None:
    for wrong in ({}, {"t": 5}, {("t", 0): -1}, {("t", 0): "5"}, {("t", -1): 5}, [("t", 0, 5)], None):
        with pytest.raises(UsageError, match=r"offsets is a mapping of \(topic, partition\) to an offset from 0, not"):
            kafka.commit_offsets("g", wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="group is a name, not 5"):
        kafka.delete_group(5)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="member_id is the id of a member, not None"):
        kafka.expire_member("g", None)  # type: ignore[arg-type]


def test_the_coordinators_of_transactions_move() -> None:
    with KafkaDouble(brokers=3, stepped=True) as kafka:
        for to in (1, 2, 3):
            partition = kafka.move_transaction_coordinator("id", to)
            assert kafka.leader("__transaction_state", partition) == to


def test_a_consumer_group_rebalances_and_loses_a_member(running: KafkaDouble) -> None:
    consumer = consumer_of(running, **{"group.protocol": "consumer", "group.instance.id": "i"})
    assert poll(consumer) == b"a"
    group = running.wait_for_group("g", "Stable", members=1)
    assert group.type == "consumer"
    assert group.members[0].assignment == (("t", 0), ("t", 1))
    running.rebalance("g")
    assert running.groups()["g"].state == "Assigning"
    running.set_assignment("g", {"i": [("t", 1)]})
    assert running.groups()["g"].state == "Reconciling"
    with pytest.raises(KafkaError, match=r"UNKNOWN_MEMBER_ID: g has the members "):
        running.set_assignment("g", {"j": [("t", 1)]})
    running.expire_member("g", "i")
    assert running.groups()["g"].members == ()
    with pytest.raises(KafkaError, match="UNKNOWN_MEMBER_ID: g has no members"):
        running.rebalance("g")
    consumer.close()


def test_the_leader_of_a_classic_group_assigns(running: KafkaDouble) -> None:
    consumer = consumer_of(running)
    assert poll(consumer) == b"a"
    running.rebalance("g")
    assert running.groups()["g"].state == "PreparingRebalance"
    with pytest.raises(KafkaError, match="INVALID_REQUEST: g is a classic group: its leader assigns the partitions"):
        running.set_assignment("g", {"i": [("t", 1)]})
    with pytest.raises(KafkaError, match="GROUP_ID_NOT_FOUND: there is no group 'h'"):
        running.rebalance("h")
    with pytest.raises(UsageError, match=r"assignment is a mapping of members to lists of \(topic, partition\), not 1"):
        running.set_assignment("g", 1)  # type: ignore[arg-type]
    consumer.close()
