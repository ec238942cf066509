"""A simulated node: a disk that outlives everything but its loss, and a process around one Replica that can die, hang and start again.

It is the shell of the replica: requests and answers come in as bytes, what is to be sent goes to the network, waits are resumed, and a tick
comes when one was wanted, or a little later. A process that is killed loses what it had in memory; what it wrote and did not flush is the
machine's, until the power fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.storage import Flush
from kafkadouble.server.raft.leader import Leader
from kafkadouble.server.raft.links import Failure, Send
from kafkadouble.server.raft.messages import API_VERSIONS
from kafkadouble.server.raft.quorum_state_file import FileStore
from kafkadouble.server.raft.raft_log import BOOTSTRAP, NoSnapshots, RaftLog
from kafkadouble.server.raft.replica import NotLeader, Replica
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.voters import Endpoint, Voter, VoterSet
from kafkadouble.server.waiting import Waiting

from .exchange import encoded, features, newest, refuse, request_of, response_of, shown
from .heard import Heard
from .machine import FOLDER, Durable, formatted
from .world import Event

if TYPE_CHECKING:
    from .cluster import Cluster

LISTENER, CLUSTER = "CONTROLLER", "simulated"
Reply = Callable[[bytes], None]


def directory(id: int, life: int = 0) -> Uuid:
    return Uuid(bytes([id + 1] * 15 + [life + 1]))


def endpoint(id: int) -> Endpoint:
    return Endpoint(f"node-{id}", 9000 + id)


def voter_of(id: int) -> Voter:
    return Voter(ReplicaKey(id, directory(id)), {LISTENER: endpoint(id)})


class Bootstrap(NoSnapshots):
    """What a directory was formatted with: the voters, at version 1 of `kraft.version`."""

    def __init__(self, voters: VoterSet) -> None:
        self._voters = voters

    def ids(self) -> Sequence[OffsetAndEpoch]:
        return (BOOTSTRAP,)

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        return self._voters, 1


class Died(BaseException):
    """The process ends here. No handler of the core may catch it."""


class Mortal:
    """The flushes of a log, before one of which the process may die."""

    def __init__(self, log: PartitionLog) -> None:
        self._log, self.doomed = log, False

    def unflushed(self) -> Flush | None:
        if self.doomed:
            raise Died
        return self._log.unflushed()

    def flushed(self, offset: int) -> None:
        self._log.flushed(offset)


class Node:
    """Node `id` of a cluster. `replica` is None while it is down."""

    def __init__(self, cluster: Cluster, id: int, snapshots: NoSnapshots) -> None:
        self.cluster, self.world, self.id = cluster, cluster.world, id
        self.key = ReplicaKey(id, directory(id))
        self.known = dict(cluster.versions.get(id, {}))  # the newest version of an API, where it is not ours
        self.replica: Replica | None = None
        self.heard = Heard(f"node {id}")
        self.lives = 0
        self.disks = 1
        self.skew = cluster.world.random.choice((0, 0, 0, -700, 12_345))  # its clock is not the world's
        self._use(formatted(), snapshots)
        self._waiting = Waiting()
        self._wake: Event | None = None
        self._held: list[Callable[[], None]] | None = None  # what comes to a process that hangs

    def _use(self, disk: Any, snapshots: NoSnapshots) -> None:
        self.disk, self.durable, self.snapshots = disk, Durable(disk), snapshots

    @property
    def now(self) -> int:
        return self.world.now + self.skew

    @property
    def is_up(self) -> bool:
        return self.replica is not None

    @property
    def hangs(self) -> bool:
        return self._held is not None

    @property
    def leads(self) -> bool:
        return self.replica is not None and isinstance(self.replica.state, Leader)

    def start(self) -> None:
        """The process begins, with what is on its disk."""
        if self.replica is not None:
            return
        self.lives += 1
        self.heard, self._waiting, self._held = Heard(f"node {self.id}"), Waiting(), None
        log = open_log(
            self.disk,
            FOLDER,
            "__cluster_metadata",
            0,
            self.cluster.log_config,
            clean=False,
            recovery_point=0,
            log_start_offset=0,
            now=self.now,
        )
        self._mortal = Mortal(log)
        self.replica = Replica(
            self.cluster.settings,
            self.key,
            RaftLog(log, self.cluster.static, self.snapshots, self._mortal),
            FileStore(self.disk, FOLDER),
            Random(self.world.random.getrandbits(32)),
            self.heard,
            cluster_id=CLUSTER,
            endpoints={LISTENER: endpoint(self.id)},
            bootstrap=self.cluster.bootstrap,
            can_vote=self.id not in self.cluster.observers,
            now=self.now,
        )
        self.world.note("node {} starts: {!r}, {!r}", self.id, self.replica.state, self.replica.log)
        self.cluster.watch.started(self)
        self._do(self._tick)

    def kill(self) -> None:
        """The process ends as it stands; the machine goes on."""
        if self.replica is not None:
            self.world.note("node {} is killed: {!r}, {!r}", self.id, self.replica.state, self.replica.log)
            self.replica, self._held = None, None
            self._cancel()

    def die_at_next_flush(self, doomed: bool = True) -> None:
        """The process ends between writing and flushing; or does not, after all."""
        if self.replica is not None:
            self._mortal.doomed = doomed

    def lose_power(self) -> None:
        """What was not flushed is gone, or some of it."""
        self.kill()
        self._use(self.disk.power_lost(self.world.random), self.snapshots)
        self.world.note("node {} was without power", self.id)

    def lose_disk(self, snapshots: NoSnapshots, *, same_directory: bool = False) -> None:
        """Everything is gone, and it comes back as somebody else, unless its directory has no id that counts."""
        self.kill()
        self.cluster.lost_disks.append((self.key, self.durable))
        self.disks += not same_directory
        self.key = ReplicaKey(self.id, directory(self.id, self.disks - 1))
        self._use(formatted(), snapshots)
        self.world.note("node {} lost its disk, and is {!r}", self.id, self.key)

    def pause(self) -> None:
        """The process hangs: what comes in is left lying, time goes by."""
        if self.replica is not None and self._held is None:
            self.world.note("node {} hangs", self.id)
            self._held = []

    def resume(self) -> None:
        """It goes on, with all that came in meanwhile, before it looks at the clock or after."""
        held, self._held = self._held, None
        if held is not None:
            self.world.note("node {} goes on", self.id)
            first = self.world.random.random() < 0.5
            for action in held if first else [self._tick, *held]:
                self._do(action)

    def append(self, values: list[bytes]) -> OffsetAndEpoch | None:
        """Records of a client; None where it does not lead."""
        if self.replica is None or self._held is not None:
            return None
        try:
            placed = self.replica.append(values, self.now)
        except NotLeader:
            return None
        except Died:
            self.kill()
            return None
        self.world.note("node {} appends up to offset {} in epoch {}", self.id, placed.offset, placed.epoch)
        self._do(self._did)
        return placed

    def resign(self) -> None:
        if self.replica is not None and self._held is None:
            self.world.note("node {} is asked to resign", self.id)
            replica = self.replica
            self._do(lambda: replica.resign(self.now))
            self._do(self._did)

    def shutdown(self) -> None:
        """In good order; the process ends when it has told everybody, or a little later."""
        if self.replica is not None and self._held is None:
            self.world.note("node {} is asked to stop", self.id)
            replica = self.replica
            self._do(lambda: replica.shutdown(self.now, 1000))
            self._do(self._did)

    def ask(self, body: Message, version: int, done: Callable[[Message], None]) -> None:
        """A request of an operator, who stands beside the machine."""
        api_key = body.api_key
        assert api_key is not None
        self.world.note("node {} is asked {!r}", self.id, body)
        self.serve(api_key, version, encoded(body, version), lambda data: done(response_of(api_key, version, data)))

    def serve(self, api_key: int, version: int, data: bytes, reply: Reply) -> None:
        """A request that has come."""
        self._do(lambda: self._serve(api_key, version, data, reply))

    def _serve(self, api_key: int, version: int, data: bytes, reply: Reply) -> None:
        replica = self.replica
        if replica is None:
            return
        request, life = request_of(api_key, version, data), self.lives

        def done(response: Message) -> None:
            if self.lives == life and self.replica is not None:
                self.world.note("node {} answers {}", self.id, shown(response))
                self.cluster.watch.answers(self, request, response)
                reply(encoded(response, version))

        if api_key == API_VERSIONS:
            done(features(replica.kraft_versions))
            return
        found = replica.handle(request, self.now)
        if isinstance(found, Message):
            done(found)
        else:
            self._waiting.start(found, done, refuse)
        self._did()

    def _do(self, action: Callable[[], None]) -> None:
        """As soon as the process does not hang; never, if it is not the same one then."""
        life = self.lives
        if self.replica is None:
            return
        if self._held is None:
            try:
                action()
            except Died:
                self.kill()
        else:
            self._held.append(lambda: action() if self.lives == life else None)

    def _did(self) -> None:
        """What every step of the process ends with."""
        replica = self.replica
        if replica is None:
            return
        self._waiting.run(self.now)
        for send in replica.take_outgoing():
            self._send(send)
        if replica.is_stopped and replica.failure is None:
            self.cluster.watch.stepped(self)
            self.kill()
            return
        self.cluster.watch.stepped(self)
        self._sleep(replica)

    def _sleep(self, replica: Replica) -> None:
        deadlines = (replica.next_deadline(), self._waiting.timers.next_deadline())
        due = min((each for each in deadlines if each is not None), default=None)
        self._cancel()
        if due is not None:
            late = self.world.random.choice((0, 0, 0, 1, 3))
            self._wake = self.world.after(max(0, due - self.now) + late, lambda: self._do(self._tick))

    def _cancel(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None

    def _tick(self) -> None:
        if self.replica is not None:
            self.replica.tick(self.now)
            self._did()

    def _send(self, send: Send) -> None:
        """To whoever listens there, in the newest version that both know."""
        target, api_key = self.cluster.listening_at(send.to.endpoint), send.body.api_key
        assert api_key is not None
        life = self.lives

        def answered(response: Message | Failure | None) -> None:
            self._do(lambda: self._answered(send.token, response, life))

        if target is None:
            self.world.after(1, lambda: answered(None))
            return
        version = min(send.version, newest(api_key, target.known))
        if version < send.lowest:
            self.world.after(1, lambda: answered(Failure.UNSUPPORTED_VERSION))
            return
        self._post(target, api_key, version, encoded(send.body, version), answered, shown(send.body))

    def _post(
        self,
        target: Node,
        api_key: int,
        version: int,
        data: bytes,
        answered: Callable[[Message | Failure | None], None],
        what: str,
    ) -> None:
        network = self.cluster.network

        def reply(response: bytes) -> None:
            kept = self.cluster.damaged(api_key, version, response)
            network.send(target.id, self.id, lambda: answered(response_of(api_key, version, kept)), lose)

        def lose() -> None:
            answered(None)

        def deliver() -> None:
            if target.is_up:
                target.serve(api_key, version, data, reply)
            else:
                self.world.after(1, lose)

        became = network.send(self.id, target.id, deliver, lose)
        self.world.note("node {} to {}: {}{}", self.id, target.id, what, became)

    def _answered(self, token: int, response: Message | Failure | None, life: int) -> None:
        if self.replica is not None and self.lives == life:
            if self.world.tracing and isinstance(response, Message):
                self.world.note("node {} hears {}", self.id, shown(response))
            self.replica.answered(token, response, self.now)
            self._did()

    def __repr__(self) -> str:
        return f"node {self.id}: {self.replica!r}" if self.replica is not None else f"node {self.id}: down"
