"""A simulated client with the classic protocol in the same group: it gives up everything before it
joins, and assigns the partitions if it leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import pack
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.server.coordinator.coordinator_lookup import GROUP
from kafkadouble.server.groups.consumer_protocol import assignment_of

from ...world import Broken
from ..shape import TOPIC
from ..transactions.steps import Asked, SteppedClient, Steps
from .modern_member import GOES, NAME, WAITS

if TYPE_CHECKING:
    from .consumer_cluster import ConsumerGroupCluster

JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION, LEAVE_VERSION = 9, 5, 4, 5
SESSION_MS, REBALANCE_TIMEOUT_MS = 6000, 8000
PROTOCOL, TYPE = "range", "consumer"

REJOINS = {
    codes.REBALANCE_IN_PROGRESS,
    codes.ILLEGAL_GENERATION,
    codes.UNKNOWN_MEMBER_ID,
    codes.MEMBER_ID_REQUIRED,
}


class ClassicGroupMember(SteppedClient["ConsumerGroupCluster"]):
    """`using` are the partitions that it has in use; `epoch` is its generation. One that `stays`
    keeps the group from being empty, and so from being another group."""

    def __init__(self, cluster: ConsumerGroupCluster, id: int, name: str, *, stays: bool) -> None:
        self.name, self.member_id, self.epoch = name, "", -1
        self._stays = stays
        self.using = set[int]()
        self._is_joined = False
        super().__init__(cluster, id)

    @property
    def owner(self) -> str:
        return self.member_id

    def steps(self) -> Steps:
        while True:
            if not self._is_joined:
                yield from self._join()
            else:
                yield from self._heartbeat()
                yield self.random.randint(60, 400)
            if not self._stays and not self.cluster.is_ending and self.random.random() < GOES:
                yield from self._leave()
                return

    def _ask(self, body: Any, version: int) -> Steps:
        """Returns the answer, or None if there was none or an error, after which it joins again."""
        answer = yield Asked((yield from self.coordinator(GROUP, NAME)), body, version)
        if answer is None or answer.error_code in WAITS:
            self.forget_coordinator(GROUP, NAME)
            yield from self.pause()
            return None
        if not answer.error_code:
            return answer
        if answer.error_code not in REJOINS:
            raise Broken(f"{self!r} is answered {codes.name(answer.error_code)}")
        self._is_joined, self.using = False, set()
        if answer.error_code == codes.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif answer.error_code == codes.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        yield from self.pause()
        return None

    def _join(self) -> Steps:
        self.using = set()
        of = JoinGroupRequest
        data = pack(">h", 0) + ConsumerProtocolSubscription(topics=[TOPIC]).encode(0)
        body = of(
            group_id=NAME,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            protocol_type=TYPE,
            protocols=[of.JoinGroupRequestProtocol(name=PROTOCOL, metadata=data)],
        )
        answer = yield from self._ask(body, JOIN_VERSION)
        if answer is not None:
            self.member_id, self.epoch = answer.member_id, answer.generation_id
            leads = answer.leader == self.member_id
            yield from self._sync(self._shares([member.member_id for member in answer.members]) if leads else {})

    def _shares(self, members: Sequence[str]) -> Mapping[str, bytes]:
        """Assigns the partitions to the members in turn."""
        of = ConsumerProtocolAssignment
        shares = {}
        for number, member_id in enumerate(sorted(members)):
            partitions = [*self.cluster.partitions][number :: len(members)]
            topics = [of.TopicPartition(topic=TOPIC, partitions=partitions)] if partitions else []
            shares[member_id] = pack(">h", 0) + of(assigned_partitions=topics).encode(0)
        return shares

    def _sync(self, shares: Mapping[str, bytes]) -> Steps:
        of = SyncGroupRequest
        body = of(
            group_id=NAME,
            generation_id=self.epoch,
            member_id=self.member_id,
            protocol_type=TYPE,
            protocol_name=PROTOCOL,
            assignments=[of.SyncGroupRequestAssignment(member_id=id, assignment=share) for id, share in shares.items()],
        )
        answer = yield from self._ask(body, SYNC_VERSION)
        if answer is not None:
            data = bytes(answer.assignment)
            topics = assignment_of(data).assigned_partitions if data else ()
            self.using = {index for topic in topics for index in topic.partitions}
            self._is_joined = True
            self.cluster.given(self, self.epoch, self.using)

    def _heartbeat(self) -> Steps:
        body = HeartbeatRequest(group_id=NAME, generation_id=self.epoch, member_id=self.member_id)
        yield from self._ask(body, HEARTBEAT_VERSION)

    def _leave(self) -> Steps:
        """It stops, with or without LeaveGroup; another one comes in its place."""
        self.world.note("{} goes", self.name)
        self.using = set()
        if self.member_id and self.random.random() < 0.7:
            identity = LeaveGroupRequest.MemberIdentity(member_id=self.member_id)
            body = LeaveGroupRequest(group_id=NAME, members=[identity])
            yield Asked((yield from self.coordinator(GROUP, NAME)), body, LEAVE_VERSION)
        self.is_over = True
        self.cluster.replace(self)

    def __repr__(self) -> str:
        return f"classic member {self.member_id or self.name} in generation {self.epoch} with {sorted(self.using)}"
