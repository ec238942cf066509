"""Compares random lives of a share group with Apache Kafka 4.4.0's own group coordinator, on
machines that have its jars: every response, every record, and what is sent to the share
coordinator. Seeds are printed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import coordinator
from kafkadouble.messages.generated.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkadouble.messages.json_form import to_json
from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from kafkadouble.server.share.persister import SharePartitionKey
from kafkadouble.wire.batch import iter_batches, records_of
from tests.server.configs.witness import Witness, running
from tests.server.harness import Harness

STEPS = 150
SIZE = 3
MEMBERS = ("a", "b", "c", "d")
NAMES = ("t", "u", "v")


@pytest.fixture(scope="module")
def kafka() -> Iterator[Witness]:
    """The group coordinator of Apache Kafka 4.4.0, to compare with."""
    yield from running(Path(__file__).with_name("ShareGroupWitness.java"))


class HeldPersister:
    """A persister that keeps what it is to initialize, until the test gives the results; while
    `succeeds`, everything succeeds at once."""

    def __init__(self) -> None:
        self.succeeds = False
        self.held: list[tuple[SharePartitionKey, int, int, Callable[..., None]]] = []
        self.sent: list[list[Any]] = []

    def initialize_state(self, key: SharePartitionKey, state_epoch: int, start_offset: int, then: Any) -> None:
        self.sent.append([str(key.topic_id), key.partition, state_epoch, start_offset])
        if self.succeeds:
            then(0, None)
        else:
            self.held.append((key, state_epoch, start_offset, then))

    def delete_state(self, key: SharePartitionKey, then: Any) -> None:
        then(0, None)


class Life:
    """A share group "s" with random members and topics."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        interval = self.chance.choice((0, 1000))
        settings = {"offsets.topic.num.partitions": 1, "group.share.assignment.interval.ms": interval}
        self.harness = Harness({**settings, "group.share.max.size": SIZE, "group.share.session.timeout.ms": 60_000})
        self.harness.node.controller.create_internal_topic(CONSUMER_OFFSETS)
        self.harness.create("t", "u", partitions=2)
        self.persister = HeldPersister()
        vars(self.harness.node)["persister"] = self.persister
        self.epochs: dict[str, int] = {}
        self.batches: list[list[tuple[SharePartitionKey, int, int, Callable[..., None]]]] = []
        self._seen = len(self._log())
        begin = {"op": "begin", "now": self.harness.now, "interval": interval, "size": SIZE, "topics": self._topics()}
        self.questions: list[dict[str, Any]] = [begin]
        self.answers: list[Any] = [{}]

    def _topics(self) -> dict[str, Any]:
        return {
            str(topic.id): {"name": name, "partitions": len(topic.partitions)}
            for name in NAMES
            if (topic := self.harness.image.topic_named(name)) is not None
        }

    def step(self) -> None:
        """One more question, and our answer to it."""
        self.harness.now += self.chance.choice((0, 300, 1500))
        self.harness.node.advance(self.harness.now)
        steps = [self._heartbeat] * 14 + [self._result] * 5 + [self._change_topics, self._alter, self._delete]
        self.chance.choice([*steps, self._delete_offsets])()

    def _put(self, question: dict[str, Any], **answer: Any) -> None:
        self.questions.append({"now": self.harness.now, **question})
        self.answers.append({"records": self._records(), **answer})

    def _log(self) -> list[tuple[bytes, bytes | None]]:
        log = self.harness.partition(CONSUMER_OFFSETS).log
        records = log.read(0, 1 << 24, log.log_end_offset, sealed=False).records
        batches = iter_batches(records)
        return [
            (record.key or b"", record.value)
            for at, head in batches
            for record in records_of(records, at, head, check_crc=False)
        ]

    def _records(self) -> list[Any]:
        log = self._log()
        new, self._seen = log[self._seen :], len(log)
        return [shown(key, value) for key, value in new]

    def _ask(self, body: Message, version: int) -> Any:
        pending = self.harness.begin(body, version)
        self.harness.node.tick(self.harness.now)
        return pending.response

    def _heartbeat(self) -> None:
        member_id = self.chance.choice(MEMBERS)
        epoch = self.epochs.get(member_id, 0)
        epoch = self.chance.choice((epoch, epoch, epoch, epoch, epoch, epoch, epoch, epoch - 1, epoch + 1, 0, -1))
        names = None
        if epoch == 0 or self.chance.random() < 0.2:
            names = self.chance.sample(NAMES, self.chance.randint(1, 2))
        rack_id = self.chance.choice((None, None, None, "r"))
        body = ShareGroupHeartbeatRequest(
            group_id="s", member_id=member_id, member_epoch=epoch, rack_id=rack_id, subscribed_topic_names=names
        )
        before = len(self.persister.held)
        self.persister.sent.clear()
        answer = self._ask(body, 1)
        question = {"op": "heartbeat", "request": to_json(body, 1)}
        if answer.error_code:
            self.questions.append({"now": self.harness.now, **question})
            self.answers.append({"error": answer.error_code, "message": answer.error_message})
            return
        if epoch == -1:
            self.epochs.pop(member_id, None)
        else:
            self.epochs[member_id] = answer.member_epoch
        if held := self.persister.held[before:]:
            self.batches.append(held)
        self._put(question, response=to_json(answer, 1), initialize=list(self.persister.sent))

    def _result(self) -> None:
        """The share coordinator has answered, in any order."""
        if not self.batches or "s" not in self._groups():
            return
        batch = self.batches.pop(self.chance.randrange(len(self.batches)))
        fails = self.chance.random() < 0.2
        for index, (_, _, _, then) in enumerate(batch):
            then(15 if fails and index == 0 else 0, None)
        partitions: dict[str, list[int]] = {}
        for key, *_ in batch:
            partitions.setdefault(str(key.topic_id), []).append(key.partition)
        self._put({"op": "failed" if fails else "initialized", "partitions": partitions})

    def _groups(self) -> dict[str, Any]:
        shard = self.harness.node.groups.runtime.shard_at(0)
        assert shard is not None
        return dict(shard.groups)

    def _change_topics(self) -> None:
        name = self.chance.choice(NAMES)
        image = self.harness.image.topic_named(name)
        if image is None:
            self.harness.create(name, partitions=self.chance.randint(1, 3))
        elif self.chance.random() < 0.4:
            self.harness.submit(DeleteTopicsRequest(topic_names=[name], timeout_ms=1000), 5)
        else:
            of = CreatePartitionsRequest
            topic = of.CreatePartitionsTopic(name=name, count=len(image.partitions) + 1, assignments=None)
            self.harness.submit(of(topics=[topic], timeout_ms=1000), 3)
        self._put({"op": "topics", "topics": self._topics()})

    def _alter(self) -> None:
        of = AlterShareGroupOffsetsRequest
        topics = [
            of.AlterShareGroupOffsetsRequestTopic(
                topic_name=name,
                partitions=[
                    of.AlterShareGroupOffsetsRequestPartition(partition_index=index, start_offset=7) for index in (0, 9)
                ],
            )
            for name in NAMES
            # Another handler of Kafka refuses topics that do not exist.
            if self.harness.image.topic_named(name) is not None and self.chance.random() < 0.7
        ]
        body = of(group_id="s", topics=topics)
        self.persister.succeeds = True
        self.persister.sent.clear()
        answer = self._ask(body, 0)
        self.persister.succeeds = False
        question = {"op": "alter", "request": to_json(body, 0)}
        if answer.error_code:
            self.questions.append({"now": self.harness.now, **question})
            self.answers.append({"error": answer.error_code, "message": bool(answer.error_message)})
        else:
            self._put(question, initialize=list(self.persister.sent))

    def _delete_offsets(self) -> None:
        of = DeleteShareGroupOffsetsRequest
        names = [name for name in NAMES if self.chance.random() < 0.7]
        body = of(group_id="s", topics=[of.DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in names])
        answer = self._ask(body, 0)
        deleted = sorted(response.topic_name for response in answer.responses if not response.error_code)
        self._put({"op": "delete offsets", "request": to_json(body, 0)}, code=answer.error_code, deleted=deleted)

    def _delete(self) -> None:
        answer = self._ask(DeleteGroupsRequest(groups_names=["s"]), 2)
        code = answer.results[0].error_code
        if not code:
            self.epochs.clear()
        self._put({"op": "delete"}, code=code)


def shown(key: bytes, value: bytes | None) -> Any:
    """A record with its lists in order: Kafka iterates over hash tables."""
    decoded = coordinator.decode_key(key, "group_coordinator")
    body = None if value is None else in_order(to_json(coordinator.decode_value(value, decoded)[0], 0))
    return [type(decoded).__name__, to_json(decoded, 0), body]


def in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: in_order(each) for name, each in value.items()}
    return sorted(map(in_order, value), key=str) if isinstance(value, list) else value


def comparable(mine: Any, theirs: Any) -> tuple[Any, Any]:
    """Both answers, without what may differ: order, and the general words of error codes."""
    if "error" in theirs:
        message = theirs["message"] if isinstance(mine.get("message"), str) else bool(theirs["message"])
        return mine, {**theirs, "message": message}
    records = [
        shown(bytes.fromhex(key), None if value is None else bytes.fromhex(value)) for key, value in theirs["records"]
    ]
    theirs = {**theirs, "records": records}
    for answer in (mine, theirs):
        for name in ("initialize", "response"):
            if name in answer:
                answer[name] = in_order(answer[name])
        # The target assignments of members are in the order of a hash table.
        found: list[Any] = []
        for record in answer["records"]:
            at = len(found)
            while at and found[at - 1][0] == record[0] and str(found[at - 1]) > str(record):
                at -= 1
            found.insert(at, record)
        answer["records"] = found
    theirs.get("response", {}).update({"heartbeatIntervalMs": mine.get("response", {}).get("heartbeatIntervalMs")})
    return mine, theirs


@pytest.mark.parametrize("seed", range(20))
def test_a_life_is_kafkas(kafka: Witness, seed: int) -> None:
    life = Life(seed)
    for _ in range(STEPS):
        life.step()
    answers = kafka.ask_all(life.questions)
    written = 0
    for question, mine, theirs in zip(life.questions[1:], life.answers[1:], answers[1:], strict=True):
        assert "class" not in theirs, (question, theirs)
        ours, kafkas = comparable(mine, theirs)
        assert ours == kafkas, question
        written += len(ours.get("records", ()))
    assert written > STEPS // 2
