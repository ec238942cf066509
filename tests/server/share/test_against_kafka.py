"""Compares random lives of share partitions with Apache Kafka 4.4.0's own share coordinator, on
machines that have its jars: every response, and every record byte for byte. Seeds are printed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.delete_share_group_state import DeleteShareGroupStateRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.initialize_share_group_state import InitializeShareGroupStateRequest
from kafkadouble.messages.generated.read_share_group_state import ReadShareGroupStateRequest
from kafkadouble.messages.generated.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from kafkadouble.messages.generated.write_share_group_state import WriteShareGroupStateRequest
from kafkadouble.messages.json_form import to_json
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from tests.server.configs.witness import Witness, running
from tests.server.share.broker import ShareBroker

STEPS = 300
EPOCHS = (0, 0, 0, 0, 1, 1, 2, 3, -1)
NO_OFFSET = -1


@pytest.fixture(scope="module")
def coordinator() -> Iterator[Witness]:
    """The share coordinator of Apache Kafka 4.4.0, to compare with."""
    yield from running(Path(__file__).with_name("ShareCoordinatorWitness.java"))


class Life:
    """Random requests about the topics "t" and "u", and everything else that changes a shard."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.updates = self.chance.choice((0, 1, 3, 10))
        # Not enabled, so that the jobs run only when a step calls them.
        settings: dict[str, object] = {"share.coordinator.snapshot.update.records.per.snapshot": self.updates}
        self.broker = ShareBroker(settings, enabled=False)
        self.broker.create("u")
        self.topics = {name: image.id for name in "tu" if (image := self.broker.image.topic_named(name))}
        self.questions: list[dict[str, Any]] = [
            {
                "op": "begin",
                "now": self.broker.now,
                "updates": self.updates,
                "topics": {str(self.topics["t"]): 2, str(self.topics["u"]): 1},
            }
        ]
        self.answers: list[Any] = [{}]
        self._seen = 0

    def step(self) -> None:
        """One more question, and our answer to it."""
        self.broker.now += self.chance.choice((0, 0, 7, 100_000))
        self.broker.node.advance(self.broker.now)
        kind = self.chance.random()
        if kind < 0.04:
            self.broker.shard.snapshot_cold_partitions()
            self._put_written({"op": "cold"})
        elif kind < 0.1:
            offset = self.broker.shard.offsets.last_redundant_offset
            self._put({"op": "redundant"}, {"redundant": -1 if offset is None else offset})
        elif kind < 0.102:
            self.broker.submit(DeleteTopicsRequest(topic_names=["u"], timeout_ms=1000), 5)
            self._put_written({"op": "delete_topic", "topic": str(self.topics["u"])})
        else:
            self._request()

    def _request(self) -> None:
        api, version, body = self.chance.choice((self._initialize, self._read, self._write, self._write, self._more))()
        response = to_json(self.broker.submit(body, version), version)
        question = {"op": api, "request": to_json(body, version)}
        self._put(question, {"records": self._records(), "response": without_messages(response)})

    def _put_written(self, question: dict[str, Any]) -> None:
        """Several records, whose order is ours."""
        records = self._records()
        order = [key for key, _ in records]
        self._put({**question, "order": order}, {"records": records, "response": None})

    def _put(self, question: dict[str, Any], answer: Any) -> None:
        self.questions.append({"now": self.broker.now, **question})
        self.answers.append(answer)

    def _records(self) -> list[list[str | None]]:
        """The key and the value of each new record."""
        records = self.broker.records()
        new, self._seen = records[self._seen :], len(records)
        return [[key.hex(), None if value is None else value.hex()] for _, key, value in new]

    # Requests.

    def _where(self) -> tuple[Uuid, int]:
        topic = self.chance.choice((*[self.topics["t"]] * 6, self.topics["u"], Uuid(bytes(15) + b"x")))
        return topic, self.chance.choice((0, 0, 0, 0, 0, 0, 1, 1, 2, -1))

    def _group(self) -> str:
        return self.chance.choice(("g", "group with spaces"))

    def _initialize(self) -> tuple[str, int, Message]:
        of, (topic, partition) = InitializeShareGroupStateRequest, self._where()
        offset = self.chance.choice((NO_OFFSET, 0, 10))
        data = of.PartitionData(partition=partition, state_epoch=self.chance.choice(EPOCHS), start_offset=offset)
        topics = [of.InitializeStateData(topic_id=topic, partitions=[data])]
        return "InitializeShareGroupState", 0, of(group_id=self._group(), topics=topics)

    def _read(self) -> tuple[str, int, Message]:
        of, (topic, partition) = ReadShareGroupStateRequest, self._where()
        data = of.PartitionData(partition=partition, leader_epoch=self.chance.choice(EPOCHS))
        topics = [of.ReadStateData(topic_id=topic, partitions=[data])]
        return "ReadShareGroupState", 0, of(group_id=self._group(), topics=topics)

    def _write(self) -> tuple[str, int, Message]:
        of, (topic, partition) = WriteShareGroupStateRequest, self._where()
        data = of.PartitionData(
            partition=partition,
            state_epoch=self.chance.choice((3, 3, 3, 3, 3, 3, 3, 3, *EPOCHS)),
            leader_epoch=self.chance.choice((3, 3, 3, 3, 3, 3, 3, 3, *EPOCHS)),
            start_offset=self.chance.choice((NO_OFFSET, 0, 5, 12, 30)),
            delivery_complete_count=self.chance.choice((-1, 0, 4)),
            state_batches=[self._batch() for _ in range(self.chance.randrange(5))],
        )
        topics = [of.WriteStateData(topic_id=topic, partitions=[data])]
        return "WriteShareGroupState", 1, of(group_id=self._group(), topics=topics)

    def _batch(self) -> WriteShareGroupStateRequest.StateBatch:
        first = self.chance.randrange(40)
        return WriteShareGroupStateRequest.StateBatch(
            first_offset=first,
            last_offset=first + self.chance.randrange(10),
            delivery_state=self.chance.choice((0, 2, 4)),
            delivery_count=self.chance.randint(1, 5),
        )

    def _more(self) -> tuple[str, int, Message]:
        topic, partition = self._where()
        if self.chance.random() < 0.3:
            deleted = DeleteShareGroupStateRequest
            data = deleted.DeleteStateData(topic_id=topic, partitions=[deleted.PartitionData(partition=partition)])
            return "DeleteShareGroupState", 0, deleted(group_id=self._group(), topics=[data])
        of = ReadShareGroupStateSummaryRequest
        summary = of.ReadStateSummaryData(topic_id=topic, partitions=[of.PartitionData(partition=partition)])
        return "ReadShareGroupStateSummary", 1, of(group_id=self._group(), topics=[summary])


OWN_WORDS = (codes.FENCED_LEADER_EPOCH, codes.FENCED_STATE_EPOCH, codes.UNKNOWN_TOPIC_OR_PARTITION)
"""The errors whose message is the general one of the code."""


def without_messages(response: Any) -> Any:
    for topic in response["results"]:
        for partition in topic["partitions"]:
            if partition["errorCode"] in OWN_WORDS:
                partition["errorMessage"] = bool(partition["errorMessage"])
    return response


def comparable(answer: Any) -> Any:
    if answer.get("response"):
        answer["response"] = without_messages(answer["response"])
    return answer


@pytest.mark.parametrize("seed", range(20))
def test_a_life_is_kafkas(coordinator: Witness, seed: int) -> None:
    life = Life(seed)
    for _ in range(STEPS):
        life.step()
    theirs = coordinator.ask_all(life.questions)
    for question, mine, other in zip(life.questions, life.answers, theirs, strict=True):
        assert mine == comparable(other), question
    assert sum(len(answer.get("records", ())) for answer in life.answers) > STEPS // 10
