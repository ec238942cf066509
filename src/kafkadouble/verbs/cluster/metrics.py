"""The properties of KafkaDouble with metrics: its own, and those that clients pushed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafkadouble.brokers.client_metrics_requests import to_set
from kafkadouble.common.errors import UsageError, raise_for
from kafkadouble.common.marking import attribute, verb
from kafkadouble.common.start_options import TELEMETRY

if TYPE_CHECKING:
    from kafkadouble.host.host import Host
    from kafkadouble.seen.telemetry import TelemetryValue


@attribute
@verb
def metrics(host: Host) -> dict[str, Any]:
    """Metrics of the snapshots of the cluster's metadata, by their names in Apache Kafka and
    KIP-630; latencies are in ms. With several brokers these are the metrics of the controller;
    `brokers[1].metrics` are those of a broker."""
    return host.call(lambda: host.serving().broker.node.snapshot_generator.readings())


@verb
def set_client_metrics(host: Host, name: str, config: Mapping[str, object]) -> None:
    """Subscribes to metrics that clients push (KIP-714): `metrics` are prefixes of their names
    or `*`, `interval.ms` is the time between two pushes, and `match` has patterns of clients,
    such as `client_id=shop.*`. An empty `config` removes the subscription.

    Clients push only with `telemetry=True`. Raises KafkaError for what Kafka refuses.
    """
    for response in host.ask(to_set(name, config)).responses:
        raise_for(response.error_code, response.error_message)


@attribute
@verb
def telemetry(host: Host) -> list[TelemetryValue]:
    """The newest metrics that clients pushed (KIP-714), at most 10,000 values, oldest first.
    Works after a stop too. Raises UsageError without `telemetry`."""
    collector = host.telemetry
    if collector is None:
        raise UsageError("metrics of clients are not kept: give {option}", option=TELEMETRY)
    return host.known().on_thread(collector.values)
