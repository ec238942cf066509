"""A replica that only observes, and its further requests: the voters and the cluster id. It has no
I/O, as the replica has none.

The observer is anonymous (-1) unless an id is given. The id is used only after the leader has
listed the ids of the quorum and this one is free: a fetch under a voter's id would count as a fetch
of the voter. The observer keeps only the last batch and the last snapshot that it has read.

Before version 17, a Fetch response has no endpoint of the leader. Then the node that returned
records is the leader, and a leader without a known endpoint counts as none (KIP-595, KIP-853).
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

from .quorum import ObservedQuorum
from .view import View

ANONYMOUS = -1
CONTROLLERS = 2
"""The endpoint type in DescribeCluster requests; controllers accept no other (KIP-919)."""


class MetadataSource(NamedTuple):
    """A leader, its epoch, and the peer at which it was reached."""

    leader_id: int
    epoch: int
    at: RaftPeer


ResponseHandler = Callable[["Observer", Any], None]


class Observer:
    """The observer, driven by `Peers`. `moved` is called after each response and each failed
    request."""

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
        self.view, self.quorum = View(), ObservedQuorum()
        # Why the observer cannot continue.
        self.refusal = ""
        self._requested_id, self._random, self._moved = replica_id, random, moved
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
        # The leader that last returned records.
        self._source: MetadataSource | None = None
        # The leader that was sent the further requests.
        self._queried: MetadataSource | None = None
        # Tokens of the observer's own requests are negative.
        self._next = -1
        # The high watermark of the source.
        self._committed: int | None = None

    @property
    def is_caught_up(self) -> bool:
        """Whether all committed records were read, and the leader has answered the further
        requests."""
        if self._committed is None or self._queried != self._source or any(token < 0 for token in self._under_way):
            return False
        return self._is_current and self.view.end.offset >= self._committed

    @property
    def _is_current(self) -> bool:
        """Whether the leader that last returned records still leads, as far as is known."""
        state, source = self.replica.state, self._source
        return isinstance(state, FollowerState) and source is not None and (state.leader_id, state.epoch) == source[:2]

    @property
    def failure(self) -> str:
        """The reason for which the observer cannot continue; empty while it can."""
        return self.refusal or str(self.replica.failure or "")

    def take_outgoing(self) -> list[OutboundRequest]:
        """The requests of the replica, after those of the observer."""
        sends = [*self._questions(), *self.replica.take_outgoing()]
        self._under_way |= {send.token: send for send in sends}
        return [] if self.failure else sends

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """Handles the response, or the failure, of a request."""
        send = self._under_way.pop(token, None)
        if token < 0:
            handler = _RESPONSE_HANDLERS.get(type(response))
            if handler is not None:
                handler(self, response)
            elif response in (None, RequestFailure.LOST):
                # Queried again after the leader's next records.
                self._queried = self._source = None
            elif send is not None and isinstance(send.body, DescribeQuorumRequest):
                self._refuse_unknown_ids()
        else:
            if isinstance(response, FetchResponse) and send is not None:
                self._placed(send, response)
            self.replica.answered(token, response, now)
            if isinstance(response, FetchResponse) and send is not None:
                self._note_source(send, response)
            # Records that were read go; the end of the log stays, for the comparison with the
            # leader's.
            log = self.replica.log.log
            if log.log_start_offset < self.view.last_batch <= log.high_watermark:
                log.delete_records_before(self.view.last_batch)
            for id in self._store.ids()[:-1]:
                self._store.delete(id, now)
        self._moved()

    def tick(self, now: int) -> None:
        self.replica.tick(now)

    def next_deadline(self) -> int | None:
        return self.replica.next_deadline()

    def _questions(self) -> list[OutboundRequest]:
        """The requests for a new leader: sent once it has returned records, to the same
        endpoint."""
        source = self._source
        if source is None or source == self._queried or not self._is_current:
            return []
        self._queried = source
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
        """Adds the leader's endpoint to a response before version 17, as far as it is known."""
        partition = sole_answer_of_fetch(response)
        if partition is None or partition.current_leader is None:
            return
        leader = partition.current_leader
        if leader.leader_id < 0 or any(endpoint.node_id == leader.leader_id for endpoint in response.node_endpoints):
            return
        if partition.error_code == error_codes.NONE:
            host, port = send.to.endpoint
            response.node_endpoints = [FetchResponse.NodeEndpoint(node_id=leader.leader_id, host=host, port=port)]
        elif self.replica.voters.endpoint(leader.leader_id, self.replica.listener_name) is None:
            leader.leader_id = -1

    def _note_source(self, send: OutboundRequest, response: FetchResponse) -> None:
        """Notes the leader that returned records, and its high watermark."""
        partition = sole_answer_of_fetch(response)
        state = self.replica.state
        if partition is None or partition.error_code or partition.current_leader is None:
            return
        leader = (partition.current_leader.leader_id, partition.current_leader.leader_epoch)
        if not isinstance(state, FollowerState) or leader != (state.leader_id, state.epoch):
            return
        source = MetadataSource(*leader, send.to)
        if source != self._source:
            self._source, self._committed = source, None
        if partition.high_watermark >= 0:
            self._committed = partition.high_watermark

    def _refuse_unknown_ids(self) -> None:
        if self._requested_id != ANONYMOUS:
            self.refusal = (
                f"the leader does not report the ids in use, so {self._requested_id} may be the id of another node"
            )

    def _on_quorum(self, response: DescribeQuorumResponse) -> None:
        partition = sole_response_partition(response)
        if response.error_code or partition is None:
            self._refuse_unknown_ids()
            return
        if partition.error_code:
            # The node is no longer the leader.
            self._queried = self._source = None
            return
        self.quorum.describe(partition)
        taken = {each.replica_id for each in [*partition.current_voters, *partition.observers]}
        if self._requested_id == ANONYMOUS or self.replica.key.id == self._requested_id:
            return
        if self._requested_id in taken:
            self.refusal = f"{self._requested_id} is the id of a node of this cluster: an observer needs one of its own"
        else:
            self.replica.key = ReplicaKey(self._requested_id, Uuid.random(self._random.randbytes))

    def _on_cluster(self, response: DescribeClusterResponse) -> None:
        if not response.error_code:
            self.quorum.cluster_id = response.cluster_id

    def __repr__(self) -> str:
        return f"{self.replica!r}, {self.view!r}"


def sole_answer_of_fetch(response: FetchResponse) -> FetchResponse.PartitionData | None:
    """The only partition of a response; None when the response has another number of partitions."""
    if len(response.responses) != 1 or len(response.responses[0].partitions) != 1:
        return None
    return response.responses[0].partitions[0]


_RESPONSE_HANDLERS: dict[type, ResponseHandler] = {
    DescribeQuorumResponse: Observer._on_quorum,
    DescribeClusterResponse: Observer._on_cluster,
}
