"""A replica that only observes, and what it asks besides: who votes, and what the cluster is called. Pure, as the replica is.

Rules. It is anonymous (-1), unless an id is given; that one is taken only after the leader has said that nobody has it: a fetch in a voter's
name would count as the voter's word that it has the records. It keeps nothing but the last batch of what it has read, and the last snapshot.
Before version 17 of Fetch, an answer does not say where the leader is: there a leader that cannot be placed counts as none, and who gives
records is he (KIP-595, KIP-853).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.messages import PARTITION, TOPIC, sole_response_partition
from kafkadouble.server.raft.quorum_state import MemoryQuorumStateStore
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.request_manager import OutboundRequest, RaftPeer, RequestFailure
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.service import FetchSnapshotService
from kafkadouble.server.raft.voters import VoterEndpoint, VoterSet

from .quorum import Quorum
from .view import View

ANONYMOUS = -1
CONTROLLERS = 2
"""The kind of endpoints that DescribeCluster is asked for; a controller knows no other (KIP-919)."""


class Source(NamedTuple):
    """A leader, in which epoch, and where he was reached."""

    leader_id: int
    epoch: int
    at: RaftPeer


Heard = Callable[["Observer", Any], None]


class Observer:
    """What `Peers` drives. `moved` is called whenever an answer, or the lack of one, may have changed something."""

    def __init__(
        self,
        bootstrap: Sequence[VoterEndpoint],
        now: int,
        random: Random,
        *,
        replica_id: int = ANONYMOUS,
        settings: QuorumSettings | None = None,
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        self.view, self.quorum = View(), Quorum()
        self.refusal = ""  # why it does not go on
        self._wanted_id, self._random, self._moved = replica_id, random, moved
        self._store = MemorySnapshotStore()
        self.replica = KafkaRaftClient(
            settings or QuorumSettings(),
            ReplicaKey(ANONYMOUS),
            RaftLog(PartitionLog(TOPIC, PARTITION), VoterSet(), self._store),
            MemoryQuorumStateStore(),
            random,
            self.view,
            cluster_id=None,
            bootstrap=bootstrap,
            can_vote=False,
            snapshots=FetchSnapshotService(self._store),
            now=now,
        )
        self._under_way: dict[int, OutboundRequest] = {}
        self._source: Source | None = None  # who gave records last
        self._asked: Source | None = None  # who was asked the questions
        self._next = -1  # tokens of our own are negative
        self._committed: int | None = None  # as the source says

    @property
    def is_caught_up(self) -> bool:
        """Whether everything was read that the leader calls committed, and he has said what he was asked."""
        if self._committed is None or self._asked != self._source or any(token < 0 for token in self._under_way):
            return False
        return self._is_current and self.view.end.offset >= self._committed

    @property
    def _is_current(self) -> bool:
        """Whether who gave records last still leads, as far as is known."""
        state, source = self.replica.state, self._source
        return isinstance(state, FollowerState) and source is not None and (state.leader_id, state.epoch) == source[:2]

    @property
    def failure(self) -> str:
        """Why it cannot go on; empty while it can."""
        return self.refusal or str(self.replica.failure or "")

    def take_outgoing(self) -> list[OutboundRequest]:
        """What the replica wants to know, and before that what we do."""
        sends = [*self._questions(), *self.replica.take_outgoing()]
        self._under_way |= {send.token: send for send in sends}
        return [] if self.failure else sends

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """What became of one of these."""
        send = self._under_way.pop(token, None)
        if token < 0:
            self._hear(send, response)
        else:
            if isinstance(response, FetchResponse) and send is not None:
                self._placed(send, response)
            self.replica.answered(token, response, now)
            if isinstance(response, FetchResponse) and send is not None:
                self._note_source(send, response)
            self._forget(now)
        self._moved()

    def tick(self, now: int) -> None:
        self.replica.tick(now)

    def next_deadline(self) -> int | None:
        return self.replica.next_deadline()

    def _questions(self) -> list[OutboundRequest]:
        """Those for a leader who has not been asked yet: once he gives records, and where he does."""
        source = self._source
        if source is None or source == self._asked or not self._is_current:
            return []
        self._asked = source
        of = DescribeQuorumRequest
        topic = of.TopicData(topic_name=TOPIC, partitions=[of.PartitionData(partition_index=PARTITION)])
        return [
            self._question(source.at, of(topics=[topic]), version=2, lowest=0),
            self._question(source.at, DescribeClusterRequest(endpoint_type=CONTROLLERS), version=1, lowest=1),
        ]

    def _question(self, peer: RaftPeer, body: Message, version: int, lowest: int) -> OutboundRequest:
        token, self._next = self._next, self._next - 1
        return OutboundRequest(token, peer, body, version, lowest)

    def _placed(self, send: OutboundRequest, response: FetchResponse) -> None:
        """Before version 17: say where the leader is, as far as that can be told."""
        partition = sole_answer_of_fetch(response)
        if partition is None or partition.current_leader is None:
            return
        leader = partition.current_leader
        if leader.leader_id < 0 or any(each.node_id == leader.leader_id for each in response.node_endpoints):
            return
        if partition.error_code == error_codes.NONE:
            host, port = send.to.endpoint
            response.node_endpoints = [FetchResponse.NodeEndpoint(node_id=leader.leader_id, host=host, port=port)]
        elif self.replica.voters.endpoint(leader.leader_id, self.replica.listener_name) is None:
            leader.leader_id = -1

    def _note_source(self, send: OutboundRequest, response: FetchResponse) -> None:
        """Who gave records, and how far they are committed."""
        partition = sole_answer_of_fetch(response)
        state = self.replica.state
        if partition is None or partition.error_code or partition.current_leader is None:
            return
        told = (partition.current_leader.leader_id, partition.current_leader.leader_epoch)
        if not isinstance(state, FollowerState) or told != (state.leader_id, state.epoch):
            return
        source = Source(*told, send.to)
        if source != self._source:
            self._source, self._committed = source, None
        if partition.high_watermark >= 0:
            self._committed = partition.high_watermark

    def _forget(self, now: int) -> None:
        """What has been read is of no more use, but for its end, by which the log is compared with the leader's."""
        log = self.replica.log.log
        if log.log_start_offset < self.view.last_batch <= log.high_watermark:
            log.delete_records_before(self.view.last_batch)
        for id in self._store.ids()[:-1]:
            self._store.delete(id, now)

    def _hear(self, send: OutboundRequest | None, response: Message | RequestFailure | None) -> None:
        heard = _HEARD.get(type(response))
        if heard is not None:
            heard(self, response)
        elif response in (None, RequestFailure.LOST):
            self._asked = self._source = None  # again, when he gives records again
        elif send is not None and isinstance(send.body, DescribeQuorumRequest):
            self._do_not_know_who_is_there()

    def _do_not_know_who_is_there(self) -> None:
        if self._wanted_id != ANONYMOUS:
            self.refusal = f"the leader does not say who has which id, and so {self._wanted_id} may be somebody's"

    def _hear_quorum(self, response: DescribeQuorumResponse) -> None:
        partition = sole_response_partition(response)
        if response.error_code or partition is None:
            self._do_not_know_who_is_there()
            return
        if partition.error_code:
            self._asked = self._source = None  # he leads no more
            return
        self.quorum.describe(partition)
        taken = {each.replica_id for each in [*partition.current_voters, *partition.observers]}
        if self._wanted_id == ANONYMOUS or self.replica.key.id == self._wanted_id:
            return
        if self._wanted_id in taken:
            self.refusal = f"{self._wanted_id} is the id of a node of this cluster: an observer needs one of its own"
        else:
            self.replica.key = ReplicaKey(self._wanted_id, Uuid.random(self._random.randbytes))

    def _hear_cluster(self, response: DescribeClusterResponse) -> None:
        if not response.error_code:
            self.quorum.cluster_id = response.cluster_id

    def __repr__(self) -> str:
        return f"{self.replica!r}, {self.view!r}"


def sole_answer_of_fetch(response: FetchResponse) -> FetchResponse.PartitionData | None:
    """The one partition of an answer; None where it is about something else."""
    if len(response.responses) != 1 or len(response.responses[0].partitions) != 1:
        return None
    return response.responses[0].partitions[0]


_HEARD: dict[type, Heard] = {
    DescribeQuorumResponse: Observer._hear_quorum,
    DescribeClusterResponse: Observer._hear_cluster,
}
