"""Random joins, leaves, heartbeats, configurations and fail-overs of one streams group: no task is
active twice, and the group settles. A failure prints the seed."""

from __future__ import annotations

from random import Random

import pytest

from tests.server.groups.bench import Bench

from .streams_client import AWAY, StreamsClient, alter_group, settle, streams_group_of

PARTITIONS = 5
TASKS = {(id, index) for id in ("0", "1") for index in range(PARTITIONS)}


class Schedule:
    """One random life of a group of up to five members in three processes."""

    def __init__(self, seed: int) -> None:
        self.made = Random(seed)
        self.bench = Bench()
        self.bench.create_topic("lines", PARTITIONS)
        self.clients: list[StreamsClient] = []
        self._number = 0

    def step(self) -> None:
        action = self.made.choice(
            (self._join, self._join, self._leave, self._fail_over, self._alter, self._forget, *[self._beat] * 14)
        )
        action()
        self.bench.advance(self.made.choice((0, 100, 1000)))
        self.check()

    def _join(self) -> None:
        if len(self.clients) >= 5:
            return
        self._number += 1
        away = [name for name in ("i", "j") if name not in {client.instance for client in self.clients}]
        instance = self.made.choice((None, None, *away))
        # A static member comes back in its process: it has the files there.
        process = self.made.choice("pqr") if instance is None else {"i": "p", "j": "q"}[instance]
        client = StreamsClient(self.bench, f"m{self._number}", process=process, instance=instance)
        client.beat()
        self.clients.append(client)

    def _leave(self) -> None:
        if self.clients:
            client = self.clients.pop(self.made.randrange(len(self.clients)))
            client.leave(AWAY if client.instance and self.made.random() < 0.7 else -1)

    def _forget(self) -> None:
        """A member ends without a word; its session ends later."""
        if self.clients and self.made.random() < 0.3:
            self.clients.pop(self.made.randrange(len(self.clients)))

    def _fail_over(self) -> None:
        if self.made.random() < 0.3:
            self.bench.fail_over()

    def _alter(self) -> None:
        alter_group(self.bench, "streams.num.standby.replicas", self.made.choice("012"))

    def _beat(self) -> None:
        if self.clients:
            self.made.choice(self.clients).beat()

    def check(self) -> None:
        """No task is active in two members that the group has, nor twice in one process."""
        if "g" not in self.bench.shard().groups:
            return
        active: dict[tuple[str, int], str] = {}
        copies: set[tuple[str, str, int]] = set()
        for member in streams_group_of(self.bench).members.values():
            for tasks in (member.assigned_tasks, member.tasks_pending_revocation):
                for id, epochs in tasks.active.items():
                    for index in epochs:
                        assert active.setdefault((id, index), member.member_id) == member.member_id
            for id, partitions in member.assigned_tasks.standby.items():
                for index in partitions:
                    assert (member.process_id, id, index) not in copies
                    copies.add((member.process_id, id, index))

    def end(self) -> None:
        """Those that are still there share all tasks."""
        for _ in range(3):
            self.bench.advance(20_000)
            for client in self.clients:
                client.beat()
        if not self.clients:
            self._join()
        settle(self.bench, self.clients, rounds=30)
        owned = [task for client in self.clients for task in client.owned()]
        assert sorted(owned) == sorted(TASKS)
        assert streams_group_of(self.bench).is_stable


@pytest.mark.parametrize("seed", range(20))
def test_no_task_is_active_twice_and_the_group_settles(seed: int) -> None:
    schedule = Schedule(seed)
    for _ in range(120):
        schedule.step()
    schedule.end()
