"""Assembles this node's replica of the metadata log: its log and snapshots, its election state, its
voters, its configs (KIP-595; Kafka's KafkaRaftManager).

Rules. Every call of the replica goes through this class, so that newly committed records reach the
node at once. A replica that cannot go on halts its node. A sole voter counts a record as soon as it
is appended, because no other voter relies on its flush; it flushes outside of the loop, except for
what must not be undone after a client has seen it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message

from ..configs.listeners import controller_listener_names
from ..log.config import LogConfig
from ..log.formats.errors import BadFile
from ..log.log import PartitionLog
from ..log.offset_and_epoch import OffsetAndEpoch
from ..log.storage import Flush
from ..metadata.internal_topics import METADATA_TOPIC
from ..raft.kafka_raft_client import KafkaRaftClient
from ..raft.raft_log import DivergedLog, RaftLog
from ..raft.replica_key import ReplicaKey
from ..raft.request_manager import OutboundRequest, RequestFailure
from ..raft.settings import NAMES, QuorumSettings
from ..raft.snapshots.service import FetchSnapshotService
from ..raft.voters import VoterEndpoint, VoterSet
from ..requests.listener_spec import of_controllers
from ..requests.waiting import Wait
from .configured_voters import bootstrap_servers, static_voters

if TYPE_CHECKING:
    from ..configs.settings import Settings
    from ..raft.messages import InboundRequest
    from .host import MetadataListener, RaftHost
    from .logs import Logs


class RaftManager:
    """The replica, and its connection to the node. `log` is the metadata log. Nothing happens
    before `start`."""

    def __init__(self, node: RaftHost, listener: MetadataListener) -> None:
        self._node, self._listener = node, listener
        settings, logs = node.settings, node.logs
        self.log = metadata_log(logs, settings, node.now)
        self.snapshots = logs.snapshots
        self.durable = _MetadataLogFlusher(node, self.log)
        listener_name = controller_listener_names(settings)[0]
        advertised = {controller.name: controller.advertised for controller in of_controllers(node.listeners)}
        endpoints = {name: VoterEndpoint(*address) for name, address in advertised.items() if address is not None}
        key = ReplicaKey(node.id, node.own_directory)
        static = static_voters(settings, key, listener_name, endpoints, self.snapshots, node.now)
        self.replica = KafkaRaftClient(
            QuorumSettings.of({name: settings[name] for name in NAMES}),
            key,
            self._raft_log(static),
            logs.elections,
            Random(node.random.getrandbits(64)),
            listener,
            cluster_id=node.cluster_id,
            endpoints=endpoints,
            listener_name=listener_name,
            bootstrap=bootstrap_servers(settings),
            can_vote="controller" in node.roles,
            snapshots=FetchSnapshotService(self.snapshots, _response_max_bytes(settings)),
            now=node.now,
        )
        self.durable.replica = self.replica

    def _raft_log(self, static: VoterSet) -> RaftLog:
        """Loads the metadata log. BadFile for a log that this node cannot have written: it must not
        vote with it."""
        try:
            log = RaftLog(self.log, static, self.snapshots, self.durable)
        except DivergedLog as problem:
            raise BadFile(str(problem), file=METADATA_TOPIC) from problem
        epoch = self._node.logs.elections.load().epoch
        if 0 < epoch < log.last_epoch:
            text = f"the log ends in epoch {log.last_epoch}, and the last one that this node knows is {epoch}"
            raise BadFile(text, file=METADATA_TOPIC)
        if len(self.snapshots.ids()) > 1:
            from ..raft.snapshots.cleaner import forget_old  # most nodes have one snapshot at most

            forget_old(log, self.snapshots, self._node.now)
        if not log.end_offset:
            list(self._node.logs.bootstrap)  # a leader that cannot read it must not start
        return log

    @property
    def needs_peers(self) -> bool:
        """Whether there are other nodes to send to, now or later."""
        return bool(self.replica.endpoints) or not self.is_alone

    @property
    def is_alone(self) -> bool:
        """Whether this node is the only voter."""
        return self.replica.voters.is_only(self.replica.key)

    def start(self) -> None:
        """Takes part in the quorum. A sole voter is the leader when this returns."""
        self.tick(self._node.now)

    def handle(self, request: InboundRequest) -> Message | Wait[Message]:
        """Handles any request of the quorum."""
        response = self.replica.handle(request, self._node.now)
        self._after()
        return response

    def append(self, values: Sequence[bytes], *, flush: bool) -> OffsetAndEpoch:
        """Appends records as one batch; with `flush` they count only after a flush. NotLeader,
        AppendRefused."""
        self.durable.at_once = flush
        try:
            return self.replica.append(values, self._node.now)
        finally:
            self.durable.at_once = False
            self._check()

    def retire(self, until: int) -> None:
        """Stops cleanly: until that time (ms), a leader tells the other voters which of them should
        follow it."""
        self.replica.shutdown(self._node.now, max(0, until - self._node.now))
        self._after()

    @property
    def is_retired(self) -> bool:
        """Whether every voter was notified."""
        return self.replica.is_stopped

    def take_outgoing(self) -> list[OutboundRequest]:
        """The requests to be sent to other nodes."""
        return self.replica.take_outgoing()

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """Passes the response of a request to the replica."""
        self._node.advance(now)
        self.replica.answered(token, response, now)
        self._after()
        self._node.waiting.run(now)

    def tick(self, now: int) -> None:
        """Passes the time to the replica."""
        self._node.advance(now)
        self.replica.tick(now)
        self._after()
        self._node.waiting.run(now)

    def next_deadline(self) -> int | None:
        return self.replica.next_deadline()

    def _after(self) -> None:
        self._check()
        self._listener.publish_committed()

    def _check(self) -> None:
        failure = self.replica.failure
        if failure is not None and self._node.halted is None and not self._node.logs.failures:
            self._node.halted = f"the quorum's replica cannot go on: {failure}"

    def __repr__(self) -> str:
        return repr(self.replica)


class _MetadataLogFlusher:
    """Flushes the metadata log for the replica."""

    def __init__(self, node: RaftHost, log: PartitionLog) -> None:
        self._node, self.log = node, log
        self.replica: KafkaRaftClient | None = None  # set by RaftManager
        self.at_once = False

    def unflushed(self) -> Flush | None:
        """The flush that must come before the appended records count; None when it can be done
        later, outside of the loop."""
        replica = self.replica
        others = replica is None or not replica.voters.is_only(replica.key)
        if others or self.at_once or self._node.settings.int("log.flush.interval.messages") == 1:
            return self.log.unflushed()
        self._node.flushing.want(self)
        return None

    def flushed(self, offset: int) -> None:
        """The flush of everything below `offset` was done."""
        self.log.flushed(offset)

    def __repr__(self) -> str:
        return "the metadata log"


def metadata_log(logs: Logs, settings: Settings, now: int) -> PartitionLog:
    """The metadata log, which rolls by its own configs. Only a snapshot deletes records of it."""
    size = settings["internal.metadata.log.segment.bytes"] or settings["metadata.log.segment.bytes"]
    return logs.metadata(LogConfig({"segment.bytes": size, "segment.ms": settings["metadata.log.segment.ms"]}), now)


RESPONSE_MAX_BYTES = "replica.fetch.response.max.bytes"


def _response_max_bytes(settings: Settings) -> int | None:
    """The bound on a FetchSnapshot response besides its MaxBytes: as in KIP-630 when the config was
    given, as in Kafka not by its default. At least one byte, or a replica would fetch forever."""
    return max(1, settings.int(RESPONSE_MAX_BYTES)) if RESPONSE_MAX_BYTES in settings.given else None
