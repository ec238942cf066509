"""A quorum of simulated nodes, its network, a client that writes records, and its watcher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.snapshots.retention import SnapshotRetention
from kafkadouble.server.raft.snapshots.triggers import SnapshotTriggers
from kafkadouble.server.raft.voters import VoterEndpoint, VoterSet

from .exchange import OLDER, OLDER_WITH_DIRECTORIES, encoded, response_of
from .machine import CONFIGS, Durable
from .network import Network
from .node import Node, endpoint, voter_of
from .process import LISTENER
from .promises import Promises
from .state import record
from .world import Broken, Ended, World

WRITES = (3, 60, 300, 900)
"""The client's pauses between two writes (ms); one of them is drawn."""

IN_ORDER_WITHIN = 30_000
"""A quorum without faults has a leader and commits within this time (ms); it takes a few
seconds."""

WITHOUT_PRE_VOTE = 3
"""The factor by which this takes longer if some node does not know the pre-vote: a node that cannot
win disturbs the others again and again."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a cluster. Nodes that are no voters are observers, or with `dynamic` controllers
    that may become voters."""

    voters: int = 3
    observers: int = 0
    # Those of the observers that are controllers, and may become voters once `kraft.version` is 1.
    waiting: int = 0
    dynamic: bool = False  # kraft.version 1: the log has the voters
    auto_join: bool = False
    mixed: bool = False  # nodes that know older versions of the requests only
    rolls: bool = False  # log segments end early
    linger: int = 25
    election_timeout: int = 1000
    retry_backoff: int = 100
    # The bytes that a node fetches at once: one of these is drawn for each node.
    fetch_bytes: tuple[int, ...] = (1 << 20,)
    chunk_bytes: tuple[int, ...] = (1 << 20,)  # the same, of a snapshot (KIP-1219)
    # `replica.fetch.response.max.bytes`, where it applies (KIP-630).
    response_bytes: int | None = None
    triggers: SnapshotTriggers = field(default_factory=SnapshotTriggers)
    retention: SnapshotRetention = field(default_factory=SnapshotRetention)
    snapshot_batch: int = 1 << 17


class Cluster:
    """The nodes by id, voters first."""

    def __init__(self, world: World, shape: Shape) -> None:
        self.world, self.shape = world, shape
        self.network = Network(world)
        self._settings: dict[int, QuorumSettings] = {}
        self.log_config: LogConfig = CONFIGS[shape.rolls]
        self.voter_ids = tuple(range(shape.voters))
        self.observers: frozenset[int] = (
            frozenset()
            if shape.dynamic
            else frozenset(range(shape.voters, shape.voters + shape.observers - shape.waiting))
        )
        self.versions: Mapping[int, Mapping[int, int]] = self._versions() if shape.mixed else {}
        self.static = (
            VoterSet()
            if shape.dynamic
            else VoterSet.from_static(
                ",".join(f"{id}@{endpoint(id).host}:{endpoint(id).port}" for id in self.voter_ids), LISTENER
            )
        )
        self.bootstrap: Sequence[VoterEndpoint] = [endpoint(id) for id in self.voter_ids] if shape.dynamic else ()
        self.watch = Promises(self)
        self.lost_disks: list[tuple[ReplicaKey, Durable]] = []
        self.nodes: dict[int, Node] = {}
        for id in range(shape.voters + shape.observers):
            self.nodes[id] = Node(self, id, self.formatted_with(id))
        self.written = 0
        self.writes = False  # while this holds, the client writes

    def settings_of(self, id: int) -> QuorumSettings:
        """The same in every run of the node."""
        shape, random = self.shape, self.world.random
        if id not in self._settings:
            self._settings[id] = QuorumSettings(
                election_timeout_ms=shape.election_timeout,
                append_linger_ms=shape.linger,
                retry_backoff_ms=shape.retry_backoff,
                fetch_max_bytes=random.choice(shape.fetch_bytes),
                fetch_snapshot_max_bytes=random.choice(shape.chunk_bytes),
                auto_join=shape.auto_join,
            )
        return self._settings[id]

    def _versions(self) -> dict[int, dict[int, int]]:
        random, nodes = self.world.random, self.shape.voters + self.shape.observers
        older = OLDER_WITH_DIRECTORIES if self.shape.dynamic else OLDER
        return {id: {key: random.choice(known) for key, known in older.items()} for id in range(nodes)}

    def formatted_with(self, id: int) -> VoterSet | None:
        """The first voters of a dynamic quorum are written in their directories; a node that joins
        later knows no voter."""
        if not self.shape.dynamic or id not in self.voter_ids:
            return None
        return VoterSet(voter_of(each) for each in self.voter_ids)

    def start(self) -> None:
        """Starts every node, within half a second, and the client."""
        for node in self.nodes.values():
            self.world.after(self.world.random.randint(0, 500), node.start)
        self.writes = True
        self._write()

    def begin(self) -> Node:
        """Starts the cluster, and waits until it is in order; returns the leader."""
        self.start()
        self.await_agreement()
        self.await_progress(5)
        leader = self.leader
        assert leader is not None
        return leader

    def listening_at(self, at: VoterEndpoint) -> Node | None:
        return next((node for node in self.nodes.values() if node.at == at), None)

    def _write(self) -> None:
        """The client tries each node that believes it leads."""
        random = self.world.random
        leaders = [node for node in self.nodes.values() if node.leads] if self.writes else []
        if leaders:
            random.choice(leaders).append(self.values())
        self.world.after(random.choice(WRITES), self._write)

    def values(self) -> list[bytes]:
        """The client's next record: no two records are the same."""
        random, found = self.world.random, []
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            self.written += 1
            found.append(record(self.written, random.choice((0, 0, 10, 300))))
        return found

    @property
    def leader(self) -> Node | None:
        """The node that leads in the latest epoch."""
        leading = [node for node in self.nodes.values() if node.leads and node.replica is not None]
        return max(leading, key=lambda node: node.replica.epoch if node.replica else -1, default=None)

    def up(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.is_up]

    def agree(self, ids: Iterable[int] | None = None) -> bool:
        """Whether one node leads, and all the others (or these) follow in its epoch."""
        leader = self.leader
        if leader is None or leader.replica is None:
            return False
        nodes = self.up() if ids is None else [self.nodes[id] for id in ids]
        epoch = leader.replica.epoch
        return all(
            node.replica and node.replica.epoch == epoch and node.replica.leader_id == leader.id for node in nodes
        )

    def reached(self, offset: int, ids: Iterable[int] | None = None) -> bool:
        """Whether all nodes (or these) know that everything up to this offset is committed."""
        nodes = self.nodes.values() if ids is None else [self.nodes[id] for id in ids]
        return all(node.replica is not None and node.replica.log.high_watermark >= offset for node in nodes)

    def await_agreement(self, ids: Iterable[int] | None = None) -> None:
        known = None if ids is None else tuple(ids)
        self.require(lambda: self.agree(known), "no leader that all follow")

    def await_progress(self, more: int, ids: Iterable[int] | None = None) -> None:
        """Waits until all nodes (or these) have committed `more` offsets beyond the present end."""
        known, goal = None if ids is None else tuple(ids), self.watch.committed.end + more
        self.require(lambda: self.reached(goal, known), f"offset {goal} is not committed everywhere")

    def require(self, holds: Any, otherwise: str) -> None:
        """Raises Broken when the condition is not met within an ample time."""
        try:
            self.world.run_until(holds, IN_ORDER_WITHIN * (WITHOUT_PRE_VOTE if self.shape.mixed else 1))
        except Ended:
            raise Broken(f"{otherwise}: {[*self.nodes.values()]!r}") from None

    def end_faults(self) -> None:
        """Repairs the network and the disks, and starts every node."""
        self.world.note("all faults end")
        self.network.heal()
        for node in self.nodes.values():
            node.resume()
            node.die_when_writing(None)
            node.mend_disk()
            if node.replica is not None and node.replica.shutdown_until is not None:
                node.kill()
            node.start()

    def recover(self) -> None:
        """Ends all faults: the quorum must be in order again, and all nodes must have the same
        log."""
        self.writes = True
        self.end_faults()
        self.await_agreement()
        self.await_progress(10)
        self.writes = False
        leader = self.leader
        assert leader is not None
        assert leader.replica is not None
        end = leader.replica.log.end_offset
        self.require(
            lambda: self.reached(end) or self.leader is not leader, f"offset {end} is not committed everywhere"
        )
        self._compare()

    def _compare(self) -> None:
        """Compares all logs byte for byte, up to what is committed."""
        for node in self.nodes.values():
            assert node.process is not None
            self.watch.compare(node, node.process.replica)
            self.watch.check_nothing_lost(node, node.process)

    def damaged(self, api_key: int, version: int, response: bytes) -> bytes:
        """Damages an answer: fetched records may be truncated, or have a bit changed that their
        checksum covers; of a snapshot any byte may change."""
        random = self.world.random
        if api_key not in (ApiKeys.FETCH, ApiKeys.FETCH_SNAPSHOT) or random.random() >= self.network.weather.damaged:
            return response
        message: Any = response_of(api_key, version, response)
        if api_key == ApiKeys.FETCH_SNAPSHOT:
            for topic in message.topics:
                data = bytearray(topic.partitions[0].unaligned_records or b"")
                if data:
                    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
                topic.partitions[0].unaligned_records = bytes(data)
            return encoded(message, version)
        for topic in message.responses:
            for partition in topic.partitions:
                records = bytearray(partition.records or b"")
                if len(records) > 61 and random.random() < 0.5:
                    records[random.randrange(21, 61)] ^= 1 << random.randrange(8)
                else:
                    del records[random.randrange(len(records) + 1) :]
                partition.records = bytes(records)
        return encoded(message, version)
