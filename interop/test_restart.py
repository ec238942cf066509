"""What clients do when a broker is restarted under them: they find it again, and go on."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.clients import CREATOR, Client
from interop.clients.shape import Partition, Record
from interop.support import Member
from tests.support.waiting import eventually

pytestmark = [pytest.mark.needs("restart"), pytest.mark.usefixtures("collected")]


def test_a_producer_goes_on_after_a_restart(broker: Broker, client: Client, topic: str) -> None:
    """Where the broker forgot the topic, the producer's asking for it makes it again."""
    with client.producer(broker.bootstrap, enable_idempotence=False) as producer:
        assert producer.send(topic, [Record(b"before")]) == [0]
        broker.restart()
        producer.send(topic, [Record(b"after")])
        with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)]) as consumer:
            assert consumer.poll(30)[-1].value == b"after"


@pytest.mark.needs("durable")
def test_acknowledged_records_and_offsets_are_there_after_a_restart(broker: Broker, client: Client, topic: str) -> None:
    partition = Partition(topic, 0)
    with client.admin(broker.bootstrap) as admin, client.producer(broker.bootstrap) as producer:
        producer.send(topic, [Record(b"%d" % n) for n in range(10)])
        admin.replace_configs("topic", topic, {"max.message.bytes": "2000000"})
    with client.consumer(broker.bootstrap, [topic], group_id=topic) as consumer:
        consumer.read(10)
        consumer.commit({partition: (6, "why")})
    broker.restart()
    with client.consumer(broker.bootstrap, [topic], group_id=topic) as consumer:
        assert [seen.value for seen in consumer.read(4)] == [b"%d" % n for n in range(6, 10)]
    with CREATOR.admin(broker.bootstrap) as admin:
        assert admin.group_offsets(topic) == {partition: 6}
        assert admin.configs("topic", topic)["max.message.bytes"] == "2000000"


@pytest.mark.needs("durable")
def test_an_idempotent_producer_and_a_group_go_on_after_a_restart(broker: Broker, client: Client, topic: str) -> None:
    with client.producer(broker.bootstrap, enable_idempotence=True) as producer:
        assert producer.send(topic, [Record(b"0"), Record(b"1")]) == [0, 1]
        with Member(client.consumer(broker.bootstrap, [topic], group_id=topic)) as member:
            eventually(lambda: len(member.seen), lambda found: found == 2)
            broker.restart()
            assert producer.send(topic, [Record(b"2"), Record(b"3")]) == [2, 3]
            seen = eventually(lambda: {(one.offset, one.value) for one in member.seen}, lambda found: len(found) >= 4)
    assert seen == {(n, b"%d" % n) for n in range(4)}
