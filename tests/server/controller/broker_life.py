"""An active controller without a node: brokers register, send heartbeats and fall silent; every
decision is replayed, and must match its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller.broker_context import BrokerContext
from kafkadouble.server.controller.broker_control_state import BrokerControlState
from kafkadouble.server.controller.broker_heartbeat import (
    BrokerHeartbeatResult,
    fence_one_stale_broker,
    process_broker_heartbeat,
)
from kafkadouble.server.controller.broker_heartbeat_manager import BrokerHeartbeatManager
from kafkadouble.server.controller.broker_registration import BrokerRegistrationResult, ClusterIdentity, register_broker
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata.image import BrokerImage, Image
from kafkadouble.server.metadata.replay import MetadataDelta
from tests.server.controller.small_clusters import DEFAULTS, directory

SESSION = 9000
CLUSTER_ID = "the-cluster"
START, END = 1_000_000, 500
NEWEST = 4

Listener = BrokerRegistrationRequest.Listener
Feature = BrokerRegistrationRequest.Feature

FEATURES = {
    "metadata.version": (7, 33),
    "eligible.leader.replicas.version": (0, 1),
    "kraft.version": (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}


def incarnation(number: int) -> Uuid:
    return Uuid(bytes([number]) * 16)


def features(**changed: tuple[int, int] | None) -> list[Feature]:
    """The features of a current broker, except for some, by their names with `_` for `.`; None
    leaves one out.
    """
    found = {**FEATURES, **{name.replace("_", "."): value for name, value in changed.items()}}
    return [
        Feature(name=name, min_supported_version=given[0], max_supported_version=given[1])
        for name, given in found.items()
        if given is not None
    ]


def request(broker: int, life: int = 1, **changed: Any) -> BrokerRegistrationRequest:
    """A registration that is accepted, but for what is changed."""
    fields: dict[str, Any] = {
        "broker_id": broker,
        "cluster_id": CLUSTER_ID,
        "incarnation_id": incarnation(life),
        "listeners": [Listener(name="PLAINTEXT", host=f"h{broker}", port=9092, security_protocol=0)],
        "features": features(),
        "rack": None,
        "log_dirs": [directory(broker)],
    }
    return BrokerRegistrationRequest(**{**fields, **changed})


class Office:
    """The controller becomes active at START, with `image` as of END. `written` has all records
    since.
    """

    def __init__(self, image: Image, settings: Settings = DEFAULTS, kraft_version: int = 1) -> None:
        self.image = image._replace(end=OffsetAndEpoch(END, 3))
        self.settings, self.kraft_version, self.now = settings, kraft_version, START
        self.heartbeats = BrokerHeartbeatManager(self.image, SESSION, START)
        self.written: list[Any] = []

    @property
    def situation(self) -> BrokerContext:
        return BrokerContext(self.image, self.settings, self.heartbeats, self.image.end.offset, self.now)

    def broker(self, id: int) -> BrokerImage:
        return self.image.brokers[id]

    def register(self, body: BrokerRegistrationRequest, version: int = NEWEST) -> BrokerRegistrationResult:
        done = register_broker(self.situation, ClusterIdentity(CLUSTER_ID, self.kraft_version), body, version)
        self.write(done.records)
        assert self.broker(body.broker_id).epoch == done.epoch
        return done

    def beat(
        self,
        broker: int,
        *,
        offset: int | None = None,
        fence: bool = False,
        stop: bool = False,
        offline: Sequence[Uuid] = (),
        cordoned: Sequence[Uuid] | None = None,
        epoch: int | None = None,
    ) -> BrokerHeartbeatResult:
        """A heartbeat of a broker that has read everything, unless it is said how far."""
        known = self.image.brokers.get(broker)
        body = BrokerHeartbeatRequest(
            broker_id=broker,
            broker_epoch=epoch if epoch is not None else known.epoch if known is not None else -1,
            current_metadata_offset=self.image.end.offset - 1 if offset is None else offset,
            want_fence=fence,
            want_shut_down=stop,
            offline_log_dirs=offline,
            cordoned_log_dirs=cordoned,
        )
        done = process_broker_heartbeat(self.situation, body)
        self.write(done.records)
        after = self.broker(broker)
        assert after.fenced == done.state.fenced
        if done.state is BrokerControlState.CONTROLLED_SHUTDOWN:
            assert after.in_controlled_shutdown
        return done

    def wait(self, ms: int) -> list[int]:
        """Time passes; the brokers that are fenced by that."""
        self.now += ms
        silent = []
        while records := fence_one_stale_broker(self.image, self.settings, self.heartbeats, self.now):
            self.write(records)
            silent.append(self.written[-1].broker_id)
            assert self.broker(silent[-1]).fenced
        return silent

    def new_leader(self) -> None:
        """Another controller, or this one in another epoch, knows only what is in the image."""
        self.heartbeats = BrokerHeartbeatManager(self.image, SESSION, self.now)

    def write(self, records: Sequence[Message]) -> None:
        """A decision is committed."""
        fold = MetadataDelta(self.image)
        for record in records:
            fold.replay(record)
        self.written += records
        self.image = fold.image._replace(end=OffsetAndEpoch(self.image.end.offset + len(records), 3))
