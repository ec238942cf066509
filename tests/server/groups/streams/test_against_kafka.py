"""Compares the pure parts of streams groups with Apache Kafka 4.4.0's own classes, on machines that
have its jars: the same questions, the same answers. A failure prints the seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafkadouble.messages import coordinator, error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.streams_group_describe import StreamsGroupDescribeResponse
from kafkadouble.server.groups.streams import records
from kafkadouble.server.groups.streams.current_assignment import Reconciliation, reconcile
from kafkadouble.server.groups.streams.records import StreamsGroupMetadata
from kafkadouble.server.groups.streams.topics.configured_topology import ConfiguredTopology
from kafkadouble.server.groups.streams.topics.internal_topic_manager import configure_topics
from kafkadouble.server.groups.streams.topics.streams_topology import StreamsTopology, topology_value
from kafkadouble.server.requests.request import Refusal
from tests.server.configs.witness import Witness, running

from .random_streams import (
    RandomTopology,
    shown_member,
    shown_processes,
    shown_tasks,
    shown_with_epochs,
    some_member,
    some_processes,
    some_tasks,
)

SEEDS = range(4)


@pytest.fixture(scope="module")
def kafka() -> Iterator[Witness]:
    """The classes of Apache Kafka 4.4.0 about streams groups."""
    yield from running(Path(__file__).with_name("StreamsWitness.java"))


def _reconciled(of: Reconciliation) -> Any:
    try:
        member = reconcile(of)
    except Refusal as refusal:
        return {"class": f"{_camel(error_codes.name(refusal.code))}Exception", "error": refusal.message}
    return {
        "epoch": member.member_epoch,
        "previous": member.previous_member_epoch,
        "state": member.state.name,
        "assigned": shown_with_epochs(member.assigned_tasks),
        "pending": shown_with_epochs(member.tasks_pending_revocation),
    }


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _sorted_tasks(answer: dict[str, Any]) -> dict[str, Any]:
    """Kafka writes sets in the order of its hash tables."""
    for tasks in (answer.get("assigned", {}), answer.get("pending", {})):
        for role in ("standby", "warmup"):
            if role in tasks:
                tasks[role] = {id: sorted(indexes) for id, indexes in tasks[role].items()}
    return answer


@pytest.mark.parametrize("seed", SEEDS)
def test_members_take_the_same_step(kafka: Witness, seed: int) -> None:
    made, cases, questions = Random(seed), [], []
    for _ in range(1500):
        member = some_member(made)
        owned = made.choice((None, member.assigned_tasks.without_epochs(), some_tasks(made), some_tasks(Random(0))))
        target = made.choice((some_tasks(made), member.assigned_tasks.without_epochs()))
        case = Reconciliation(member, made.randrange(1, 7), target, owned, some_processes(made, member))
        cases.append(case)
        questions.append(
            {
                "op": "reconcile",
                "member": shown_member(member),
                "epoch": case.target_epoch,
                "target": shown_tasks(target),
                "owned": None if owned is None else shown_tasks(owned),
                "processes": shown_processes(case.processes),
            }
        )
    for case, theirs in zip(cases, kafka.ask_all(questions), strict=True):
        assert _reconciled(case) == _sorted_tasks(theirs), f"seed {seed}: {case}"


class _Topics:
    """An image that has these topics."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def topic_named(self, name: str) -> Any:
        return _Topic(range(self._counts[name])) if name in self._counts else None


class _Topic:
    def __init__(self, partitions: Sequence[int]) -> None:
        self.partitions = partitions


def _configured(topology: RandomTopology) -> Any:
    requested = topology.heartbeat().topology
    assert requested is not None
    try:
        topics = configure_topics(StreamsTopology.requested(requested), _Topics(topology.topics))  # type: ignore[arg-type]
    except Refusal as refusal:
        return _camel(error_codes.name(refusal.code)), refusal.message
    detail = None if topics.error is None else (int(topics.error.status), topics.error.message)
    return detail, _tasks(topics), _in_order(topics.described()), _in_order(_creates(topics))


def _tasks(topology: ConfiguredTopology) -> Any:
    return topology.subtopologies and {id: each.number_of_tasks for id, each in topology.subtopologies.items()}


def _creates(topology: ConfiguredTopology) -> list[CreateTopicsRequest.CreatableTopic]:
    return sorted(topology.internal_topics_to_create.values(), key=lambda topic: str(topic.name))


def _in_order(message: Any) -> str:
    """The text of messages, with configurations sorted: Kafka has them in hash tables."""
    for each in message if isinstance(message, list) else message.subtopologies:
        infos = (
            [each]
            if isinstance(message, list)
            else [
                *each.repartition_source_topics,
                *each.state_changelog_topics,
            ]
        )
        for info in infos:
            field = "configs" if hasattr(info, "configs") else "topic_configs"
            setattr(info, field, sorted(getattr(info, field), key=repr))
    return repr(message)


def _answered(answer: Any) -> Any:
    if "class" in answer:
        if answer["class"] == "StreamsInvalidTopologyException":
            return "StreamsInvalidTopology", answer["error"]
        return "UnknownServerError", None
    group = StreamsGroupDescribeResponse.decode(bytes.fromhex(answer["described"]), 1).groups[0]
    creates = CreateTopicsRequest.decode(bytes.fromhex(answer["creates"]), 7).topics
    detail = (answer["status"], answer["detail"]) if "status" in answer else None
    return (
        detail,
        answer["tasks"],
        _in_order(group.topology),
        _in_order(sorted(creates, key=lambda topic: str(topic.name))),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_streams_topologies_are_configured_as_by_kafka(kafka: Witness, seed: int) -> None:
    made = Random(seed)
    topologies = [RandomTopology(made) for _ in range(1000)]
    questions = [
        {"op": "configure", "heartbeat": each.heartbeat().encode(1).hex(), "topics": each.topics} for each in topologies
    ]
    outcomes = set()
    for topology, theirs in zip(topologies, kafka.ask_all(questions, in_flight=5), strict=True):
        ours = _configured(topology)
        assert ours == _answered(theirs), f"seed {seed}: {topology.heartbeat()} for {topology.topics}"
        outcomes.add(ours[0] if isinstance(ours[0], str) or ours[0] is None else ours[0][0])
    assert outcomes == {None, 1, 2, 3, "StreamsInvalidTopology"}, "every outcome is compared"


@pytest.mark.parametrize("seed", SEEDS)
def test_records_have_the_same_bytes(kafka: Witness, seed: int) -> None:
    made = Random(seed)
    for _ in range(200):
        member, target, topology = some_member(made), some_tasks(made), RandomTopology(made)
        configs = made.choice(({}, {"num.standby.replicas": "1", "a": "b"}))
        stored, timestamp = made.choice((-1, -2, 4)), made.choice((0, 1 << 40))
        theirs = kafka.ask(
            op="records",
            member=shown_member(member),
            target=shown_tasks(target),
            heartbeat=topology.heartbeat().encode(1).hex(),
            configs=configs,
            stored=stored,
            timestamp=timestamp,
        )
        requested = topology.heartbeat().topology
        assert requested is not None
        tombstones = records.group_tombstones("g", [member.member_id])
        of_assignments, gone_member, of_group = tombstones[:3], tombstones[3], tombstones[4:]
        ours = [
            records.member_record("g", member),
            records.current_assignment_record("g", member),
            records.target_assignment_record("g", member.member_id, target),
            records.target_assignment_metadata_record("g", 7, timestamp),
            records.metadata_record("g", StreamsGroupMetadata(7, -8, 9, configs, stored, -1)),
            records.topology_record("g", topology_value(requested)),
            gone_member,
            *of_assignments,
            *of_group,
        ]
        shown = [
            [
                coordinator.encode_key(record.key).hex(),
                None if record.value is None else coordinator.encode_value(record.value, record.version).hex(),
            ]
            for record in ours
        ]
        assert shown == theirs, f"seed {seed}"
