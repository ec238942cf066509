"""A member of a streams group for the tool kafka-streams-groups, without a Streams application: it
joins with the topology of a word count, and sends heartbeats."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from interop.brokers import Broker
from interop.clients import CREATOR
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from tests.support.client import ask
from tests.support.waiting import eventually

MEMBER, JOIN, LEAVE = "m", 0, -1
INTERVAL = 3.0
"""Seconds between two heartbeats; the session is at least 45 s."""
TASKS = 2
"""The subtopologies, with one task each."""


def _topology(names: Mapping[str, str]) -> StreamsGroupHeartbeatRequest.Topology:
    of = StreamsGroupHeartbeatRequest
    repartition, changelog = (of.TopicInfo(name=f"{names['group']}-{kind}") for kind in ("repartition", "changelog"))
    return of.Topology(
        epoch=1,
        subtopologies=[
            of.Subtopology(
                subtopology_id="0", source_topics=[names["topic"]], repartition_sink_topics=[repartition.name]
            ),
            of.Subtopology(
                subtopology_id="1", repartition_source_topics=[repartition], state_changelog_topics=[changelog]
            ),
        ],
    )


def _heartbeat(broker: Broker, names: Mapping[str, str], epoch: int) -> Any:
    joins = epoch == JOIN
    return ask(
        broker.bootstrap,
        StreamsGroupHeartbeatRequest(
            group_id=names["group"],
            member_id=MEMBER,
            member_epoch=epoch,
            rebalance_timeout_ms=60_000 if joins else -1,
            process_id="p" if joins else None,
            topology=_topology(names) if joins else None,
            **dict.fromkeys(("active_tasks", "standby_tasks", "warmup_tasks"), () if joins else None),
        ),
        0,
    )


def _join(broker: Broker, names: Mapping[str, str]) -> int:
    """Joins until it has all tasks; returns its epoch. The offset 1 of the topic is committed."""
    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(names["topic"], 1, {})
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=[names["group"]])
    eventually(lambda: ask(broker.bootstrap, find, 4).coordinators[0].error_code, lambda code: code == 0)
    answer = eventually(lambda: _heartbeat(broker, names, JOIN), lambda one: len(one.active_tasks or ()) == TASKS)
    of = OffsetCommitRequest
    partition = of.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = of.OffsetCommitRequestTopic(name=names["topic"], partitions=[partition])
    epoch: int = answer.member_epoch
    commit = of(group_id=names["group"], member_id=MEMBER, generation_id_or_member_epoch=epoch, topics=[topic])
    assert ask(broker.bootstrap, commit, 9).topics[0].partitions[0].error_code == 0
    return epoch


@contextmanager
def streams_member(broker: Broker, names: Mapping[str, str], *, leaves: bool) -> Iterator[None]:
    """The member, or the group after it left."""
    epoch, over = _join(broker, names), threading.Event()
    if leaves:
        _heartbeat(broker, names, LEAVE)
        yield
        return

    def beat() -> None:
        while not over.wait(INTERVAL):
            _heartbeat(broker, names, epoch)

    beating = threading.Thread(target=beat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()
        _heartbeat(broker, names, LEAVE)
