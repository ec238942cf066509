"""A double as the control plane, scenarios, the pytest plugin and verbs see it. KafkaDouble is one,
and so is the double of `kafkadouble serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cluster.addresses import AddressVerbs
from .cluster.brokers import BrokerVerbs
from .cluster.clock import ClockVerbs
from .cluster.double import DoubleVerbs
from .cluster.lint import LintVerbs
from .cluster.logs import LogVerbs
from .cluster.metrics import MetricVerbs
from .cluster.quotas import QuotaVerbs
from .cluster.reporting import ReportVerbs
from .cluster.security import SecurityVerbs
from .cluster.snapshots import SnapshotVerbs
from .content.administration import AdministrationVerbs
from .content.groups import GroupVerbs
from .content.partitions import PartitionVerbs
from .content.topics import TopicVerbs
from .content.transactions import TransactionVerbs
from .content.waiting import WaitVerbs
from .faults.faults import FaultVerbs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kafkadouble.brokers.broker_handle import BrokerHandle
    from kafkadouble.engine.running import Running
    from kafkadouble.seen.requests import Requests
    from kafkadouble.server.tracing.history import History, SeenRequest


class DoubleApi(
    AdministrationVerbs,
    AddressVerbs,
    TopicVerbs,
    PartitionVerbs,
    LogVerbs,
    GroupVerbs,
    QuotaVerbs,
    SecurityVerbs,
    TransactionVerbs,
    BrokerVerbs,
    FaultVerbs,
    ClockVerbs,
    WaitVerbs,
    LintVerbs,
    SnapshotVerbs,
    MetricVerbs,
    ReportVerbs,
    DoubleVerbs,
):
    """Every verb, and what else its callers use."""

    if TYPE_CHECKING:
        _running: Running | None

        @property
        def brokers(self) -> Mapping[int, BrokerHandle]:
            """The brokers of the cluster, by id."""

        @property
        def requests(self) -> Requests:
            """The latest requests of clients."""

        @property
        def aio(self) -> Any:
            """The verbs as coroutines, an AsyncWaits."""

        @property
        def page(self) -> str:
            """The URL of the live page."""

        def _look(self, at: Callable[[History], list[SeenRequest]]) -> list[SeenRequest]:
            """What a function finds in the history of requests."""
