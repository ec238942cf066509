"""Consumer groups with several client libraries: members join, leave and share the partitions, and
consumers resume at the committed offsets."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.clients import CLIENTS, Client
from interop.clients.shape import Partition, Record
from interop.log_of_groups import generations
from interop.support import Member, create_topic, read_once_over_a_rebalance, refused, shared
from tests.support.waiting import eventually

SESSION = {"session_timeout_ms": 20_000}
"""Long enough for a member to keep its session on a busy machine, short enough for a test to wait
until a silent member is removed."""

SHORTEST = {"session_timeout_ms": 6000}
"""The shortest session timeout that Kafka allows by default."""


@pytest.fixture
def four(broker: Broker, name: str) -> list[Partition]:
    return create_topic(broker.bootstrap, name, 4)


def _member(broker: Broker, client: Client, topic: str, **options: object) -> Member:
    return Member(client.consumer(broker.bootstrap, [topic], group_id=topic, **options))


def test_single_member_is_assigned_every_partition(broker: Broker, client: Client, four: list[Partition]) -> None:
    topic = four[0].topic
    with client.consumer(broker.bootstrap, [topic], group_id=topic) as consumer:
        assert consumer.joined() == set(four)
        with client.producer(broker.bootstrap) as producer:
            producer.send(topic, [Record(b"v", partition=index) for index in range(4)])
        assert sorted(seen.partition for seen in consumer.read(4)) == [0, 1, 2, 3]


def test_partitions_are_rebalanced_when_a_member_joins_and_leaves(
    broker: Broker, client: Client, four: list[Partition]
) -> None:
    topic = four[0].topic
    with _member(broker, client, topic, **SESSION) as first:
        shared([first], four, [4])
        with _member(broker, client, topic, **SESSION) as second:
            shared([first, second], four, [2, 2])
        shared([first], four, [4])


def test_rebalance_with_auto_commit_reads_each_record_once(
    broker: Broker, client: Client, four: list[Partition]
) -> None:
    topic = four[0].topic
    options = {"enable_auto_commit": True, **SESSION}
    with client.producer(broker.bootstrap) as producer:
        read_once_over_a_rebalance(producer, lambda: _member(broker, client, topic, **options), four)


def test_members_of_three_client_libraries_share_one_group(broker: Broker, name: str) -> None:
    """The members use the only assignor that all three libraries offer."""
    six = create_topic(broker.bootstrap, name, 6)
    options = {"confluent-kafka": {"partition_assignment_strategy": "range,roundrobin"}}
    members: list[Member] = []
    try:
        for client in CLIENTS:
            members.append(_member(broker, client, name, **SESSION, **options.get(client.name, {})))
            shared(members, six, {1: [6], 2: [3, 3], 3: [2, 2, 2]}[len(members)])
        while len(members) > 1:
            members.pop().stop()
            shared(members, six, {1: [6], 2: [3, 3]}[len(members)])
    finally:
        for member in members:
            member.stop()


def test_consumer_resumes_at_the_committed_offset(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"%d" % n) for n in range(10)])
    with client.consumer(broker.bootstrap, [topic], group_id=topic) as consumer:
        consumer.read(10)
        consumer.commit({Partition(topic, 0): (6, "")})
    with client.consumer(broker.bootstrap, [topic], group_id=topic) as consumer:
        assert [seen.offset for seen in consumer.read(4)] == [6, 7, 8, 9]


def test_auto_commit_commits_positions_when_a_consumer_closes(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"%d" % n) for n in range(10)])
    with client.consumer(broker.bootstrap, [topic], group_id=topic, enable_auto_commit=True) as consumer:
        consumer.read(10)
    with client.admin(broker.bootstrap) as admin:
        assert admin.group_offsets(topic) == {Partition(topic, 0): 10}


def test_second_group_reads_all_records_again(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"%d" % n) for n in range(3)])
    for group in ("a", "b"):
        with client.consumer(broker.bootstrap, [topic], group_id=f"{topic}-{group}") as consumer:
            assert len(consumer.read(3)) == 3
            consumer.commit()


def test_restarted_static_member_keeps_its_assignment_without_a_rebalance(
    broker: Broker, client: Client, four: list[Partition]
) -> None:
    topic = four[0].topic
    with _member(broker, client, topic, group_instance_id="one", **SESSION) as first:
        shared([first], four, [4])
        second = _member(broker, client, topic, group_instance_id="two", **SESSION)
        shared([first, second], four, [2, 2])
        before, share = generations(broker, topic)[-1], second.assignment
        second.stop()
        with _member(broker, client, topic, group_instance_id="two", **SESSION) as second:
            shared([first, second], four, [2, 2])
            assert second.assignment == share
            assert generations(broker, topic)[-1] == before


# One client is enough: the broker alone decides, and its shortest session timeout takes a while.
@pytest.mark.clients(names=("aiokafka",))
def test_member_without_heartbeats_is_removed_after_the_session_timeout(
    broker: Broker, client: Client, four: list[Partition]
) -> None:
    """A static member sends no LeaveGroup, so only its session timeout removes it."""
    topic = four[0].topic
    stopped = _member(broker, client, topic, group_instance_id="stopped", **SHORTEST)
    shared([stopped], four, [4])
    stopped.stop()
    with _member(broker, client, topic, **SESSION) as remaining:
        shared([remaining], four, [4])


def test_group_is_listed_and_described_and_deleted_only_when_empty(broker: Broker, client: Client, topic: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        with _member(broker, client, topic) as member:
            shared([member], [Partition(topic, 0)], [1])
            assert topic in admin.groups()
            assert eventually(lambda: admin.group(topic), lambda found: found[0] == "stable") == ("stable", 1)
            if hasattr(admin, "delete_group"):
                with refused("NON_EMPTY_GROUP"):
                    admin.delete_group(topic)
        assert eventually(lambda: admin.group(topic), lambda found: found[1] == 0) == ("empty", 0)
        if hasattr(admin, "delete_group"):
            admin.delete_group(topic)
            assert topic not in admin.groups()


@pytest.mark.clients(can="admin.delete_group")
def test_deletion_of_unknown_group_is_refused(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin, refused("GROUP_ID_NOT_FOUND"):
        admin.delete_group(name)


@pytest.mark.clients(can="admin.delete_group")
def test_deleted_group_has_no_committed_offsets(broker: Broker, client: Client, topic: str) -> None:
    partition = Partition(topic, 0)
    with client.consumer(broker.bootstrap, partitions=[partition], group_id=topic) as consumer:
        consumer.commit({partition: (0, "")})
        assert consumer.committed(partition) == (0, "")
    with client.admin(broker.bootstrap) as admin:
        admin.delete_group(topic)
        assert admin.group_offsets(topic) == {}


def test_commit_of_manual_assignment_in_group_with_members_is_refused(
    broker: Broker, client: Client, topic: str
) -> None:
    partition = Partition(topic, 0)
    with _member(broker, client, topic) as member:
        shared([member], [partition], [1])
        with (
            client.consumer(broker.bootstrap, partitions=[partition], group_id=topic) as outsider,
            refused("UNKNOWN_MEMBER_ID"),
        ):
            outsider.commit({partition: (0, "")})


@pytest.mark.clients(names=("kafka-python", "aiokafka"))
def test_added_partitions_are_assigned_to_members(broker: Broker, client: Client, topic: str) -> None:
    with _member(broker, client, topic, metadata_max_age_ms=500) as member:
        shared([member], [Partition(topic, 0)], [1])
        with client.admin(broker.bootstrap) as admin:
            admin.create_partitions(topic, 3)
        shared([member], [Partition(topic, index) for index in range(3)], [3])
