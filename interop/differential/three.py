"""Two clusters of three brokers, one of kafkadouble and one of Apache Kafka, each broker and each
controller a process of its own.

Rules. The controllers are not brokers, so that a change to a broker moves no controller. A deed is
complete when every running broker knows of it. Both clusters have the same settings; broker 1 is in
rack `a`, 2 in `b` and 3 in `c`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from interop.controllers import mixed, plan
from interop.controllers.kinds import DOUBLE, KAFKA, Kind
from interop.controllers.mixed import Mixed
from tests.support.waiting import eventually

from .brokers import SETTINGS
from .script import Deed
from .settle import mark
from .side import LONG_PATIENCE, Side

BROKERS = 3

OVERRIDES = {
    **{key: str(value) for key, value in SETTINGS.items()},
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "false",
    "broker.session.timeout.ms": "9000",
    "replica.fetch.wait.max.ms": "100",
}
"""Preferred leaders are not elected automatically, so that scripts decide which broker leads.
Sessions are long enough that no live broker is fenced on a busy machine."""

_marks = count(100_000)

PATIENCE = 60.0
"""Seconds within which all brokers must know of a deed: as long as many sessions."""


class Clusters:
    """The two clusters, ours first."""

    def __init__(self, clusters: list[Mixed]) -> None:
        self._clusters = clusters
        ours, theirs = clusters
        self.sides = Side("kafkadouble", ours.bootstrap, LONG_PATIENCE), Side("Kafka", theirs.bootstrap, LONG_PATIENCE)
        for side in self.sides:
            for id in range(1, 1 + BROKERS):
                eventually(partial(_lists_broker, side, id, running=True))

    def do(self, deed: Deed) -> None:
        """Applies the deed to both, at the same time."""
        for cluster in self._clusters:
            node = cluster.node(deed.broker)
            deeds: dict[str, Callable[[], None]] = {"kill": node.kill, "stop": node.stop, "start": node.begin}
            if deed.verb in deeds:
                deeds[deed.verb]()
        for cluster in self._clusters if deed.verb == "start" else ():
            cluster.node(deed.broker).wait_ready()
        for side in self.sides:
            side.is_running(deed.broker, deed.verb == "start")
            if deed.verb in ("gone", "start"):
                eventually(partial(_lists_broker, side, deed.broker, deed.verb == "start"))
                mark(side, str(next(_marks)))


@contextmanager
def three(folder: Path) -> Iterator[Clusters]:
    """Raises Missing."""
    with ExitStack() as stack:
        yield Clusters(
            [stack.enter_context(_three(folder / name, kind)) for name, kind in (("ours", DOUBLE), ("theirs", KAFKA))]
        )


@contextmanager
def _three(folder: Path, kind: Kind) -> Iterator[Mixed]:
    brokers = [plan.broker(n, kind, broker_rack="abc"[n]) for n in range(BROKERS)]
    with mixed.mixed(folder, plan.controller(0, kind), *brokers, overrides=OVERRIDES) as cluster:
        yield cluster


def _lists_broker(side: Side, id: int, running: bool) -> bool:
    """Whether all running brokers list the broker, or, if `running` is false, none does."""
    answers = [side.ask(f"deeds@{each}", "DescribeCluster", 1, {"endpointType": 1}) for each in sorted(side.running)]
    return all((f"'brokerId': {id}" in str(answer)) == running for answer in answers)
