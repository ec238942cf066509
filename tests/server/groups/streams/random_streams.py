"""Random members, tasks and topologies of streams groups, and how the witness writes them."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.server.groups.streams.members.streams_group_member import StreamsGroupMember, UserEndpoint
from kafkadouble.server.groups.streams.members.streams_member_state import StreamsMemberState
from kafkadouble.server.groups.streams.members.task_process_ids import TaskProcessIds
from kafkadouble.server.groups.streams.members.tasks_tuple import TasksTuple, TasksTupleWithEpochs

IDS = ("0", "1", "10")
PROCESSES = ("p", "q")
TASKS = [(id, index) for id in IDS for index in range(3)]


def by_subtopology(tasks: list[tuple[str, int]]) -> dict[str, frozenset[int]]:
    return {id: frozenset(index for each, index in tasks if each == id) for id in sorted({id for id, _ in tasks})}


def some_roles(made: Random) -> tuple[dict[str, frozenset[int]], ...]:
    """Active, standby and warm-up tasks: no task has two roles."""
    roles: tuple[list[tuple[str, int]], ...] = ([], [], [])
    for task in TASKS:
        role = made.choice((0, 0, 1, 2, None, None))
        if role is not None:
            roles[role].append(task)
    return tuple(map(by_subtopology, roles))


def some_tasks(made: Random) -> TasksTuple:
    return TasksTuple(*some_roles(made))


def some_tasks_with_epochs(made: Random) -> TasksTupleWithEpochs:
    active, standby, warmup = some_roles(made)
    epochs = {id: {index: made.randrange(1, 6) for index in sorted(indexes)} for id, indexes in active.items()}
    return TasksTupleWithEpochs(epochs, standby, warmup)


def some_member(made: Random) -> StreamsGroupMember:
    return StreamsGroupMember(
        member_id=made.choice(("m", "é", "a longer one")),
        member_epoch=made.randrange(1, 6),
        previous_member_epoch=made.randrange(6),
        state=made.choice([*StreamsMemberState]),
        instance_id=made.choice((None, "i")),
        rack_id=made.choice((None, "r")),
        client_id="c",
        client_host="/h",
        rebalance_timeout_ms=5,
        topology_epoch=6,
        process_id=made.choice(PROCESSES),
        user_endpoint=made.choice((None, UserEndpoint("host", 65_535))),
        client_tags=made.choice(({}, {"z": "1", "a": "2"})),
        assigned_tasks=some_tasks_with_epochs(made),
        tasks_pending_revocation=made.choice((TasksTupleWithEpochs(), some_tasks_with_epochs(made))),
    )


def some_processes(made: Random, member: StreamsGroupMember) -> TaskProcessIds:
    processes = TaskProcessIds()
    for _ in range(made.randrange(3)):
        processes.add(some_tasks_with_epochs(made), made.choice((*PROCESSES, "other")))
    if made.random() < 0.9:
        processes.add(member.assigned_tasks, member.process_id)
        processes.add(member.tasks_pending_revocation, member.process_id)
    return processes


def shown_tasks(tasks: TasksTuple) -> dict[str, Any]:
    return {
        role: {id: sorted(indexes) for id, indexes in getattr(tasks, role).items()}
        for role in ("active", "standby", "warmup")
    }


def shown_with_epochs(tasks: TasksTupleWithEpochs) -> dict[str, Any]:
    active = {id: {str(index): epoch for index, epoch in epochs.items()} for id, epochs in tasks.active.items()}
    return {**shown_tasks(tasks.without_epochs()), "active": active}


def shown_member(member: StreamsGroupMember) -> dict[str, Any]:
    return {
        "id": member.member_id,
        "epoch": member.member_epoch,
        "previous": member.previous_member_epoch,
        "state": member.state.name,
        "process": member.process_id,
        "instance": member.instance_id,
        "rack": member.rack_id,
        "tags": dict(member.client_tags),
        "endpoint": None if member.user_endpoint is None else list(member.user_endpoint),
        "assigned": shown_with_epochs(member.assigned_tasks),
        "pending": shown_with_epochs(member.tasks_pending_revocation),
    }


def shown_processes(processes: TaskProcessIds) -> dict[str, Any]:
    def shown(of: Mapping[str, Any]) -> dict[str, list[str]]:
        return {key: ids for key, ids in of.items() if ids}

    named = {f"{id}_{index}": (id, index) for id, index in TASKS}
    active = {key: [process] for key, task in named.items() if (process := processes.active(task)) is not None}
    standby = {key: sorted(processes.standby(task)) for key, task in named.items()}
    warmup = {key: sorted(processes.warmup(task)) for key, task in named.items()}
    return {"active": active, "standby": shown(standby), "warmup": shown(warmup)}


class RandomTopology:
    """A topology of up to twelve subtopologies over a few topics, of which some exist."""

    def __init__(self, made: Random) -> None:
        self._made = made
        self.topics = {name: made.choice((1, 2, 2, 3)) for name in "abcd" if made.random() < 0.95}
        self._repartition = [f"r{number}" for number in range(made.randrange(4))]
        count = made.choice((1, 2, 3, 12))
        self.subtopologies = [self._subtopology(str(number)) for number in range(count)]
        for name in (*self._repartition, "l0", "l1"):
            if made.random() < 0.2:
                self.topics[name] = made.choice((1, 2, 3))

    def _some(self, names: Any, most: int) -> list[str]:
        return self._made.sample(list(names), min(len(names), self._made.randrange(most + 1)))

    def _info(self, name: str, partitions: int) -> StreamsGroupHeartbeatRequest.TopicInfo:
        pair = StreamsGroupHeartbeatRequest.KeyValue
        configs = [pair(key="retention.ms", value="1"), pair(key="cleanup.policy", value="delete")]
        return StreamsGroupHeartbeatRequest.TopicInfo(
            name=name,
            partitions=partitions,
            replication_factor=self._made.choice((0, 0, 2)),
            topic_configs=self._made.choice(((), configs)),
        )

    def _subtopology(self, id: str) -> StreamsGroupHeartbeatRequest.Subtopology:
        made = self._made
        sources, repartition = self._some("abcd", 3), self._some(self._repartition, 2)
        group = StreamsGroupHeartbeatRequest.CopartitionGroup(
            source_topics=[index for index in range(len(sources)) if made.random() < 0.5],
            repartition_source_topics=[index for index in range(len(repartition)) if made.random() < 0.7],
        )
        return StreamsGroupHeartbeatRequest.Subtopology(
            subtopology_id=id,
            source_topics=sources,
            repartition_sink_topics=self._some(self._repartition, 3),
            repartition_source_topics=[self._info(name, made.choice((0, 0, 0, 2, 3))) for name in repartition],
            state_changelog_topics=[self._info(name, 0) for name in self._some([f"l{id}", "l0"], 1)],
            copartition_groups=[group] if made.random() < 0.5 else [],
        )

    def heartbeat(self) -> StreamsGroupHeartbeatRequest:
        topology = StreamsGroupHeartbeatRequest.Topology(epoch=3, subtopologies=self.subtopologies)
        return StreamsGroupHeartbeatRequest(group_id="g", member_id="m", topology=topology)
