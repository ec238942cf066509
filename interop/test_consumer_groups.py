"""What users rely on in groups with group.protocol=consumer (KIP-848), through confluent-kafka:
members share the partitions, subscribe by regular expression, restart as static members, and
change the protocol of a group while it runs."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from interop import support
from interop.brokers import Broker
from interop.clients import confluent
from interop.clients.shape import Partition, Record
from interop.support import Member, create_topic, read_once_over_a_rebalance
from kafkadouble.messages.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from tests.support.client import ask
from tests.support.waiting import eventually

NEW = {"group_protocol": "consumer"}
CLASSIC = {"group_protocol": "classic", "session_timeout_ms": 20_000, "heartbeat_interval_ms": 500}
COOPERATIVE = {**CLASSIC, "partition_assignment_strategy": "cooperative-sticky"}

WAITS_S = 300.0
"""A heartbeat comes every five seconds, and a rebalance takes several."""


shared = partial(support.shared, within=WAITS_S)


@pytest.fixture
def four(broker: Broker, name: str) -> list[Partition]:
    return create_topic(broker.bootstrap, name, 4)


def member(broker: Broker, topic: str, group: str, **options: Any) -> Member:
    return Member(confluent.Consumer(broker.bootstrap, [topic], group_id=group, **options))


def described(broker: Broker, group: str) -> Any:
    (found,) = ask(broker.bootstrap, ConsumerGroupDescribeRequest(group_ids=[group]), 1).groups
    return found


def type_of(broker: Broker, group: str) -> str:
    groups = ask(broker.bootstrap, ListGroupsRequest(), 5).groups
    return next(str(each.group_type) for each in groups if each.group_id == group)


def test_partitions_are_rebalanced_when_a_member_joins_and_leaves(broker: Broker, four: list[Partition]) -> None:
    topic = four[0].topic
    with member(broker, topic, topic, **NEW) as first:
        shared([first], four, [4])
        with member(broker, topic, topic, **NEW) as second:
            shared([first, second], four, [2, 2])
            eventually(lambda: described(broker, topic).group_state, lambda state: state == "Stable")
            assert [each.member_type for each in described(broker, topic).members] == [1, 1]
        shared([first], four, [4])


def test_rebalance_with_auto_commit_reads_each_record_once(broker: Broker, four: list[Partition]) -> None:
    topic, options = four[0].topic, {"enable_auto_commit": True, **NEW}
    with confluent.Producer(broker.bootstrap) as producer:
        read_once_over_a_rebalance(producer, lambda: member(broker, topic, topic, **options), four, WAITS_S)


def test_a_regular_expression_finds_topics_that_are_created_later(broker: Broker, name: str) -> None:
    first = create_topic(broker.bootstrap, f"{name}-a", 2)
    with member(broker, f"^{name}-.*", name, **NEW) as one:
        shared([one], first, [2])
        later = create_topic(broker.bootstrap, f"{name}-b")
        shared([one], [*first, *later], [3])


def test_a_static_member_comes_back_to_its_partitions(broker: Broker, four: list[Partition]) -> None:
    topic = four[0].topic
    with member(broker, topic, topic, **NEW) as other:
        static = {"group_instance_id": "i", **NEW}
        with member(broker, topic, topic, **static) as before:
            shared([other, before], four, [2, 2])
            eventually(lambda: described(broker, topic).group_state, lambda state: state == "Stable")
            owned, epoch = before.assignment, described(broker, topic).group_epoch
        with member(broker, topic, topic, **static) as after:
            eventually(lambda: after.assignment, lambda found: found == owned, within=WAITS_S)
            assert described(broker, topic).group_epoch == epoch


@pytest.mark.parametrize("options", [CLASSIC, COOPERATIVE], ids=["eager", "cooperative"])
def test_a_group_is_upgraded_and_downgraded_member_by_member(
    broker: Broker, four: list[Partition], options: dict[str, Any]
) -> None:
    topic, group = four[0].topic, four[0].topic
    with member(broker, topic, group, **options) as old:
        shared([old], four, [4])
        assert type_of(broker, group) == "classic"
        with member(broker, topic, group, **NEW) as new:
            shared([old, new], four, [2, 2])
            assert type_of(broker, group) == "consumer"
            assert sorted(each.member_type for each in described(broker, group).members) == [0, 1]
            old.stop()
            shared([new], four, [4])
            assert type_of(broker, group) == "consumer"
            # And back again.
            with member(broker, topic, group, **options) as back:
                shared([new, back], four, [2, 2])
                new.stop()
                shared([back], four, [4])
                assert type_of(broker, group) == "classic"


def test_offsets_survive_a_change_of_the_protocol(broker: Broker, topic: str) -> None:
    partition = Partition(topic, 0)
    with confluent.Producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"%d" % n) for n in range(10)])
    for offset, options in ((3, CLASSIC), (6, NEW), (9, CLASSIC)):
        with confluent.Consumer(broker.bootstrap, [topic], group_id=topic, **options) as consumer:
            first = offset - 3
            assert [seen.offset for seen in consumer.read(10 - first)] == [*range(first, 10)]
            consumer.commit({partition: (offset, "")})
