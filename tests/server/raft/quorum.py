"""Replicas in one process, whose messages are passed by hand, in their bytes, with stepped time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.storage import Slice
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.messages import downgraded
from kafkadouble.server.raft.quorum_state import MemoryQuorumStateStore
from kafkadouble.server.raft.raft_log import NoSnapshots, RaftLog
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.request_manager import OutboundRequest, RequestFailure
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.voters import Voter, VoterEndpoint, VoterSet
from kafkadouble.server.requests.waiting import Waiting
from kafkadouble.wire.batch import KRAFT_VERSION, KRAFT_VOTERS, control_type, decode_all, iter_batches

CLUSTER = "lkc-Jx0x7dTBSuGFgh9n_EoNow"
START = 1_700_000_000_000
LISTENER = "CONTROLLER"


class Request(NamedTuple):
    """As much of a request as a replica looks at."""

    api_key: int
    version: int
    body: Any


class RecordingListener:
    """A listener that keeps every committed record and every event."""

    def __init__(self) -> None:
        self.values: list[bytes] = []  # of committed records, control records left out
        self.offsets: list[int] = []
        self.events: list[tuple[str, int]] = []
        self.snapshots: list[Any] = []

    def committed(self, batches: Slice) -> None:
        data = bytes(batches.records)
        for position, header in iter_batches(data):
            self.offsets += range(header.base_offset, header.next_offset)
            if not header.is_control:
                self.values += [
                    r.value or b""
                    for r in decode_all(data[position : position + header.size], check_crc=bool(header.crc))
                ]

    def snapshot_loaded(self, reader: Any) -> None:
        self.snapshots.append(reader)

    def became_leader(self, epoch: int) -> None:
        self.events.append(("leader", epoch))

    def lost_leadership(self, epoch: int) -> None:
        self.events.append(("lost", epoch))


def directory(id: int, life: int = 0) -> Uuid:
    return Uuid(bytes([id] * 15 + [life + 1]))


def endpoint(id: int) -> VoterEndpoint:
    return VoterEndpoint(f"host-{id}", 9000 + id)


def static_voters(ids: Iterable[int]) -> VoterSet:
    return VoterSet.from_static(",".join(f"{id}@host-{id}:{9000 + id}" for id in ids))


def dynamic_voters(ids: Iterable[int]) -> VoterSet:
    return VoterSet(Voter(ReplicaKey(id, directory(id)), {LISTENER: endpoint(id)}) for id in ids)


class Snapshots(NoSnapshots):
    """Only ids, and what their headers would say."""

    def __init__(self, *ids: OffsetAndEpoch, voters: VoterSet | None = None, kraft_version: int = 0) -> None:
        self._ids, self._said = ids, (voters, kraft_version)

    def ids(self) -> tuple[OffsetAndEpoch, ...]:
        return self._ids

    def open(self, id: OffsetAndEpoch) -> Any:
        return id

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        return self._said


class Member:
    """One node: what outlives a restart, and the replica that is running."""

    def __init__(self, id: int, voters: VoterSet, settings: QuorumSettings, now: int, **extra: Any) -> None:
        self.id, self.voters, self.settings, self.extra = id, voters, settings, extra
        self.key = ReplicaKey(id, extra.pop("directory_id", directory(id)))
        self.snapshots = extra.pop("snapshot_ids", NoSnapshots())
        self.store = extra.pop("store", None) or MemoryQuorumStateStore()
        self.log = extra.pop("log", None) or PartitionLog("__cluster_metadata", 0)
        self.start(now)

    def start(self, now: int) -> KafkaRaftClient:
        """Again, with what was kept."""
        self.listener, self.driver = RecordingListener(), Waiting()
        settings = {"endpoints": {LISTENER: endpoint(self.id)}, **self.extra}
        self.replica = KafkaRaftClient(
            self.settings,
            self.key,
            RaftLog(self.log, self.voters, self.snapshots),
            self.store,
            Random(self.id),
            self.listener,
            cluster_id=CLUSTER,
            now=now,
            **settings,
        )
        return self.replica

    def ask(self, body: Message, version: int, now: int) -> list[Any]:
        """The answer, as soon as there is one: in its bytes and back."""
        out: list[Any] = []
        api_key = body.api_key
        assert api_key is not None
        data = downgraded(body, version).encode(version)
        request = Request(api_key, version, type(body).decode(data, version))
        found = self.replica.handle(request, now)
        if isinstance(found, Message):
            out.append(again(found, version))
        else:
            self.driver.start(found, lambda answer: out.append(again(answer, version)), raise_it)
        return out


def raise_it(problem: Exception) -> None:
    raise problem


def again(message: Message, version: int) -> Any:
    return type(message).decode(message.encode(version), version)


class Flight(NamedTuple):
    """A request on its way, and the place for its answer."""

    asker: int
    requested: int
    send: OutboundRequest
    answer: list[Any]


class Quorum:
    """Members, and the messages between them. `cut` says which links are down, as (from, to)."""

    def __init__(self, ids: Iterable[int] = (1, 2, 3), *, dynamic: bool = False, **changed: Any) -> None:
        self.now = START
        ids = tuple(ids)
        self.settings = QuorumSettings(**{"append_linger_ms": 0, **changed})
        self.cut: set[tuple[int, int]] = set()
        self.dead: set[int] = set()
        self.flights: list[Flight] = []
        # the newest version of an API that every node supports, if it is not the newest of all
        self.versions: dict[int, int] = {}
        self.members: dict[int, Member] = {}
        self.sent: list[tuple[int, int, Message]] = []
        self.dynamic = dynamic_voters(ids) if dynamic else None
        for id in ids:
            self.add(id, static_voters(ids))

    def add(self, id: int, voters: VoterSet | None = None, **extra: Any) -> Member:
        if self.dynamic is not None:
            first = Snapshots(OffsetAndEpoch(0, 0), voters=self.dynamic, kraft_version=1)
            extra.setdefault("snapshot_ids", first)
            voters = VoterSet()
        chosen = static_voters(self.members) if voters is None else voters
        self.members[id] = Member(id, chosen, self.settings, self.now, **extra)
        return self.members[id]

    def __getitem__(self, id: int) -> KafkaRaftClient:
        return self.members[id].replica

    def listener(self, id: int) -> RecordingListener:
        return self.members[id].listener

    @property
    def alive(self) -> list[int]:
        return [id for id in self.members if id not in self.dead]

    def is_cut(self, one: int, other: int) -> bool:
        return (one, other) in self.cut or one in self.dead or other in self.dead

    def isolate(self, *ids: int) -> None:
        """No message goes between these and the others."""
        others = [id for id in self.members if id not in ids]
        self.cut |= {(a, b) for a in ids for b in others} | {(b, a) for a in ids for b in others}

    def heal(self) -> None:
        self.cut.clear()

    def step(self) -> bool:
        """Delivers everything that is on its way; tells whether anything was."""
        moved = False
        for id in self.alive:
            for send in self[id].take_outgoing():
                moved = True
                self._deliver(id, send)
        for id in self.alive:
            self.members[id].driver.run(self.now)
        ready = [flight for flight in self.flights if flight.answer or self.is_cut(flight.requested, flight.asker)]
        for flight in ready:
            self.flights.remove(flight)
            if flight.asker in self.dead:
                continue
            moved = True
            lost = self.is_cut(flight.requested, flight.asker) or not flight.answer
            self[flight.asker].answered(flight.send.token, None if lost else flight.answer[0], self.now)
        return moved

    def _deliver(self, asker: int, send: OutboundRequest) -> None:
        requested = next((id for id in self.members if endpoint(id) == send.to.endpoint), None)
        body, version = send.body, min(send.version, self.versions.get(send.body.api_key or 0, 99))
        self.sent.append((asker, requested or -1, body))
        if requested is None or self.is_cut(asker, requested):
            self[asker].answered(send.token, RequestFailure.LOST, self.now)
        elif version < send.lowest:
            self[asker].answered(send.token, RequestFailure.UNSUPPORTED_VERSION, self.now)
        elif body.api_key == ApiKeys.API_VERSIONS:
            self[asker].answered(send.token, self.api_versions(requested), self.now)
        else:
            flight = Flight(asker, requested, send, self.members[requested].ask(body, version, self.now))
            self.flights.append(flight)

    def api_versions(self, id: int) -> Message:
        """What the shell of a member answers."""
        of: Any = registry.message("ApiVersionsResponse")
        low, high = self[id].kraft_versions
        known = of.SupportedFeatureKey(name="kraft.version", min_version=low, max_version=high)
        found: Message = of(supported_features=[known])
        return found

    def settle(self) -> None:
        """Delivers until nothing moves at this time."""
        for _ in range(1000):
            if not self.step():
                return
        raise AssertionError("they never stop talking")

    def tick(self) -> None:
        for id in self.alive:
            self[id].tick(self.now)
            self.members[id].driver.run(self.now)

    def run(self, ms: int, *, until: Callable[[], bool] | None = None) -> bool:
        """Advances the clock from deadline to deadline of any node; stops when `until` holds."""
        end = self.now + ms
        while True:
            self.tick()
            self.settle()
            if until is not None and until():
                return True
            due = [at for id in self.alive if (at := self[id].next_deadline()) is not None]
            due += [at for id in self.alive if (at := self.members[id].driver.timers.next_deadline()) is not None]
            nearest = min((at for at in due if at > self.now), default=end)
            if nearest > end or self.now >= end:
                self.now = end
                self.tick()
                self.settle()
                return until is not None and until()
            self.now = nearest

    @property
    def leader(self) -> KafkaRaftClient | None:
        """The leader of the newest epoch, among those that run."""
        found = [self[id] for id in self.alive if isinstance(self[id].state, LeaderState)]
        return max(found, key=lambda replica: replica.epoch, default=None)

    def elect(self, ms: int = 60_000) -> KafkaRaftClient:
        """Runs until a leader has committed a record of its epoch."""

        def ready() -> bool:
            leader = self.leader
            return leader is not None and leader.log.high_watermark > getattr(leader.state, "epoch_start", 1 << 60)

        assert self.run(ms, until=ready), f"no leader: {[self[id] for id in self.members]}"
        assert self.leader is not None
        return self.leader

    def kill(self, id: int) -> None:
        self.dead.add(id)
        self.flights = [flight for flight in self.flights if id not in (flight.asker, flight.requested)]

    def restart(self, id: int) -> KafkaRaftClient:
        self.dead.discard(id)
        return self.members[id].start(self.now)

    def write(self, value: bytes) -> None:
        """The leader appends a record, and every replica gets it."""
        leader = self.leader
        assert leader is not None
        leader.append([value], self.now)
        self.run(50)

    def followers(self) -> list[KafkaRaftClient]:
        return [self[id] for id in self.alive if self[id] is not self.leader]


def elected(*ids: Iterable[int], **how: Any) -> tuple[Quorum, KafkaRaftClient]:
    quorum = Quorum(*ids, **how)
    return quorum, quorum.elect()


def control_kinds(log: PartitionLog) -> list[int]:
    found: list[int] = []
    for batch in log.batches(0):
        if next(iter_batches(batch))[1].is_control:
            found += [control_type(record)[1] for record in decode_all(batch)]
    return found


def is_ascending(numbers: list[int]) -> bool:
    return all(one < other for one, other in pairwise(numbers))


__all__ = [
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
    "Member",
    "Quorum",
    "RecordingListener",
    "Snapshots",
    "directory",
    "endpoint",
]
