"""BrokerRegistration: registers a broker, fenced, or updates the registration of the same
incarnation (KIP-631, KIP-858, KIP-966).

An incarnation is one run of the broker's process. Another incarnation may take the id once the
previous one has no session. The same batch first cleans up after the previous incarnation: its
replicas leave every ISR and, unless it proves a controlled shutdown with the epoch of its last
registration, every ELR. An update by the same incarnation keeps the epoch, the fencing and the
controlled shutdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest
from kafkadouble.messages.generated.register_broker_record import RegisterBrokerRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..metadata.features import METADATA_VERSION
from ..metadata.image import BrokerImage, Image
from ..metadata.record_versions import DIRECTORIES, level_of
from ..requests.request import Refusal
from . import broker_changes
from .advertised_listeners import checked_endpoints
from .broker_context import BrokerContext

KRAFT_VERSION = "kraft.version"

PREVIOUS_EPOCH_FROM = 3
"""The first version that names the broker epoch of the last controlled shutdown."""

NO_PREVIOUS_EPOCH = -2
"""The epoch of a broker that was never registered: no request names it."""

RESERVED_DIRECTORY_IDS = 100
"""Directory ids below this number are reserved."""


class ClusterIdentity(NamedTuple):
    """The cluster that a broker must fit to. `kraft_version` is the quorum's."""

    id: str
    kraft_version: int


class BrokerRegistrationResult(NamedTuple):
    """The records of a registration, and the broker epoch: the offset of the first of them."""

    records: list[Message]
    epoch: int


def register_broker(
    context: BrokerContext, cluster: ClusterIdentity, body: BrokerRegistrationRequest, version: int
) -> BrokerRegistrationResult:
    """Handles BrokerRegistration. Refusal with the code of the first failed check."""
    image, heartbeats = context.image, context.heartbeats
    last = image.brokers.get(body.broker_id)
    amended = last if last is not None and last.incarnation_id == body.incarnation_id else None
    if body.cluster_id != cluster.id:
        message = f"Expected cluster ID {cluster.id}, but got cluster ID {body.cluster_id}"
        raise Refusal(error_codes.INCONSISTENT_CLUSTER_ID, message)
    if body.broker_id < 0:  # Kafka accepts -1 and fails later: it means "no broker".
        raise _invalid(f"{body.broker_id} is no broker id")
    if last is not None and amended is None and heartbeats.has_valid_session(last, context.now):
        raise Refusal(error_codes.DUPLICATE_BROKER_REGISTRATION, "Another broker is registered with that broker id.")
    if body.is_migrating_zk_broker:
        raise Refusal(error_codes.BROKER_ID_NOT_REGISTERED, "Controller does not support registering ZK brokers.")
    record = _registration_record(image, body)
    _check_features(image, cluster.kraft_version, body)
    records: list[Message] = []
    if amended is not None:
        record.fenced, record.in_controlled_shutdown = amended.fenced, amended.in_controlled_shutdown
        record.broker_epoch = amended.epoch
    else:
        records += _previous_registration_records(context, last, body, version)
        record.broker_epoch = context.end
    heartbeats.register(body.broker_id, record.broker_epoch, context.end + len(records))
    return BrokerRegistrationResult([*records, record], record.broker_epoch)


def _registration_record(image: Image, body: BrokerRegistrationRequest) -> RegisterBrokerRecord:
    log_dirs = _checked_directories(image, body) if level_of(image) >= DIRECTORIES else []
    return RegisterBrokerRecord(
        broker_id=body.broker_id,
        incarnation_id=body.incarnation_id,
        rack=body.rack,
        end_points=[
            RegisterBrokerRecord.BrokerEndpoint(**endpoint._asdict()) for endpoint in checked_endpoints(body.listeners)
        ],
        features=[
            RegisterBrokerRecord.BrokerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in body.features
        ],
        log_dirs=log_dirs,
    )


def _checked_directories(image: Image, body: BrokerRegistrationRequest) -> list[Uuid]:
    log_dirs = list(body.log_dirs)
    if not log_dirs:
        raise _invalid("No directories specified in request")
    if any(_is_reserved(each) for each in log_dirs):
        raise _invalid("Reserved directory ID in request")
    if len(set(log_dirs)) != len(log_dirs):
        raise _invalid("Duplicate directory ID in request")
    owners = {
        each: broker.id for broker in image.brokers.values() if broker.id != body.broker_id for each in broker.log_dirs
    }
    for each in log_dirs:
        if each in owners:
            raise _invalid(f"Broker {owners[each]} is already registered with directory {each}")
    return log_dirs


def _is_reserved(directory: Uuid) -> bool:
    """As in Kafka: the first eight bytes are zero, and the last eight are a signed number below
    100.
    """
    return not any(directory[:8]) and int.from_bytes(directory[8:], "big", signed=True) < RESERVED_DIRECTORY_IDS


def _check_features(image: Image, kraft_version: int, body: BrokerRegistrationRequest) -> None:
    finalized = {**image.features, KRAFT_VERSION: kraft_version}
    for feature in body.features:
        _check_feature(finalized, feature.name, feature.min_supported_version, feature.max_supported_version)
    named = {feature.name for feature in body.features}
    if METADATA_VERSION not in named:
        raise _invalid(f"Request features do not contain '{METADATA_VERSION}'")
    for name, level in finalized.items():
        if level and name not in named:
            _check_feature(finalized, name, 0, 0)


def _check_feature(finalized: Mapping[str, int], name: str, lowest: int, highest: int) -> None:
    level = finalized.get(name, 0)
    if not lowest <= level <= highest:
        supported = f"The broker wants a version between {lowest} and {highest}, inclusive."
        message = (
            f"Unable to register because the broker does not support finalized version {level} of {name}. {supported}"
        )
        raise Refusal(error_codes.UNSUPPORTED_VERSION, message)


def _previous_registration_records(
    context: BrokerContext, last: BrokerImage | None, body: BrokerRegistrationRequest, version: int
) -> list[Message]:
    """Records that clean up after the previous incarnation of the broker."""
    epoch = NO_PREVIOUS_EPOCH if last is None else last.epoch
    ended_well = version >= PREVIOUS_EPOCH_FROM and body.previous_broker_epoch == epoch
    clean_up = (
        broker_changes.handle_clean_broker_shutdown if ended_well else broker_changes.handle_unclean_broker_shutdown
    )
    return clean_up(context.image, body.broker_id, context.settings)


def _invalid(message: str) -> Refusal:
    return Refusal(error_codes.INVALID_REGISTRATION, message)
