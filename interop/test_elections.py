"""Sends the same requests after the same elections to Apache Kafka and to the double: both must
answer alike about epochs.

Kafka's broker gets new epochs by restarts, the double by calls, the same number of them. The
differential in `interop/differential` plays its scripts in the first epoch; these tests cover what
only later epochs show.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import pytest

from interop.brokers import Broker
from interop.differential.compare import differences
from interop.differential.normal import Normal
from interop.differential.side import Side
from kafkadouble import KafkaDouble
from tests.support.waiting import eventually

pytestmark = [pytest.mark.needs("restart"), pytest.mark.needs("durable")]

ANY, FAR = -1, 2**31 - 1
LATEST, EARLIEST, OLDEST_TIME = -1, -2, 0

WHOLE, CUT = "whole", "cut"
TOPICS = (WHOLE, CUT)
"""Two topics that went through three leader epochs, with three records, none, and two. Of the
second topic the first four records are deleted."""

RETENTION = {"name": "retention.ms", "value": "-1"}


class Both:
    """The two brokers, after the same elections. `epoch` is their current leader epoch."""

    def __init__(self, broker: Broker, double: KafkaDouble, sides: tuple[Side, Side]) -> None:
        self._broker, self._double, self._sides = broker, double, sides
        for side in sides:
            for topic in TOPICS:
                made = {"name": topic, "numPartitions": 1, "replicationFactor": 1, "configs": [RETENTION]}
                answer: Any = side.ask("a", "CreateTopics", 7, {"topics": [made], "timeoutMs": 10_000})
                side.known[topic] = answer["topics"][0]["topicId"]
        self._produce("a", "b", "c")
        self._elect()
        self._elect()
        self._produce("d", "e")
        self._delete_before(4)
        self.epoch = self._elect()

    def _produce(self, *records: str) -> None:
        data = [{"index": 0, "records": list(records)}]
        for side, topic in product(self._sides, TOPICS):
            given = {"acks": -1, "timeoutMs": 10_000, "topicData": [{"name": topic, "partitionData": data}]}
            # After a restart Kafka's metadata name a leader some time before that broker leads.
            eventually(partial(self._produced, side, given), lambda code: code == "NONE")

    def _produced(self, side: Side, request: dict[str, Any]) -> str:
        answer: Any = side.ask("a", "Produce", 9, request)
        return str(answer["responses"][0]["partitionResponses"][0]["errorCode"])

    def _delete_before(self, offset: int) -> None:
        topic = {"name": CUT, "partitions": [{"partitionIndex": 0, "offset": offset}]}
        for side in self._sides:
            answer: Any = side.ask("a", "DeleteRecords", 2, {"topics": [topic], "timeoutMs": 10_000})
            assert answer["topics"][0]["partitions"][0]["lowWatermark"] == offset

    def _elect(self) -> int:
        """One more election on both; returns the leader epoch, which is the same on both."""
        theirs = self._sides[1]
        known = dict(theirs.known)
        # Its connections would end with the restart
        theirs.begin(0)
        theirs.known |= known
        self._broker.restart()
        epochs = [self._led(theirs, topic) for topic in TOPICS]
        for topic, epoch in zip(TOPICS, epochs, strict=True):
            while self._double.leader_epoch(topic, 0) < epoch:
                self._double.bump_epoch(topic, 0)
        assert len(set(epochs)) == 1
        return epochs[0]

    def _led(self, side: Side, topic: str) -> int:
        """The epoch of the leader, once there is one."""

        def partition() -> Any:
            answer: Any = side.ask("a", "Metadata", 12, {"topics": [{"name": topic}]})
            return answer["topics"][0]["partitions"][0]

        return int(eventually(partition, lambda one: one["leaderId"] >= 0)["leaderEpoch"])

    def compare(self, api: str, version: int, given: dict[str, Any]) -> list[str]:
        """The differences between their answers."""
        outcomes = [side.ask("a", api, version, given) for side in self._sides]
        assert all(isinstance(outcome, dict) for outcome in outcomes), outcomes
        ours, theirs = (Normal().of(outcome) for outcome in outcomes)
        return [f"{api} v{version} {given}: {one}" for one in differences(ours, theirs)]


@pytest.fixture(scope="module")
def both(broker: Broker) -> Iterator[Both]:
    if lack := broker.lacks("restart", "durable"):
        pytest.skip(lack)
    with KafkaDouble() as double:
        sides = Side("ours", double.bootstrap_servers), Side("theirs", broker.bootstrap)
        try:
            yield Both(broker, double, sides)
        finally:
            for side in sides:
                side.begin(0)  # This ends its connections


@pytest.fixture(params=TOPICS)
def topic(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_leader_epochs_are_those_of_the_elections(both: Both, topic: str) -> None:
    assert both.epoch >= 3
    assert both.compare("Metadata", 9, {"topics": [{"name": topic}]}) == []
    assert both.compare("Metadata", 13, {"topics": [{"name": topic}]}) == []
    request = {"topics": [{"name": topic}], "responsePartitionLimit": 10}
    assert both.compare("DescribeTopicPartitions", 0, request) == []


@pytest.mark.parametrize("version", [2, 3, 4])
def test_offset_for_leader_epoch(both: Both, topic: str, version: int) -> None:
    found = []
    currents = (ANY, -2, 0, both.epoch - 1, both.epoch, both.epoch + 1, FAR)
    for current, epoch in product(currents, (*range(-2, both.epoch + 3), FAR)):
        partition = {"partition": 0, "currentLeaderEpoch": current, "leaderEpoch": epoch}
        given = {"replicaId": -1, "topics": [{"topic": topic, "partitions": [partition]}]}
        found += both.compare("OffsetForLeaderEpoch", version, given)
    assert found == []


@pytest.mark.parametrize("version", [4, 7, 11])
def test_list_offsets(both: Both, topic: str, version: int) -> None:
    found = []
    currents = (ANY, 0, both.epoch - 1, both.epoch, both.epoch + 1)
    for current, time in product(currents, (LATEST, EARLIEST, OLDEST_TIME)):
        partition = {"partitionIndex": 0, "currentLeaderEpoch": current, "timestamp": time}
        given = {"replicaId": -1, "topics": [{"name": topic, "partitions": [partition]}]}
        found += both.compare("ListOffsets", version, given)
    assert found == []


@pytest.mark.parametrize("version", [9, 11, 12, 13, 15, 16, 17, 18])
def test_fetch(both: Both, topic: str, version: int) -> None:
    found = []
    currents = (ANY, 0, both.epoch - 1, both.epoch, both.epoch + 1)
    lasts = (ANY, *range(both.epoch + 2)) if version >= 12 else (ANY,)
    for current, last, offset in product(currents, lasts, (0, 3, 4, 5, 6, 500)):
        partition = {"partition": 0, "fetchOffset": offset, "currentLeaderEpoch": current, "lastFetchedEpoch": last}
        partition |= {"partitionMaxBytes": 1 << 20}
        topic_data = {"topic": topic, "topicId": f"${topic}", "partitions": [partition]}
        given = {"maxWaitMs": 0, "minBytes": 0, "maxBytes": 1 << 20, "sessionEpoch": -1, "topics": [topic_data]}
        found += both.compare("Fetch", version, given)
    assert found == []
