"""The work for a wide topology grows as its size, and gives the counts of Kafka's rounds."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.messages.generated.streams_group_topology_record import StreamsGroupTopologyValue
from kafkadouble.server.groups.streams import internal_topic_creation
from kafkadouble.server.groups.streams.internal_topic_creation import InternalTopicCreation
from kafkadouble.server.groups.streams.topics.copartitioned_topics_enforcer import CopartitionedTopicsEnforcer
from kafkadouble.server.groups.streams.topics.sink_counts import LOOPS, SinkCounts
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.requests.waiting import SLICE
from tests.server.groups.bench import GROUP, Bench
from tests.server.groups.streams.broker_node import BrokerNode
from tests.support.executed_lines import LINEAR, CountedText, growth

Topology = StreamsGroupHeartbeatRequest.Topology
Subtopology = StreamsGroupHeartbeatRequest.Subtopology
TopicInfo = StreamsGroupHeartbeatRequest.TopicInfo
CopartitionGroup = StreamsGroupHeartbeatRequest.CopartitionGroup
Recorded = StreamsGroupTopologyValue.Subtopology
RecordedInfo = StreamsGroupTopologyValue.TopicInfo

SIZE, VERSION = 300, 1


def changelogs(size: int) -> list[Subtopology]:
    topics = [TopicInfo(name=f"c{number}") for number in range(size)]
    return [Subtopology(subtopology_id="s", source_topics=["lines"], state_changelog_topics=topics)]


def sinks(size: int) -> list[Subtopology]:
    """One subtopology that writes to the topics that it reads."""
    names = [f"r{number}" for number in range(size)]
    read = [TopicInfo(name=name) for name in names]
    return [
        Subtopology(
            subtopology_id="s",
            source_topics=["lines"],
            repartition_sink_topics=names,
            repartition_source_topics=read,
        )
    ]


def chain(size: int) -> list[Subtopology]:
    """Each subtopology reads what the next one writes."""
    made = [
        Subtopology(
            subtopology_id=f"{number}",
            repartition_sink_topics=[f"r{number}"],
            repartition_source_topics=[TopicInfo(name=f"r{number + 1}")],
        )
        for number in range(size)
    ]
    made[-1].source_topics, made[-1].repartition_source_topics = ["lines"], []
    return made


def copartition_groups(size: int) -> list[Subtopology]:
    """As many groups as topics, and every topic has a count."""
    (subtopology,) = sinks(size)
    subtopology.repartition_source_topics = [TopicInfo(name=f"r{number}", partitions=1) for number in range(size)]
    groups = [CopartitionGroup(repartition_source_topics=[number]) for number in range(size)]
    subtopology.copartition_groups = groups
    return [subtopology]


@pytest.mark.parametrize("made", [changelogs, sinks, chain, copartition_groups])
def test_a_heartbeat_with_twice_the_topology_takes_twice_the_lines(made: Callable[[int], list[Subtopology]]) -> None:
    def work(size: int) -> Callable[[], Any]:
        bench = Bench()
        bench.create_topic("lines")
        return lambda: bench.submit(joining(made(size)), VERSION)

    assert growth(work, SIZE) <= LINEAR


def joining(subtopologies: list[Subtopology]) -> StreamsGroupHeartbeatRequest:
    """The first heartbeat of a member."""
    return StreamsGroupHeartbeatRequest(
        group_id=GROUP,
        member_id="m",
        rebalance_timeout_ms=60_000,
        process_id="p",
        topology=Topology(epoch=0, subtopologies=subtopologies),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
    )


def test_many_internal_topics_are_created_in_a_step_of_its_own() -> None:
    bench = Bench()
    bench.create_topic("lines")
    pending = bench.begin(joining(changelogs(SLICE + 1)), VERSION)
    bench.node.tick(bench.now)  # the names are checked in two slices
    answered_at_once = pending.done
    assert not answered_at_once
    assert bench.node.controller.image.topic_named("c0") is None
    bench.node.tick(bench.now)
    assert pending.done
    assert bench.node.controller.image.topic_named("c0") is not None


def test_forgetting_twice_the_failed_topics_takes_twice_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internal_topic_creation, "MOST_ERRORS", 10)

    def work(size: int) -> Callable[[], Any]:
        node = BrokerNode()
        creation = InternalTopicCreation(node)  # type: ignore[arg-type]
        creation.create([CreateTopicsRequest.CreatableTopic(name=f"c{number}") for number in range(size)], 1000)
        return lambda: node.lifecycle.done.pop()(None)

    assert growth(work, SIZE) <= LINEAR


def test_the_copartition_of_twice_the_topics_takes_twice_the_lines() -> None:
    def work(size: int) -> Callable[[], Any]:
        names = [CountedText(f"r{number}") for number in range(size)]
        enforcer = CopartitionedTopicsEnforcer([str(name) for name in names], (), lambda topic: 1)
        return lambda: enforcer.enforce(names)

    assert growth(work, SIZE) <= LINEAR


def counts_in_rounds(subtopologies: list[Recorded], known: dict[str, int]) -> dict[str, int] | str:
    """The counts as Kafka finds them: all pairs again, until none is left or none was decided."""
    infos = [info for subtopology in subtopologies for info in subtopology.repartition_source_topics]
    counts = {info.name: info.partitions for info in infos if info.partitions}
    waiting = [(subtopology, sink) for subtopology in subtopologies for sink in subtopology.repartition_sink_topics]
    while waiting:
        left = []
        for subtopology, sink in waiting:
            sources = [counts.get(info.name) for info in subtopology.repartition_source_topics]
            sources += [known.get(topic) for topic in subtopology.source_topics]
            if sink not in counts and any(sources):
                counts[sink] = max(count for count in sources if count)
            elif sink not in counts:
                left.append((subtopology, sink))
        if len(left) == len(waiting):
            return LOOPS
        waiting = left
    return counts


@pytest.mark.parametrize("seed", range(300))
def test_sinks_have_the_counts_of_rounds_over_all_pairs(seed: int) -> None:
    random = Random(seed)
    known = {f"s{number}": random.randint(1, 9) for number in range(3)}
    names = [f"r{number}" for number in range(random.randint(1, 8))]
    subtopologies = [
        Recorded(
            subtopology_id=f"{number}",
            source_topics=random.choices([*known, "unknown"], k=random.choice((0, 0, 1, 2))),
            repartition_sink_topics=random.choices(names, k=random.randint(0, 3)),
            repartition_source_topics=[
                RecordedInfo(name=name, partitions=random.choice((0, 0, 0, 5)))
                for name in random.sample(names, k=random.randint(0, min(2, len(names))))
            ],
        )
        for number in range(random.randint(1, 7))
    ]
    expected = counts_in_rounds(subtopologies, known)
    try:
        found: object = SinkCounts(subtopologies, known.get).decided()
    except Refusal as refusal:
        found = refusal.message
    assert found == expected
