"""A member of a streams group as a client runs it: it does at once what its coordinator says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkadouble.messages.generated.streams_group_describe import StreamsGroupDescribeRequest
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.server.groups.streams.streams_group import StreamsGroup
from tests.server.config_requests import incremental
from tests.server.groups.bench import GROUP, Bench

Topology = StreamsGroupHeartbeatRequest.Topology
Subtopology = StreamsGroupHeartbeatRequest.Subtopology
TopicInfo = StreamsGroupHeartbeatRequest.TopicInfo
TaskIds = StreamsGroupHeartbeatRequest.TaskIds

COUNTS = Topology(
    epoch=1,
    subtopologies=[
        Subtopology(subtopology_id="0", source_topics=["lines"], repartition_sink_topics=["words"]),
        Subtopology(
            subtopology_id="1",
            repartition_source_topics=[TopicInfo(name="words")],
            state_changelog_topics=[TopicInfo(name="counts")],
        ),
    ],
)
"""A word count: its second subtopology has state."""

JOIN, LEAVE, AWAY = 0, -1, -2


class StreamsClient:
    """One member. `tasks` are the tasks that it owns, by role."""

    def __init__(self, bench: Bench, member_id: str, *, process: str = "", instance: str | None = None) -> None:
        self.bench, self.member_id, self.instance = bench, member_id, instance
        self.process = process or member_id
        self.epoch = JOIN
        self.tasks: dict[str, list[TaskIds]] = {"active": [], "standby": [], "warmup": []}
        self._has_news = True
        """Whether the coordinator does not know yet what it owns."""

    def beat(self, **fields: Any) -> Any:
        """Sends a heartbeat, and takes over what the response says."""
        answer = self.send(**fields)
        if answer.error_code:
            self.epoch = JOIN
            self.tasks = {role: [] for role in self.tasks}
            self._has_news = True
            return answer
        self.epoch = answer.member_epoch
        self._has_news = answer.active_tasks is not None
        if answer.active_tasks is not None:
            self.tasks = {"active": answer.active_tasks, "standby": answer.standby_tasks, "warmup": answer.warmup_tasks}
        return answer

    def send(self, **fields: Any) -> Any:
        """Sends a heartbeat; the response changes nothing here."""
        joins = self.epoch == JOIN
        request = StreamsGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=self.member_id,
            member_epoch=self.epoch,
            instance_id=self.instance,
            rebalance_timeout_ms=60_000 if joins else -1,
            process_id=self.process if joins else None,
            topology=COUNTS if joins else None,
        )
        if joins or self._has_news:
            for role, owned in self.tasks.items():
                tasks = [TaskIds(subtopology_id=each.subtopology_id, partitions=each.partitions) for each in owned]
                setattr(request, f"{role}_tasks", [] if joins else tasks)
        for name, value in fields.items():
            setattr(request, name, value)
        return self.bench.ask(request)

    def leave(self, epoch: int = LEAVE) -> Any:
        answer = self.send(member_epoch=epoch, active_tasks=None, standby_tasks=None, warmup_tasks=None, topology=None)
        self.epoch = JOIN
        self.tasks = {role: [] for role in self.tasks}
        return answer

    def owned(self, role: str = "active") -> set[tuple[str, int]]:
        return {(each.subtopology_id, index) for each in self.tasks[role] for index in each.partitions}


def described(bench: Bench) -> Any:
    (group,) = bench.ask(StreamsGroupDescribeRequest(group_ids=[GROUP])).groups
    return group


def streams_group_of(bench: Bench) -> StreamsGroup:
    group = bench.shard().groups[GROUP]
    assert isinstance(group, StreamsGroup)
    return group


def settle(bench: Bench, clients: Sequence[StreamsClient], *, rounds: int = 12) -> None:
    """Sends heartbeats of all members until none of them learns anything."""
    for _ in range(rounds):
        bench.advance(1000)
        epochs = [client.epoch for client in clients]
        answers = [client.beat() for client in clients]
        news = [answer for answer in answers if answer.active_tasks is not None or answer.status]
        if not news and epochs == [client.epoch for client in clients]:
            return
    raise AssertionError(f"{streams_group_of(bench)!r} does not settle")


def alter_group(bench: Bench, name: str, value: str) -> None:
    """Sets a configuration of the group."""
    body = incremental((32, GROUP, {name: value}))
    assert [response.error_code for response in bench.ask(body).responses] == [0]
