"""A simulated node: a disk that survives everything except its loss, and a process on it that can
die, hang and restart.

It surrounds the process: requests and answers come in as bytes, outgoing messages go to the
network, waits are resumed, and a tick comes when it was due, or a little later. A killed process
loses its memory; its unflushed writes stay on the machine, until the power fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.reconfiguration import VoterChangeRefused
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.request_manager import OutboundRequest, RequestFailure
from kafkadouble.server.raft.voters import Voter, VoterEndpoint, VoterSet
from kafkadouble.server.requests.waiting import Waiting

from .exchange import encoded, newest, refuse, request_of, response_of, shown
from .machine import Died, Durable, MortalDisk, formatted
from .process import LISTENER, Process
from .world import Event

if TYPE_CHECKING:
    from .cluster import Cluster

Reply = Callable[[bytes], None]


def directory(id: int, life: int = 0) -> Uuid:
    return Uuid(bytes([id + 1] * 15 + [life + 1]))


def endpoint(id: int, moves: int = 0) -> VoterEndpoint:
    return VoterEndpoint(f"node-{id}", 9000 + id + 100 * moves)


def voter_of(id: int) -> Voter:
    return Voter(ReplicaKey(id, directory(id)), {LISTENER: endpoint(id)})


class Node:
    """Node `id` of a cluster. `process` is None while it is down."""

    def __init__(self, cluster: Cluster, id: int, voters: VoterSet | None) -> None:
        """`voters` are those that its directory was formatted with, where they are named."""
        self.cluster, self.world, self.id = cluster, cluster.world, id
        self.key, self.at = ReplicaKey(id, directory(id)), endpoint(id)
        # The newest version of an API that it knows, where it is not ours.
        self.known = dict(cluster.versions.get(id, {}))
        self.process: Process | None = None
        self.lives = 0
        self.disks = 1
        self.moves = 0
        # The difference between its clock and the world's.
        self.skew = cluster.world.random.choice((0, 0, 0, -700, 12_345))
        self._use(formatted(voters))
        self._waiting = Waiting()
        self._wake: Event | None = None
        self._due: int | None = None  # the time its timer is set for
        # the messages that arrive while the process hangs
        self._held: list[Callable[[], None]] | None = None

    def _use(self, disk: MortalDisk) -> None:
        self.disk, self.durable = disk, Durable(disk)

    @property
    def replica(self) -> KafkaRaftClient | None:
        return None if self.process is None else self.process.replica

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
        return self.replica is not None and isinstance(self.replica.state, LeaderState)

    def start(self) -> None:
        """Starts the process on the files of its disk. If it dies at once, it starts again."""
        if self.process is not None:
            return
        self.lives += 1
        self._waiting, self._held = Waiting(), None
        if self.world.random.random() < 0.1:
            # An operator has set the clock.
            self.skew += self.world.random.choice((-5000, -1, 400, 60_000))
        self.process = self._begun()
        if self.process is None:
            return
        replica = self.process.replica
        self.world.note("node {} starts: {!r}, {!r}", self.id, replica.state, replica.log)
        self.cluster.watch.started(self)
        self._do(self._tick)

    def _begun(self) -> Process | None:
        """Creates the process; None if the disk has failed. If the process dies at once, it starts
        again."""
        try:
            return Process(self)
        except DiskFailure as problem:
            self.world.note("node {} does not start: {}", self.id, problem)
            return None
        except Died:
            self.disk.dies_after = None
            return Process(self)

    def kill(self) -> None:
        """Kills the process; the machine goes on."""
        if self.process is not None:
            replica = self.process.replica
            self.world.note("node {} is killed: {!r}, {!r}", self.id, replica.state, replica.log)
            self.process.end()
            self.process, self._held = None, None
            self.disk.dies_after = None
            self._cancel()

    def _die(self) -> None:
        """Dies in the middle of a step: other nodes may know what it has committed in that step."""
        self.cluster.watch.dying(self)
        self.kill()

    def die_when_writing(self, changes: int | None) -> None:
        """The process dies after so many more changes of its disk; None: it does not."""
        self.disk.dies_after = changes

    def mend_disk(self) -> None:
        """Repairs the failed disk; a process that gave up because of it must be restarted."""
        if self.disk.failing:
            self.kill()
            self.disk.mend()

    def lose_power(self) -> None:
        """Cuts the power: unflushed data is lost, all or in part."""
        self.kill()
        self._use(self.disk.after_power_loss(self.world.random))
        self.world.note("node {} was without power", self.id)

    def lose_disk(self, voters: VoterSet | None, *, same_directory: bool = False) -> None:
        """Loses the whole disk. The node comes back with another directory id, unless directory ids
        do not count."""
        self.kill()
        self.cluster.lost_disks.append((self.key, self.durable))
        self.disks += not same_directory
        self.key = ReplicaKey(self.id, directory(self.id, self.disks - 1))
        self._use(formatted(voters))
        self.world.note("node {} lost its disk, and is {!r}", self.id, self.key)

    def move(self) -> None:
        """It will listen on another address when it starts again."""
        self.kill()
        self.moves += 1
        self.at = endpoint(self.id, self.moves)
        self.world.note("node {} moves to {!r}", self.id, self.at)

    def pause(self) -> None:
        """The process hangs: messages that arrive wait, while time passes."""
        if self.process is not None and self._held is None:
            self.world.note("node {} hangs", self.id)
            self._held = []

    def resume(self) -> None:
        """The process continues, and gets all messages that arrived meanwhile, before it reads the
        clock or after."""
        held, self._held = self._held, None
        if held is not None:
            self.world.note("node {} goes on", self.id)
            first = self.world.random.random() < 0.5
            for action in held if first else [self._tick, *held]:
                self._do(action)

    def append(self, values: list[bytes]) -> OffsetAndEpoch | None:
        """Appends records of a client; None where it does not lead."""
        if self.process is None or self._held is not None:
            return None
        try:
            placed = self.process.append(values, self.now)
        except Died:
            self._die()
            return None
        if placed is not None:
            self.world.note("node {} appends up to offset {} in epoch {}", self.id, placed.offset, placed.epoch)
            self._do(self._did)
        return placed

    def upgrade(self) -> None:
        """An operator raises `kraft.version`: the voters are written into the log (KIP-853). It is
        refused until every voter has reported what this needs."""
        if (replica := self.replica) is not None and self._held is None:

            def attempt() -> None:
                try:
                    replica.raise_kraft_version(1, self.now)
                except VoterChangeRefused as refused:
                    self.world.note("node {} does not raise kraft.version: {}", self.id, refused)
                self._did()

            self._do(attempt)

    def resign(self) -> None:
        if self.replica is not None and self._held is None:
            self.world.note("node {} is asked to resign", self.id)
            replica = self.replica
            self._do(lambda: replica.resign(self.now))
            self._do(self._did)

    def shutdown(self) -> None:
        """A clean shutdown; the process ends when it has notified all other nodes, or a little
        later."""
        if self.replica is not None and self._held is None:
            self.world.note("node {} is asked to stop", self.id)
            replica = self.replica
            self._do(lambda: replica.shutdown(self.now, 1000))
            self._do(self._did)

    def ask(self, body: Message, version: int, done: Callable[[Message], None]) -> None:
        """A request of an operator on the machine itself."""
        api_key = body.api_key
        assert api_key is not None
        self.world.note("node {} is asked {!r}", self.id, body)
        self.serve(api_key, version, encoded(body, version), lambda data: done(response_of(api_key, version, data)))

    def serve(self, api_key: int, version: int, data: bytes, reply: Reply) -> None:
        """Handles a request that has arrived."""
        self._do(lambda: self._serve(api_key, version, data, reply))

    def _serve(self, api_key: int, version: int, data: bytes, reply: Reply) -> None:
        process = self.process
        if process is None:
            return
        request, life = request_of(api_key, version, data), self.lives

        def done(response: Message) -> None:
            if self.lives == life and self.replica is not None:
                if self.world.tracing:
                    self.world.note("node {} answers {}", self.id, shown(response))
                self.cluster.watch.answers(self, request, response)
                reply(encoded(response, version))

        found = process.handle(request, self.now)
        if isinstance(found, Message):
            done(found)
        else:
            self._waiting.start(found, done, refuse)
        self._did()

    def _do(self, action: Callable[[], None]) -> None:
        """Does this as soon as the process does not hang; never, if it is another process by
        then."""
        life = self.lives
        if self.replica is None:
            return
        if self._held is None:
            try:
                action()
            except Died:
                self._die()
        else:
            self._held.append(lambda: action() if self.lives == life else None)

    def _did(self) -> None:
        """The work at the end of every step of the process."""
        if self.process is None:
            return
        replica = self.process.replica
        self._waiting.run(self.now)
        self.process.keep_house(self.now)
        for send in replica.take_outgoing():
            self._send(send)
        if replica.is_stopped and replica.failure is None:
            self.cluster.watch.stepped(self)
            self.kill()
            return
        self.cluster.watch.stepped(self)
        self._sleep(self.process)

    def _sleep(self, process: Process) -> None:
        deadlines = (process.next_deadline(), self._waiting.timers.next_deadline())
        due = min((deadline for deadline in deadlines if deadline is not None), default=None)
        if due == self._due and self._wake is not None:
            return
        self._cancel()
        if due is not None:
            self._due = due
            late = self.world.random.choice((0, 0, 0, 1, 3))
            self._wake = self.world.after(max(0, due - self.now) + late, lambda: self._do(self._tick))

    def _cancel(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
            self._wake, self._due = None, None

    def _tick(self) -> None:
        self._cancel()
        if self.process is not None:
            self.process.tick(self.now)
            self._did()

    def _send(self, send: OutboundRequest) -> None:
        """Sends to the node that listens there, in the newest version that both know."""
        target, api_key = self.cluster.listening_at(send.to.endpoint), send.body.api_key
        assert api_key is not None
        life = self.lives

        def answered(response: Message | RequestFailure | None) -> None:
            self._do(lambda: self._answered(send.token, response, life))

        if target is None:
            self.world.after(1, lambda: answered(None))
            return
        version = min(send.version, newest(api_key, target.known))
        if version < send.lowest:
            self.world.after(1, lambda: answered(RequestFailure.UNSUPPORTED_VERSION))
            return
        self._post(target, api_key, version, send.body, answered)

    def _post(
        self,
        target: Node,
        api_key: int,
        version: int,
        body: Message,
        answered: Callable[[Message | RequestFailure | None], None],
    ) -> None:
        network, data = self.cluster.network, encoded(body, version)

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
        if self.world.tracing:
            self.world.note("node {} to {}: {}{}", self.id, target.id, shown(body), became)

    def _answered(self, token: int, response: Message | RequestFailure | None, life: int) -> None:
        if self.process is not None and self.lives == life:
            if self.world.tracing and isinstance(response, Message):
                self.world.note("node {} hears {}", self.id, shown(response))
            self.process.replica.answered(token, response, self.now)
            self._did()

    def __repr__(self) -> str:
        return f"node {self.id}: {self.replica!r}" if self.replica is not None else f"node {self.id}: down"
