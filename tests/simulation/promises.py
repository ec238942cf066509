"""The promises of the quorum, checked from outside after every event, on the node that it touched.

- The epoch of a node never falls, not over a restart either.
- One node at most leads in an epoch.
- A node votes for one candidate in an epoch, whatever happens.
- Votes and epochs are on disk before any other node learns of them.
- The high watermark never falls while a node runs.
- Only a leader moves the quorum's high watermark.
- Committed records are on the disks of a majority of voters.
- Committed records are the same on every node, byte for byte.
- A new leader has every record that was ever committed.
- A listener receives committed records in order, once, and unchanged.
- An acknowledged record was committed, and stays so.
- The state at an offset is the same on every node.
- Logs match (`matching`).
- Snapshots stand for what was committed (`kept`).
- One voter changes at a time.
- No node gives up because of a contradiction.

The checks know more than any node could: everything that was ever committed, and what a loss of
power would leave on each disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.prospective_state import ProspectiveState
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.voters import VoterSet
from kafkadouble.wire.batch import iter_batches, read_header

from .committed import Committed
from .exchange import Request
from .kept import Kept
from .matching import Matching
from .state import KEYS, number_of
from .state_listener import Delivered
from .world import Broken

if TYPE_CHECKING:
    from .cluster import Cluster
    from .node import Node
    from .process import Process


class Seen:
    """The state of one node at the last check."""

    def __init__(self) -> None:
        self.epoch = 0  # since its disk was new
        self.state: Any = None
        self.high_watermark = 0  # of this run
        self.voters_offset = -1  # the offset of the voters that a leader follows, in its log
        self.voted: Any = None
        self.matched = 0  # the log was checked up to here
        self.kept = Kept()


class Promises:
    """All promises, for one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.committed = Committed(cluster.static)
        self.matching = Matching()
        self.acknowledged: set[int] = set()  # numbers of records
        self.taken = 0  # snapshots that came from another node
        self.leaders: dict[int, ReplicaKey] = {}  # by epoch
        self.votes: dict[tuple[ReplicaKey, int], int] = {}  # (voter, epoch) -> the candidate
        self.elections = 0
        self._seen: dict[ReplicaKey, Seen] = {}

    def forget(self, key: ReplicaKey) -> None:
        """This replica lost its disk, and comes back under the same name."""
        self._seen.pop(key, None)
        self.votes = {vote: candidate for vote, candidate in self.votes.items() if vote[0] != key}

    def started(self, node: Node) -> None:
        """A new run has begun: the high watermark is learnt again."""
        seen = self._seen_of(node)
        seen.high_watermark, seen.state, seen.voted, seen.kept = 0, None, None, Kept()

    def dying(self, node: Node) -> None:
        """The process ends in the middle of a step."""
        if node.replica is not None:
            seen = self._seen_of(node)
            self._check_commit(node, node.replica, seen, _led(node.replica, seen))

    def stepped(self, node: Node) -> None:
        """A step of this node has ended. Raises Broken if it broke a promise."""
        process, seen = node.process, self._seen_of(node)
        if process is None:
            return
        replica = process.replica
        if replica.failure is not None and node.disk.failed is not None:
            self.dying(node)
            return
        if replica.failure is not None:
            raise Broken(f"node {node.id} gives up: {replica.failure}")
        self._check_epoch(node, replica, seen)
        led = _led(replica, seen)
        if replica.state is not seen.state:
            self._check_state(node, replica)
            seen.state = replica.state
        self._check_vote(node, replica, seen)
        self._check_commit(node, replica, seen, led)
        if isinstance(replica.state, LeaderState):
            self._check_voters(node, replica, replica.state, seen)
        for delivered in process.listener.take():
            self._check_delivered(node, delivered)
        self._check_acknowledged(node, process)
        seen.matched = self.matching.look(f"node {node.id}", replica.log, seen.matched)
        self.taken += seen.kept.look(node, process, self.committed)

    def _check_delivered(self, node: Node, delivered: Delivered) -> None:
        """A listener receives what was committed, and derives the same state from it as every
        other."""
        name = f"the listener of node {node.id} up to {delivered.end!r}"
        if delivered.batch:
            self.committed.take(delivered.batch, new=False, name=name)
        known = self.committed.states.get(delivered.end.offset)
        if (
            known is None
            or known.digest != delivered.digest
            or (delivered.state is not None and delivered.state != known)
        ):
            raise Broken(f"{name} has another state than there was")

    def _check_acknowledged(self, node: Node, process: Process) -> None:
        """A record that a leader acknowledges is committed, at the offset that the leader gave."""
        acknowledged, process.listener.acknowledged = process.listener.acknowledged, []
        for placed, values in acknowledged:
            if self.committed.epochs.get(placed.offset + 1) != placed.epoch:
                raise Broken(f"node {node.id} acknowledges {placed!r}, and that is not committed")
            self.acknowledged |= {number_of(value) for value in values}

    def check_nothing_lost(self, node: Node, process: Process) -> None:
        """Every acknowledged record is there, or a later value of its key; and the states are
        equal."""
        state, end = process.listener.state, process.listener.end
        if state != self.committed.states[end.offset]:
            raise Broken(f"node {node.id} has {state!r} at {end!r}, and it was {self.committed.states[end.offset]!r}")
        log, known = process.log, self.committed
        if log.high_watermark == log.end_offset and log.history.voters != known.voters[log.end_offset]:
            raise Broken(f"node {node.id} goes by {log.history!r}, and committed are {known.voters[log.end_offset]!r}")
        latest = {number % KEYS: number for number in sorted(map(number_of, state.values.values()))}
        lost = [number for number in self.acknowledged if latest.get(number % KEYS, -1) < number]
        if lost:
            raise Broken(f"node {node.id} has lost {lost}, which were acknowledged")

    def answers(self, node: Node, request: Request, response: Any) -> None:
        """A vote that leaves a node binds it."""
        if request.api_key != ApiKeys.VOTE or response.error_code or not response.topics:
            return
        asked, answer = (each.topics[0].partitions[0] for each in (request.body, response))
        if answer.error_code == error_codes.NONE and answer.vote_granted and not asked.pre_vote:
            self._bind(node.key, asked.replica_epoch, asked.replica_id)

    def _bind(self, voter: ReplicaKey, epoch: int, candidate: int) -> None:
        before = self.votes.setdefault((voter, epoch), candidate)
        if before != candidate:
            raise Broken(f"{voter!r} votes for {candidate} in epoch {epoch}, and has voted for {before}")

    def _seen_of(self, node: Node) -> Seen:
        return self._seen.setdefault(node.key, Seen())

    def _check_epoch(self, node: Node, replica: KafkaRaftClient, seen: Seen) -> None:
        if replica.epoch < seen.epoch:
            raise Broken(f"node {node.id} is in epoch {replica.epoch}, and was in {seen.epoch}")
        seen.epoch = replica.epoch

    def _check_vote(self, node: Node, replica: KafkaRaftClient, seen: Seen) -> None:
        """Checks also its own vote for itself, and that the vote survives a loss of power."""
        state = replica.state
        vote = (state.epoch, state.voted, isinstance(state, LeaderState))
        if vote == seen.voted:
            return
        seen.voted = vote
        kept = node.durable.election()
        if state.voted is not None:
            self._bind(node.key, state.epoch, state.voted.id)
            if kept.epoch != state.epoch or kept.voted is None or kept.voted.id != state.voted.id:
                raise Broken(f"node {node.id} has voted for {state.voted!r} in {state.epoch}, and keeps {kept!r}")
        if isinstance(state, LeaderState) and kept.leader_id != node.id:
            raise Broken(f"node {node.id} leads, and keeps {kept!r}")
        if not isinstance(state, ProspectiveState) and kept.epoch < state.epoch > replica.log.last_epoch:
            raise Broken(f"node {node.id} is in epoch {state.epoch}, and keeps {kept!r}")

    def _check_state(self, node: Node, replica: KafkaRaftClient) -> None:
        state = replica.state
        if not isinstance(state, LeaderState):
            return
        first = self.leaders.setdefault(state.epoch, node.key)
        if first != node.key:
            raise Broken(f"{node.key!r} leads in epoch {state.epoch}, and so does {first!r}")
        self.elections += 1
        self._check_complete(node, replica)

    def _check_complete(self, node: Node, replica: KafkaRaftClient) -> None:
        log, end = replica.log, self.committed.end
        if log.end_offset < end:
            raise Broken(f"node {node.id} leads and ends at {log.end_offset}, where {end} was committed")
        self._compare(node, replica, end)

    def compare(self, node: Node, replica: KafkaRaftClient) -> None:
        """Compares everything that the node takes for committed, from the beginning of its log."""
        self._compare(node, replica, replica.log.high_watermark)

    def _compare(self, node: Node, replica: KafkaRaftClient, end: int) -> None:
        offset = replica.log.start_offset
        while offset < end:
            found = replica.log.read(offset, 1 << 20)
            for position, header in iter_batches(found.records):
                known = self.committed.batches.get(header.base_offset)
                if header.base_offset < end and known != found.records[position : position + header.size]:
                    raise Broken(f"node {node.id} has another batch at offset {header.base_offset} than was committed")
            offset = found.next_offset

    def _check_commit(self, node: Node, replica: KafkaRaftClient, seen: Seen, leader: LeaderState | None) -> None:
        """`leader`: the state in which it may have committed, and perhaps resigned in the same
        step."""
        offset, now = seen.high_watermark, replica.log.high_watermark
        if now < offset:
            raise Broken(f"the high watermark of node {node.id} falls from {offset} to {now}")
        if offset < replica.log.start_offset:  # a snapshot stands for it
            offset = min(replica.log.start_offset, now)
        leads = leader is not None and leader.high_watermark is not None
        fresh: dict[int, bytes] = {}
        while offset < now:
            found = replica.log.log.read(offset, 1 << 20, now)
            if not found.records:
                raise Broken(f"node {node.id} has committed up to {now}, and no records at {offset}")
            fresh |= self.committed.take(bytes(found.records), new=leads, name=f"node {node.id}")
            offset = found.next_offset
        if offset != now:
            raise Broken(f"the high watermark {now} of node {node.id} lies within a batch")
        seen.high_watermark = now
        if fresh and leader is not None:
            self._check_backed(node, leader, replica.voters, fresh)

    def _check_voters(self, node: Node, replica: KafkaRaftClient, leader: LeaderState, seen: Seen) -> None:
        """The uncommitted voters differ from the committed ones in one voter; a leader that is no
        voter resigns when the change is committed."""
        history = replica.log.history
        if history.voters_offset != seen.voters_offset:
            seen.voters_offset = history.voters_offset
            check_one_changes(history.voters_at(self.committed.end), history.voters)
        if not replica.is_voter and leader.high_watermark is not None and history.voters_offset < leader.high_watermark:
            raise Broken(f"node {node.id} leads on, and is known to be none of {history.voters!r}")

    def _check_backed(self, node: Node, leader: LeaderState, voters: VoterSet, fresh: dict[int, bytes]) -> None:
        """Newly committed records are on the disks of a majority of voters, and survive a loss of
        power."""
        if read_header(fresh[max(fresh)]).partition_leader_epoch != leader.epoch:
            raise Broken(f"node {node.id} leads in epoch {leader.epoch}, and commits by counting what is older")
        having = [voter.id for voter in voters if self._has(voter.key, fresh)]
        if len(having) * 2 <= len(voters):
            raise Broken(
                f"node {node.id} commits {min(fresh)} to {self.committed.end} in epoch {leader.epoch}, and only "
                f"{having} of {voters!r} would still have it without power"
            )

    def _has(self, key: ReplicaKey, batches: dict[int, bytes]) -> bool:
        """Whether the replica has the batches, or had them on a disk that was lost as a whole: its
        report was true then."""
        disks = [node.durable for node in self.cluster.nodes.values() if node.key.fits(key)]
        disks += [disk for lost, disk in self.cluster.lost_disks if lost.fits(key)]
        return any(disk.has(batches) for disk in disks)


def _led(replica: KafkaRaftClient, seen: Seen) -> LeaderState | None:
    """The leader state in which it may have committed in this step, although it leads no more, or
    did not lead before."""
    return next((state for state in (replica.state, seen.state) if isinstance(state, LeaderState)), None)


def check_one_changes(before: VoterSet, after: VoterSet) -> None:
    """Checks two successive sets of voters: every majority of one overlaps every majority of the
    other."""
    ours, theirs = ({voter.id: voter.key for voter in each} for each in (before, after))
    same = [id for id in ours.keys() & theirs.keys() if ours[id] == theirs[id] or not any(ours[id].directory_id)]
    if len(ours) + len(theirs) - 2 * len(same) > 1:
        raise Broken(f"{before!r} are followed by {after!r}")
