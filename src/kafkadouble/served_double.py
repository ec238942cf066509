"""The KafkaDouble of the brokers that `kafkadouble serve` runs: the same verbs, for its control
plane."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.clock import Clock

from .common.errors import UsageError
from .double import KafkaDouble
from .engine.broker import Broker
from .engine.cluster import Cluster
from .engine.running import Running

if TYPE_CHECKING:
    from kafkadouble.messages.generated.create_acls import CreateAclsRequest

    from .access.security import Security
    from .control.server import ControlServer
    from .records.initial_topics import InitialTopic
    from .scenario.scenario import Scenario
    from .seen.telemetry import TelemetryCollector


class ServedDouble(KafkaDouble):
    """A double over brokers that run on this thread. It neither starts nor stops them. `topics` are
    there at the start, and after a reset, as are the users, and what the scenario describes."""

    def __init__(
        self,
        broker: Broker | Cluster,
        settings: Settings,
        clock: Clock,
        topics: Sequence[InitialTopic] = (),
        scenario: Scenario | None = None,
        security: Security | None = None,
        acls: Sequence[CreateAclsRequest.AclCreation] = (),
        telemetry: TelemetryCollector | None = None,
    ) -> None:
        self._settings, self._clock, self._topics = settings, clock, tuple(topics)
        self._seed, self._peer_requests = None, False
        self._nodes = broker.all_listeners
        self._data_dirs, self._capture = [], None
        self._lock = threading.Lock()
        self._running, self._round = Running.over(broker), 0
        self._snapshots, self._control = {}, None
        self._scenario, self._steps, self._acls = scenario, None, acls
        self._security, self._telemetry = security, telemetry

    def start(self) -> KafkaDouble:
        """Does nothing: it runs."""
        return self

    def stop(self) -> None:
        """Raises UsageError: the process ends by a signal."""
        raise UsageError("the brokers of `kafkadouble serve` end with their process: send it SIGTERM")

    def has_control(self, server: ControlServer) -> None:
        """Its control plane, which `page` and `token_endpoint` name."""
        self._control = server

    def leave(self) -> None:
        """Makes no more calls: every one that waits ends, and later ones are refused. It may be
        called again."""
        if self._steps is not None:
            self._steps.end()
        self._known().thread.stop()

    def begin_scenario(self) -> None:
        """Applies the scenario. Call it on another thread than the brokers'."""
        self._apply_scenario()

    def reset(self) -> None:
        """As KafkaDouble.reset; then the topics of the start are there again."""
        with self._serving().replacing:
            super().reset()
            for topic in self._topics:
                self.create_topic(topic.name, topic.partitions or 1, replication_factor=topic.replicas)
