"""Three controllers without sockets: hostile connections to the listener of each, and a good client
that sends what every cluster needs.

Rules that are checked after every piece of bytes: those of `stage`, and no node has stopped.
Checked now and then: a controller leads, or the protocol itself gives a reason why none does; every
acknowledged decision is in the image of every node; the data kept about unknown peers is bounded.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from random import Random
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.features import SUPPORTED
from kafkadouble.server.metadata.image import TOPIC, Image
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.node import Node
from kafkadouble.server.raft.leader_state import MAX_OBSERVERS, LeaderState
from kafkadouble.server.raft.quorum_state import LAST_EPOCH
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.tracing.history import errors_in
from tests.server.controller import broker_life
from tests.server.controllers import STEP, Controllers, address
from tests.support.listeners import CONTROLLER

from .control_requests import BROKERS, GOOD
from .stage import MAX_FRAME, Line, Log

SETTINGS = {
    "metadata.log.max.record.bytes.between.snapshots": 10_000,
    "internal.metadata.log.segment.bytes": 2 << 20,
    "metadata.max.retention.bytes": 100_000,
    "log.retention.check.interval.ms": 1000,
    "controller.quorum.auto.join.enable": True,
}
RETENTION = "retention.ms"
ATTEMPTS = 5
MOST_KEPT = 20
"""The number of the good client's topics that are kept."""


def features() -> list[broker_life.Feature]:
    """The features of a broker that supports every level the controllers support."""
    known = {name: (0, high) for name, (_, high) in SUPPORTED.items()}
    return broker_life.features(**{name.replace(".", "_"): levels for name, levels in known.items()})


class Headless(Exception):
    """No controller leads for long enough."""


class Quorum(Controllers):
    """Controllers for which time passes only when the test steps it."""

    def settle(self) -> None:
        """Delivers the messages in flight between the controllers."""
        self._carry()

    def refresh(self) -> None:
        """Gives the controllers just enough time to find that none can be elected."""
        for _ in range(1500):
            if self._is_settled():
                return
            self.step(STEP * 4)


class Hostile:
    """A hostile connection to one of the controllers."""

    def __init__(self, stage: QuorumStage, node: Node, number: int) -> None:
        self.stage, self.line, self.node = stage, Line(), node
        self.peer = Peer(number, "203.0.113.9", number % 65536, CONTROLLER)
        self.connection = Connection(node, self.peer, self.line, MAX_FRAME)

    def send(self, data: bytes) -> bool:
        """Sends these bytes; returns whether the connection is still open."""
        self.connection.receive(data, self.stage.controllers.now)
        while self.line.goes_on:
            self.line.goes_on = False
            self.connection.pump(self.stage.controllers.now)
        while self.node.waiting.is_busy:
            self.node.tick(self.stage.controllers.now)
        self.stage.controllers.settle()
        self.stage.look()
        if self.line.closed:
            self.connection.lost()
        return not self.line.closed


class QuorumStage:
    """The controllers, and the good client. With `dynamic` the log has their voters."""

    def __init__(self, log: Log, dynamic: bool) -> None:
        self.log, self.dynamic = log, dynamic
        self.numbers, self.made = iter(range(1, 10**9)), 0
        self.begin()

    def begin(self) -> None:
        """Starts a new cluster."""
        self.controllers = Quorum(3, SETTINGS)
        self.done: dict[str, str] = {}  # acknowledged decisions: topics, and a setting of each
        self.lives = {id: Uuid(id.to_bytes(16)) for id in BROKERS}
        self.controllers.elect()
        if self.dynamic:
            self.controllers.step(7000)  # the voters register
            update = UpdateFeaturesRequest.FeatureUpdateKey(feature="kraft.version", max_version_level=1)
            answer = self.ask(UpdateFeaturesRequest(feature_updates=[update], timeout_ms=1000), 2)
            assert answer.error_code == 0, answer
        self.look()
        self.works()

    @property
    def nodes(self) -> dict[int, Node]:
        return self.controllers.nodes

    @property
    def draft(self) -> Image:
        """The leader's image, with uncommitted decisions. May raise Headless."""
        self.controllers.refresh()
        if not self.controllers._is_settled():
            raise Headless
        return self.controllers.leader.controller.draft

    def hostile(self, dice: Random) -> Hostile:
        return Hostile(self, dice.choice(list(self.nodes.values())), next(self.numbers))

    def look(self) -> None:
        """Checks that no node has logged an error or stopped."""
        for record in self.log.taken():
            assert record.levelno < logging.ERROR, logging.Formatter().format(record)
            assert "\n" not in record.getMessage(), record.getMessage()
        for node in self.nodes.values():
            assert node.halted is None, node.halted
            assert node.quorum.replica.failure is None, node.quorum.replica.failure

    def pass_time(self, milliseconds: int) -> None:
        self.controllers.step(milliseconds)
        self.look()

    def ask(self, body: Any, version: int) -> Any:
        """The leader's answer; if it no longer leads, that of the next leader. May raise
        Headless."""
        for _ in range(ATTEMPTS):
            self.controllers.refresh()
            if not self.controllers._is_settled():
                raise Headless
            answer = self.controllers.ask(self.controllers.leader, body, version)
            if "NOT_CONTROLLER" not in errors_in(answer):
                return answer
        raise Headless

    def works(self) -> bool:
        """Whether a controller leads and decides, and every node has the earlier decisions; False
        where the protocol makes that impossible."""
        try:
            self._brokers()
            self._decide()
        except Headless:
            assert self.excuse(), self.shown()
            return False
        self.controllers.refresh()
        self.look()
        for node in self.nodes.values():
            image = node.controller.image
            for name, value in self.done.items():
                assert image.topic_named(name), (node, name)
                assert image.config_overrides(TOPIC, name)[RETENTION] == value, (node, name)
        self._bounds()
        return True

    def excuse(self) -> str | None:
        """Why no controller can be elected: no epochs are left, or a false message has named voters
        that are not here; or why a controller cannot follow."""
        replicas = [node.quorum.replica for node in self.nodes.values()]
        if any(replica.epoch >= LAST_EPOCH for replica in replicas):
            return "the last epoch"
        leaders = {(replica.epoch, replica.key.id) for replica in replicas if isinstance(replica.state, LeaderState)}
        for replica in replicas:
            known = replica.epoch, replica.leader_id
            if not replica.is_voter and known not in leaders:
                return f"{replica!r} is no voter, and has a leader and epoch that no voter has"
        keys = {replica.key.id: replica.key for replica in replicas}
        for replica in replicas:
            here = [voter for voter in replica.voters if voter.id in keys and replica.voters.contains(keys[voter.id])]
            reached = [voter for voter in here if voter.endpoints.get("CONTROLLER") == address(voter.id)]
            if len(reached) < replica.voters.majority:
                return f"{replica.voters!r} are not here"
        return None

    def shown(self) -> str:
        """The state of all nodes, for the message of a failure."""
        parts = [
            (node.quorum, node.quorum.replica.voters, node.controller, node.quorum.log) for node in self.nodes.values()
        ]
        return "\n".join(map(repr, parts))

    def _brokers(self) -> None:
        """Registers brokers again that were removed or fenced, and corrects what hostile requests
        have claimed for them."""
        for id in BROKERS:
            known = self.draft.brokers.get(id)
            spoilt = known is not None and (known.incarnation_id != self.lives[id] or known.in_controlled_shutdown)
            if spoilt:
                # A false broker with its id, or one that a request has shut down, is silent by
                # then.
                self.controllers.step(10_000)
                self.lives[id] = Uuid((self.made * 100 + id).to_bytes(16))
            body = broker_life.request(id, incarnation_id=self.lives[id], cluster_id="a-cluster", features=features())
            answer = self.ask(body, 4)
            if answer.error_code == error_codes.DUPLICATE_BROKER_REGISTRATION:
                # A leader that was elected meanwhile gives every broker a new session.
                self.controllers.step(10_000)
                answer = self.ask(body, 4)
            assert answer.error_code == 0, answer
        for id in BROKERS:
            epoch = self.draft.brokers[id].epoch
            beat = BrokerHeartbeatRequest(
                broker_id=id, broker_epoch=epoch, current_metadata_offset=2**62, cordoned_log_dirs=[]
            )
            answer = self.ask(beat, 2)
            if answer.should_shut_down:  # a hostile request has asked for this in its name
                answer = self.ask(beat, 2)
            assert (answer.error_code, answer.is_fenced) == (0, False), answer

    def _decide(self) -> None:
        self.made += 1
        name = f"{GOOD}-{self.made}"
        config = CreateTopicsRequest.CreatableTopicConfig(name=RETENTION, value=str(self.made))
        topic = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=3, configs=[config])
        (result,) = self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7).topics
        assert result.error_code == 0, result
        self.done[name] = str(self.made)

    def tidy(self) -> None:
        """Cleans up the cluster, as far as a controller leads."""
        with suppress(Headless):
            self._tidy()

    def _tidy(self) -> None:
        """Deletes the topics except the good client's last ones, and unregisters the hostile
        brokers."""
        image = self.draft
        self.done = dict(list(self.done.items())[-MOST_KEPT:])
        gone = [DeleteTopicsRequest.DeleteTopicState(name=name) for name in image.topic_ids if name not in self.done]
        deleted = self.ask(DeleteTopicsRequest(topics=gone, timeout_ms=1000), 6)
        assert {result.error_code for result in deleted.responses} <= {0}, deleted
        for id in image.brokers:
            if id not in BROKERS:
                assert self.ask(UnregisterBrokerRequest(broker_id=id), 0).error_code == 0

    def _bounds(self) -> None:
        """No state grows, except what was written."""
        for node in self.nodes.values():
            state = node.quorum.replica.state
            if isinstance(state, LeaderState):
                assert len(state.observers) <= MAX_OBSERVERS
            if node.controller.leads:
                assert len(node.controller.active.pending) < 100
                heartbeats = node.controller.active.heartbeats
                assert len(heartbeats._known) <= len(node.controller.draft.brokers) + 100, heartbeats
            assert len(node.waiting.timers._heap) < 5000, node.waiting.timers
            assert len(node.quorum.snapshots.ids()) < 50, node.quorum.snapshots.ids()
