"""A quorum of simulated nodes, its network, a client that writes records, and whoever looks on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.raft.raft_log import NoSnapshots
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.voters import Endpoint, VoterSet

from .exchange import OLDER, OLDER_WITH_DIRECTORIES, encoded, response_of
from .machine import CONFIGS, Durable
from .network import Network
from .node import LISTENER, Bootstrap, Node, endpoint, voter_of
from .promises import Promises
from .world import Broken, Ended, World

FETCH = 1
WRITES = (3, 60, 300, 900)
"""The client writes after one of these times (ms)."""

IN_ORDER_WITHIN = 60_000
"""A quorum without faults has a leader and commits within this time (ms); it takes a few seconds."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a cluster is made of. Nodes that are no voters are observers, or with `dynamic` controllers that may become voters."""

    voters: int = 3
    observers: int = 0
    dynamic: bool = False  # kraft.version 1: the voters stand in the log
    auto_join: bool = False
    mixed: bool = False  # nodes that know older versions of the requests only
    rolls: bool = False  # log segments end early
    linger: int = 25
    election_timeout: int = 1000
    retry_backoff: int = 100
    fetch_bytes: int = 1 << 20


class Cluster:
    """The nodes by id. Voters first."""

    def __init__(self, world: World, shape: Shape) -> None:
        self.world, self.shape = world, shape
        self.network = Network(world)
        self.settings = QuorumSettings(
            election_timeout_ms=shape.election_timeout,
            append_linger_ms=shape.linger,
            retry_backoff_ms=shape.retry_backoff,
            fetch_max_bytes=shape.fetch_bytes,
            auto_join=shape.auto_join,
        )
        self.log_config: LogConfig = CONFIGS[shape.rolls]
        self.voter_ids = tuple(range(shape.voters))
        self.observers: frozenset[int] = (
            frozenset() if shape.dynamic else frozenset(range(shape.voters, shape.voters + shape.observers))
        )
        self.versions: Mapping[int, Mapping[int, int]] = self._versions() if shape.mixed else {}
        self.static = (
            VoterSet()
            if shape.dynamic
            else VoterSet.from_static(
                ",".join(f"{id}@{endpoint(id).host}:{endpoint(id).port}" for id in self.voter_ids), LISTENER
            )
        )
        self.bootstrap: Sequence[Endpoint] = [endpoint(id) for id in self.voter_ids] if shape.dynamic else ()
        self.watch = Promises(self)
        self.lost_disks: list[tuple[ReplicaKey, Durable]] = []
        self.nodes: dict[int, Node] = {}
        for id in range(shape.voters + shape.observers):
            self.nodes[id] = Node(self, id, self.formatted_with(id))
        self.written = 0
        self.writes = False  # the client does, as long as it is so

    def _versions(self) -> dict[int, dict[int, int]]:
        random, nodes = self.world.random, self.shape.voters + self.shape.observers
        older = OLDER_WITH_DIRECTORIES if self.shape.dynamic else OLDER
        return {id: {key: random.choice(known) for key, known in older.items()} for id in range(nodes)}

    def formatted_with(self, id: int) -> NoSnapshots:
        """The first voters of a dynamic quorum are named in their directories; who comes later knows nobody."""
        if not self.shape.dynamic or id not in self.voter_ids:
            return NoSnapshots()
        return Bootstrap(VoterSet(voter_of(each) for each in self.voter_ids))

    def start(self) -> None:
        """Every node, within half a second; and the client."""
        for node in self.nodes.values():
            self.world.after(self.world.random.randint(0, 500), node.start)
        self.writes = True
        self._write()

    def listening_at(self, at: Endpoint) -> Node | None:
        found = self.nodes.get(at.port - 9000)
        return found if found is not None and at == endpoint(found.id) else None

    def _write(self) -> None:
        """The client tries whoever believes that he leads."""
        random = self.world.random
        leaders = [node for node in self.nodes.values() if node.leads] if self.writes else []
        if leaders:
            random.choice(leaders).append(self.values())
        self.world.after(random.choice(WRITES), self._write)

    def values(self) -> list[bytes]:
        """What the client writes next: no two records are the same."""
        random, found = self.world.random, []
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            self.written += 1
            found.append(b"%d " % self.written + bytes(random.choice((0, 0, 10, 300))))
        return found

    @property
    def leader(self) -> Node | None:
        """Who leads in the latest epoch."""
        leading = [node for node in self.nodes.values() if node.leads and node.replica is not None]
        return max(leading, key=lambda node: node.replica.epoch if node.replica else -1, default=None)

    def up(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.is_up]

    def agree(self, ids: Iterable[int] | None = None) -> bool:
        """Whether one leads, and all the others (or these) follow in his epoch."""
        leader = self.leader
        if leader is None or leader.replica is None:
            return False
        nodes = self.up() if ids is None else [self.nodes[id] for id in ids]
        epoch = leader.replica.epoch
        return all(
            each.replica and each.replica.epoch == epoch and each.replica.leader_id == leader.id for each in nodes
        )

    def reached(self, offset: int, ids: Iterable[int] | None = None) -> bool:
        """Whether everybody (or these) knows that everything up to there is committed."""
        nodes = self.nodes.values() if ids is None else [self.nodes[id] for id in ids]
        return all(node.replica is not None and node.replica.log.high_watermark >= offset for node in nodes)

    def await_agreement(self, ids: Iterable[int] | None = None) -> None:
        known = None if ids is None else tuple(ids)
        self.require(lambda: self.agree(known), "no leader that all follow")

    def await_progress(self, more: int, ids: Iterable[int] | None = None) -> None:
        """Until all (or these) have so many offsets more committed than anybody had."""
        known, goal = None if ids is None else tuple(ids), self.watch.committed.end + more
        self.require(lambda: self.reached(goal, known), f"offset {goal} is not committed everywhere")

    def require(self, holds: Any, otherwise: str) -> None:
        """Broken when it does not come to that in a time that is ample."""
        try:
            self.world.run_until(holds, IN_ORDER_WITHIN)
        except Ended:
            raise Broken(f"{otherwise}: {[*self.nodes.values()]!r}") from None

    def recover(self) -> None:
        """All faults end: the quorum must be in order again, and everybody have the same."""
        self.writes = True
        self.world.note("all faults end")
        self.network.heal()
        for node in self.nodes.values():
            node.resume()
            node.die_at_next_flush(False)
            if node.replica is not None and node.replica.shutdown_until is not None:
                node.kill()
            node.start()
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
        """Byte for byte, all of the logs up to what is committed."""
        for node in self.nodes.values():
            assert node.replica is not None
            self.watch.compare(node, node.replica)

    def damaged(self, api_key: int, version: int, response: bytes) -> bytes:
        """Fetched records may be cut off, or have a bit changed that their checksum covers."""
        random = self.world.random
        if api_key != FETCH or random.random() >= self.network.weather.damaged:
            return response
        message: Any = response_of(api_key, version, response)
        for topic in message.responses:
            for partition in topic.partitions:
                records = bytearray(partition.records or b"")
                if len(records) > 61 and random.random() < 0.5:
                    records[random.randrange(21, 61)] ^= 1 << random.randrange(8)
                else:
                    del records[random.randrange(len(records) + 1) :]
                partition.records = bytes(records)
        return encoded(message, version)
