"""Lag alarm: a group falls behind, and a monitor must notice.

A monitor that adds only the partitions with a committed offset is silent about the worst case: a
partition of which nothing was ever read. Its lag is counted from the first record that the log
still has. The test commits an offset for one partition and produces to both; no consumer is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from kafkadouble import KafkaDouble


class Monitor:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any], group: str, most: int) -> None:
        self.consumer, self._most = Consumer({**settings, "group.id": group}), most

    def lag(self, topic: str) -> int:
        found = self.consumer.list_topics(topic, 10).topics[topic].partitions
        partitions = [TopicPartition(topic, index) for index in found]
        return sum(self._lag(each, each.offset) for each in self.consumer.committed(partitions, 10))

    def is_alarmed(self, topic: str) -> bool:
        return self.lag(topic) > self._most

    def _lag(self, partition: TopicPartition, committed: int) -> int:
        start, end = self.consumer.get_watermark_offsets(partition, 10)
        # Without a commit the offset is below 0.
        return end - max(committed, start)


def test_monitor_counts_a_partition_that_was_never_read(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("orders", partitions=2)
    kafka_double.produce_all("orders", ["order"] * 10, partition=0)
    kafka_double.commit_offsets("shop", {("orders", 0): 10})
    monitor = Monitor(kafka_double.client_config(), "shop", most=20)
    assert not monitor.is_alarmed("orders")

    kafka_double.produce_all("orders", ["order"] * 30, partition=1)

    assert monitor.is_alarmed("orders")
    assert monitor.lag("orders") == kafka_double.groups()["shop"].lag == 30
    monitor.consumer.close()
