"""A double as the control plane, scenarios, the pytest plugin and verbs see it. KafkaDouble is one,
and so is the double of `kafkadouble serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .generated.double_verbs import DoubleVerbs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkadouble.brokers.broker_handle import BrokerHandle
    from kafkadouble.host.host import Host
    from kafkadouble.seen.requests import Requests


class DoubleApi(DoubleVerbs):
    """Every verb, and what else its callers use."""

    is_real = False
    """Whether this is a real Kafka in place of a double, as the pytest plugin gives tests with
    `--kafka-broker`."""

    def __init__(self, host: Host) -> None:
        self._double_host = host

    if TYPE_CHECKING:

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
