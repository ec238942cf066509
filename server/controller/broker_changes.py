"""The records for a change of a broker's state: its own and those of its partitions, in Kafka's
order (KIP-631, KIP-841, KIP-858, KIP-966).

Each function takes the image before the change and returns every record to write, the broker's own
record included. The functions do not check whether the change is allowed: the callers do. A broker
that the change makes ineligible is excluded from leadership although `image` still shows it as
active.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.generated.unregister_broker_record import UnregisterBrokerRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..configs.settings import Settings
from ..metadata.image import BrokerImage, Image
from ..metadata.log_dir_ids import directories_of
from ..metadata.replay_cluster import CONTROLLED_SHUTDOWN, FENCE, UNFENCE
from ..requests.request import Refusal
from .leader_election import NO_LEADER
from .partition_change_builder import PartitionTarget
from .partition_changes import NO_BROKER, ImagePartition, PartitionChanges, partitions_where


def handle_broker_fenced(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker is fenced: it leads no partition and leaves every ISR."""
    broker = image.brokers[broker_id]
    return [*_remove_from_isrs(image, settings, broker_id), _registration_change(broker, fenced=FENCE)]


def handle_broker_unfenced(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker is caught up and is unfenced: it becomes the leader of leaderless partitions where
    it may lead.
    """
    leaderless = partitions_where(image, lambda partition: partition.leader == NO_LEADER)
    changes = _leader_and_isr_updates(PartitionChanges(image, settings, back=broker_id), leaderless)
    return [_registration_change(image.brokers[broker_id], fenced=UNFENCE), *changes]


def handle_broker_in_controlled_shutdown(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker starts a controlled shutdown: other replicas take over its leaderships where there
    are any.
    """
    broker = image.brokers[broker_id]
    own = (
        []
        if broker.in_controlled_shutdown
        else [_registration_change(broker, in_controlled_shutdown=CONTROLLED_SHUTDOWN)]
    )
    return [*own, *_remove_from_isrs(image, settings, broker_id)]


def handle_broker_unregistered(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker is unregistered. Refusal(BROKER_ID_NOT_REGISTERED)."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        message = f"Broker ID {broker_id} is not currently registered"
        raise Refusal(error_codes.BROKER_ID_NOT_REGISTERED, message)
    return [
        *_remove_from_isrs(image, settings, broker_id),
        *_remove_from_elrs(image, PartitionChanges(image, settings, without=broker_id), broker_id),
        UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=broker.epoch),
    ]


def handle_clean_broker_shutdown(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """Records for a broker that registers again after a controlled shutdown; they precede its
    registration.

    The broker stays eligible (KIP-966) where it was in sync. Without the feature of eligible leader
    replicas this is also what `handle_unclean_broker_shutdown` does: then no broker reports how it
    stopped.
    """
    return [*_remove_from_isrs(image, settings, broker_id)]


def handle_unclean_broker_shutdown(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """Records for a broker that registers again and may have lost unflushed records: it is eligible
    nowhere (KIP-966).
    """
    changes = PartitionChanges(image, settings, without=broker_id)
    if not changes.elr:
        return handle_clean_broker_shutdown(image, broker_id, settings)
    return [
        *_remove_from_isrs(image, settings, broker_id, unclean_shutdown_replica=broker_id),
        *_remove_from_elrs(image, changes, broker_id, unclean_shutdown_replica=broker_id),
    ]


def handle_directories_offline(
    image: Image, broker_id: int, settings: Settings, log_dirs: Sequence[Uuid]
) -> list[Message]:
    """These log directories of the broker are offline. No records if that is recorded already, or
    if the broker never had them.
    """
    broker = image.brokers[broker_id]
    failed = [directory for directory in broker.log_dirs if directory in log_dirs]
    if not failed:
        return []
    records: list[Message] = []
    for directory in failed:
        records += isr_updates_without(
            image, broker_id, settings, _partitions_in_directory(image, broker_id, directory)
        )
    left = [directory for directory in broker.log_dirs if directory not in failed]
    return [*records, _registration_change(broker, log_dirs=left)]


def handle_directories_cordoned(image: Image, broker_id: int, log_dirs: Sequence[Uuid] | None) -> list[Message]:
    """The broker's cordoned directories are exactly these; they get no new replicas (KIP-1066).
    None: the broker did not report them.
    """
    broker = image.brokers[broker_id]
    if log_dirs is None or set(log_dirs) == set(broker.cordoned_log_dirs):
        return []
    return [_registration_change(broker, cordoned_log_dirs=log_dirs)]


def leads_partitions(image: Image, broker_id: int) -> bool:
    """Whether the broker leads any partition."""
    return any(True for _ in partitions_where(image, lambda partition: partition.leader == broker_id))


def _partitions_in_directory(image: Image, broker_id: int, directory: Uuid) -> Iterable[ImagePartition]:
    return partitions_where(image, lambda partition: directories_of(partition).get(broker_id) == directory)


def _registration_change(
    broker: BrokerImage,
    *,
    fenced: int = 0,
    in_controlled_shutdown: int = 0,
    log_dirs: Sequence[Uuid] = (),
    cordoned_log_dirs: Sequence[Uuid] | None = None,
) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(
        broker_id=broker.id,
        broker_epoch=broker.epoch,
        fenced=fenced,
        in_controlled_shutdown=in_controlled_shutdown,
        log_dirs=log_dirs,
        cordoned_log_dirs=cordoned_log_dirs,
    )


def _remove_from_isrs(
    image: Image, settings: Settings, broker_id: int, unclean_shutdown_replica: int | None = None
) -> list[PartitionChangeRecord]:
    """Changes of the partitions whose ISR contains the broker."""
    in_sync = partitions_where(image, lambda partition: broker_id in partition.isr)
    return isr_updates_without(image, broker_id, settings, in_sync, unclean_shutdown_replica)


def isr_updates_without(
    image: Image,
    broker_id: int,
    settings: Settings,
    of: Iterable[ImagePartition],
    unclean_shutdown_replica: int | None = None,
) -> list[PartitionChangeRecord]:
    """Changes of these partitions, which continue without the broker's replica."""
    return _leader_and_isr_updates(
        PartitionChanges(image, settings, without=broker_id),
        of,
        without=broker_id,
        unclean_shutdown_replica=unclean_shutdown_replica,
    )


def _remove_from_elrs(
    image: Image, changes: PartitionChanges, broker_id: int, unclean_shutdown_replica: int | None = None
) -> list[PartitionChangeRecord]:
    """Changes of the partitions whose ELR contains the broker."""
    eligible = partitions_where(image, lambda partition: broker_id in partition.elr)
    return _leader_and_isr_updates(
        changes, eligible, without=broker_id, unclean_shutdown_replica=unclean_shutdown_replica
    )


def _leader_and_isr_updates(
    changes: PartitionChanges,
    of: Iterable[ImagePartition],
    *,
    without: int = NO_BROKER,
    unclean_shutdown_replica: int | None = None,
) -> list[PartitionChangeRecord]:
    """Changes of these partitions, each with a new leader if it needs one."""
    records = []
    for partition in of:
        isr = [broker for broker in partition.partition.isr if broker != without]
        target = PartitionTarget(
            isr=isr, election=changes.election(partition.topic), unclean_shutdown_replica=unclean_shutdown_replica
        )
        records += changes.change(partition, target)
    return records
