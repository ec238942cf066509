"""The first metadata records of a new cluster: those that Kafka's `format`, controller and broker
write before the first client connects.

Kafka's order: the leader's control records; one metadata transaction (KIP-868) with the features
and the cluster-wide default of min.insync.replicas (KIP-966); the registration of the controller
(KIP-919); the registration of the broker; and last the record that unfences it (KIP-631).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafkadouble.messages.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.register_broker_record import RegisterBrokerRecord
from kafkadouble.messages.generated.register_controller_record import RegisterControllerRecord
from kafkadouble.messages.uuid import Uuid

from ..metadata.features import ELR, SUPPORTED, new_cluster_features
from ..metadata.image import BROKER, Endpoint
from ..metadata.metadata_transactions import in_transaction
from ..metadata.replay_cluster import UNFENCE


def format_records(features: Mapping[str, int] | None = None) -> list[Any]:
    """The records that a directory is formatted with: the features of a new cluster, by default
    the newest ones.
    """
    if features is None:
        features = new_cluster_features()
    return [FeatureLevelRecord(name=name, feature_level=level) for name, level in features.items()]


def cluster_records(formatted: Sequence[Any], min_insync_replicas: str) -> list[Any]:
    """The first records of a new cluster: the records of the formatted directory and, if the
    cluster has eligible leader replicas, its one initial dynamic configuration.
    """
    records = list(formatted or format_records())
    if any(type(each).__name__ == "FeatureLevelRecord" and each.name == ELR and each.feature_level for each in records):
        name = "min.insync.replicas"
        records.append(ConfigRecord(resource_type=BROKER, resource_name="", name=name, value=min_insync_replicas))
    return in_transaction(records, "Bootstrap records", None)


def controller_record(node_id: int, incarnation_id: Uuid, endpoints: Iterable[Endpoint]) -> RegisterControllerRecord:
    """The registration of a controller with these listeners."""
    end_points = [RegisterControllerRecord.ControllerEndpoint(**endpoint._asdict()) for endpoint in endpoints]
    features = [
        RegisterControllerRecord.ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
        for name, (low, high) in SUPPORTED.items()
    ]
    return RegisterControllerRecord(
        controller_id=node_id, incarnation_id=incarnation_id, end_points=end_points, features=features
    )


def broker_record(
    node_id: int,
    incarnation_id: Uuid,
    endpoints: Iterable[Endpoint],
    *,
    epoch: int,
    rack: str | None,
    log_dirs: Sequence[Uuid],
) -> RegisterBrokerRecord:
    """The registration of a broker, fenced like every new one. `epoch` is the offset that the
    record will have.
    """
    features = [
        RegisterBrokerRecord.BrokerFeature(name=name, min_supported_version=low, max_supported_version=high)
        for name, (low, high) in SUPPORTED.items()
    ]
    return RegisterBrokerRecord(
        broker_id=node_id,
        incarnation_id=incarnation_id,
        broker_epoch=epoch,
        end_points=[RegisterBrokerRecord.BrokerEndpoint(**endpoint._asdict()) for endpoint in endpoints],
        features=features,
        rack=rack,
        fenced=True,
        log_dirs=log_dirs,
    )


def directories_record(node_id: int, epoch: int, log_dirs: Sequence[Uuid]) -> BrokerRegistrationChangeRecord:
    """The record that leaves the broker with only these log directories."""
    return BrokerRegistrationChangeRecord(broker_id=node_id, broker_epoch=epoch, log_dirs=log_dirs)


def unfence_record(node_id: int, epoch: int) -> BrokerRegistrationChangeRecord:
    """The record that unfences a broker that is caught up."""
    return BrokerRegistrationChangeRecord(broker_id=node_id, broker_epoch=epoch, fenced=UNFENCE)
