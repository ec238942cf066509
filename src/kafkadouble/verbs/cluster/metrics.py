"""The properties of KafkaDouble with metrics: its own, and those that clients pushed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import UsageError, raise_for
from kafkadouble.common.marking import verb
from kafkadouble.common.start_options import TELEMETRY
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from kafkadouble.seen.telemetry import TelemetryCollector, TelemetryValue


class MetricVerbs(VerbHost):
    """A part of KafkaDouble."""

    _telemetry: TelemetryCollector | None = None

    @property
    @verb
    def metrics(self) -> dict[str, Any]:
        """Metrics of the snapshots of the cluster's metadata, by their names in Apache Kafka and
        KIP-630; latencies are in ms. With several brokers these are the metrics of the controller;
        `brokers[1].metrics` are those of a broker."""
        return self._call(lambda: self._serving().broker.node.snapshot_generator.readings())

    @verb
    def set_client_metrics(self, name: str, config: Mapping[str, object]) -> None:
        """Subscribes to metrics that clients push (KIP-714): `metrics` are prefixes of their names
        or `*`, `interval.ms` is the time between two pushes, and `match` has patterns of clients,
        such as `client_id=shop.*`. An empty `config` removes the subscription.

        Clients push only with `telemetry=True`. Raises KafkaError for what Kafka refuses.
        """
        from kafkadouble.brokers.client_metrics_requests import to_set

        for response in self._ask(to_set(name, config)).responses:
            raise_for(response.error_code, response.error_message)

    @property
    @verb
    def telemetry(self) -> list[TelemetryValue]:
        """The newest metrics that clients pushed (KIP-714), at most 10,000 values, oldest first.
        Works after a stop too. Raises UsageError without `telemetry`."""
        collector = self._telemetry
        if collector is None:
            raise UsageError("metrics of clients are not kept: give {option}", option=TELEMETRY)
        return self._known().on_thread(collector.values)
