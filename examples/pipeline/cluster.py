"""Three brokers with their logs on disk, and what befalls them: a leader that changes, and a truncation as it comes about in production."""

from __future__ import annotations

from pathlib import Path

from kafkadouble import KafkaDouble

from . import orders

PARTITIONS = 3
RESULTS = "totals"
LAG_S, SESSION_S = 35, 10
"""Longer than replica.lag.time.max.ms and broker.session.timeout.ms by default; in stepped time it costs nothing."""


def started(data_dir: Path) -> KafkaDouble:
    """The cluster with its topics."""
    kafka = KafkaDouble(brokers=3, stepped=True, data_dir=data_dir)
    kafka.start()
    kafka.create_topic(orders.TOPIC, partitions=PARTITIONS, replication_factor=3)
    kafka.create_topic(RESULTS, replication_factor=3)
    return kafka


def change_leaders(kafka: KafkaDouble) -> None:
    """The next broker leads each partition."""
    for partition in range(PARTITIONS):
        leader = kafka.leader(orders.TOPIC, partition) or 1
        kafka.move_leader(orders.TOPIC, partition, to=leader % 3 + 1)


def cut_off(kafka: KafkaDouble) -> None:
    """Brokers 2 and 3 do not reach the others any more: from now on broker 1 alone has what is written."""
    for partition in range(PARTITIONS):
        kafka.move_leader(orders.TOPIC, partition, to=1)
    kafka.move_leader(RESULTS, 0, to=1)
    kafka.brokers[2].isolate()
    kafka.brokers[3].isolate()
    kafka.advance(LAG_S)


def lose(kafka: KafkaDouble) -> None:
    """Broker 1 dies, and broker 2 is elected for the orders, which lacks the last of them (KIP-101, KIP-320). Results have no such election:
    they wait for broker 1, the only one that has all of them."""
    kafka.brokers[1].kill()
    kafka.brokers[2].join()
    kafka.brokers[3].join()
    kafka.advance(SESSION_S)
    for partition in range(PARTITIONS):
        kafka.unclean_election(orders.TOPIC, partition, to=2)


def heal(kafka: KafkaDouble) -> None:
    """Broker 1 comes back, cuts off orders that nobody else has, and follows; of the results it is the leader again."""
    kafka.brokers[1].start()
    kafka.advance(LAG_S)
