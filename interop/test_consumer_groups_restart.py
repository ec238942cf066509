"""Members with group.protocol=consumer, when the coordinator of their group is restarted."""

from __future__ import annotations

from typing import Any

import pytest

from interop.brokers import Broker
from interop.clients import confluent
from interop.clients.shape import Record
from interop.support import Member, create_topic, shared
from kafkadouble.messages.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from tests.support.client import ask
from tests.support.waiting import eventually

pytestmark = [pytest.mark.needs("restart", "durable")]

NEW: dict[str, Any] = {"group_protocol": "consumer", "enable_auto_commit": True}


def test_members_go_on_with_their_partitions(broker: Broker, name: str) -> None:
    four = create_topic(broker.bootstrap, name, 4)
    with confluent.Producer(broker.bootstrap) as producer:
        with (
            Member(confluent.Consumer(broker.bootstrap, [name], group_id=name, **NEW)) as first,
            Member(confluent.Consumer(broker.bootstrap, [name], group_id=name, **NEW)) as second,
        ):
            members = first, second
            shared(members, four, [2, 2])
            eventually(lambda: state(broker, name), lambda found: found == "Stable")
            before = first.assignment, second.assignment, epoch(broker, name)
            producer.send(name, [Record(b"a%d" % n, partition=n % 4) for n in range(20)])
            eventually(lambda: len(first.seen) + len(second.seen), lambda found: found == 20)
            broker.restart()
            eventually(lambda: state(broker, name), lambda found: found == "Stable")
            producer.send(name, [Record(b"b%d" % n, partition=n % 4) for n in range(20)])
            eventually(lambda: len(first.seen) + len(second.seen), lambda found: found >= 40)
            assert (first.assignment, second.assignment, epoch(broker, name)) == before
        seen = sorted(one.value or b"" for member in members for one in member.seen)
    assert seen == sorted(b"%c%d" % (letter, n) for letter in b"ab" for n in range(20))


def state(broker: Broker, group: str) -> str:
    return str(_described(broker, group)[0])


def epoch(broker: Broker, group: str) -> int:
    return int(_described(broker, group)[1])


def _described(broker: Broker, group: str) -> tuple[str, int]:
    (found,) = ask(broker.bootstrap, ConsumerGroupDescribeRequest(group_ids=[group]), 1).groups
    return found.group_state, found.group_epoch
