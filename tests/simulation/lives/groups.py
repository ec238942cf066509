"""The offsets that groups commit: a group finds its last acknowledged offset in every later
life."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest

from ..world import Broken

if TYPE_CHECKING:
    from .cluster import Cluster

GROUPS = ("g", "h")
FIND_VERSION, COMMIT_VERSION, FETCH_VERSION = 4, 8, 5
TOPIC = "kept"


class Groups:
    """`due` are the offsets that each group may find: the last acknowledged one, and later ones."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.due: dict[str, list[int]] = {}
        self._coordinators: dict[str, int] = {}
        self._next = 0
        # One commit at a time, because two may overtake each other.
        self._under_way: set[str] = set()

    def commit(self, group: str) -> None:
        """Commits the next offset, if a coordinator is known; otherwise looks for one."""
        cluster = self._cluster
        coordinator = self._coordinators.get(group)
        if coordinator is None or group in self._under_way:
            self._find(group)
            return
        self._under_way.add(group)
        self._next += 1
        offset, of = self._next, OffsetCommitRequest
        partition = of.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        body = of(group_id=group, topics=[of.OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])])
        due, losses = self.due.setdefault(group, [-1]), cluster.losses
        due.append(offset)

        def on_answer(answer: Any) -> None:
            self._under_way.discard(group)
            code = None if answer is None else answer.topics[0].partitions[0].error_code
            if code == error_codes.NONE and losses == cluster.losses and self.due.get(group) is due:
                cluster.count["offsets committed"] += 1
                due[:] = [each for each in due if each >= offset]
            elif code != error_codes.NONE:
                self._coordinators.pop(group, None)

        cluster.ask(coordinator, body, COMMIT_VERSION, on_answer)

    def _find(self, group: str) -> None:
        cluster = self._cluster

        def on_answer(answer: Any) -> None:
            found = None if answer is None else answer.coordinators[0]
            if found is not None and found.error_code == error_codes.NONE:
                self._coordinators[group] = found.node_id

        broker = cluster.world.random.choice(cluster.shape.broker_ids)
        cluster.ask(broker, FindCoordinatorRequest(key_type=0, coordinator_keys=[group]), FIND_VERSION, on_answer)

    def check(self, *, may_lose: bool) -> None:
        """Raises Broken when a group finds an offset that cannot be its last commit."""
        for group, due in list(self.due.items()):
            found = self._found(group)
            if found not in due and not may_lose:
                raise Broken(f"group {group} has offset {found}, where {due} may be")
            self.due[group] = [found]

    def _found(self, group: str) -> int:
        """A coordinator's answer, as soon as there is one."""
        found: list[int] = []
        self._cluster.require(lambda: self._fetch(group, found), f"group {group} finds nothing")
        return found[0]

    def _fetch(self, group: str, found: list[int]) -> bool:
        """Retries until a coordinator answers."""
        coordinator = self._coordinators.get(group)
        if coordinator is None:
            self._find(group)
        elif group not in self._under_way:  # no commit may come between answer and check
            of = OffsetFetchRequest
            topic = of.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])

            def on_answer(answer: Any) -> None:
                partition = None if answer is None or answer.error_code else answer.topics[0].partitions[0]
                if partition is not None and partition.error_code == error_codes.NONE:
                    found.append(partition.committed_offset)
                else:
                    self._coordinators.pop(group, None)

            self._cluster.ask(coordinator, of(group_id=group, topics=[topic]), FETCH_VERSION, on_answer)
        self._cluster.world.run_for(50)
        return bool(found)
