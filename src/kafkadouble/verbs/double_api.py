"""A double as the control plane, scenarios, the pytest plugin and verbs see it. KafkaDouble is one,
and so is the double of `kafkadouble serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .addresses import AddressVerbs
from .administration import AdministrationVerbs
from .brokers import BrokerVerbs
from .clock import ClockVerbs
from .double import DoubleVerbs
from .faults import FaultVerbs
from .groups import GroupVerbs
from .lint import LintVerbs
from .logs import LogVerbs
from .metrics import MetricVerbs
from .partitions import PartitionVerbs
from .quotas import QuotaVerbs
from .reporting import ReportVerbs
from .security import SecurityVerbs
from .snapshots import SnapshotVerbs
from .topics import TopicVerbs
from .transactions import TransactionVerbs
from .waiting import WaitVerbs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kafkadouble.brokers import BrokerHandle
    from kafkadouble.requests import Requests
    from kafkadouble.running import Running
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
