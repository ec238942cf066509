"""A cluster of three brokers with logs on disk, and its failures: leader changes, and a truncation
as it happens in production."""

from __future__ import annotations

from pathlib import Path

from kafkadouble import KafkaDouble

from . import orders

PARTITIONS = 3
RESULTS = "totals"
LAG_S, SESSION_S = 35, 10
"""Longer than the defaults of replica.lag.time.max.ms and broker.session.timeout.ms. A stepped
clock passes this time at once."""


def started(data_dir: Path) -> KafkaDouble:
    """Starts the cluster and creates its topics."""
    kafka = KafkaDouble(brokers=3, stepped=True, data_dir=data_dir)
    kafka.start()
    kafka.create_topic(orders.TOPIC, partitions=PARTITIONS, replication_factor=3)
    kafka.create_topic(RESULTS, replication_factor=3)
    return kafka


def change_leaders(kafka: KafkaDouble) -> None:
    """Moves the leader of each partition to the next broker."""
    for partition in range(PARTITIONS):
        leader = kafka.leader(orders.TOPIC, partition) or 1
        kafka.move_leader(orders.TOPIC, partition, to=leader % 3 + 1)


def cut_off(kafka: KafkaDouble) -> None:
    """Isolates brokers 2 and 3 from the others: from now on, only broker 1 has new records."""
    for partition in range(PARTITIONS):
        kafka.move_leader(orders.TOPIC, partition, to=1)
    kafka.move_leader(RESULTS, 0, to=1)
    kafka.brokers[2].isolate()
    kafka.brokers[3].isolate()
    kafka.advance(LAG_S)


def lose(kafka: KafkaDouble) -> None:
    """Kills broker 1 and elects broker 2 for the orders, although it lacks the last of them
    (KIP-101, KIP-320). The results have no such election: they wait for broker 1, the only replica
    with all of them."""
    kafka.brokers[1].kill()
    kafka.brokers[2].join()
    kafka.brokers[3].join()
    kafka.advance(SESSION_S)
    for partition in range(PARTITIONS):
        kafka.unclean_election(orders.TOPIC, partition, to=2)


def heal(kafka: KafkaDouble) -> None:
    """Starts broker 1 again. It truncates the orders that no other broker has and follows; for the
    results it is the leader again."""
    kafka.brokers[1].start()
    kafka.advance(LAG_S)
