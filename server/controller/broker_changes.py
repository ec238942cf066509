"""What becomes of the partitions when something becomes of a broker: the records, in Kafka's order (KIP-631, KIP-841, KIP-858, KIP-966).

Each function takes the image as it was before, and says everything that must be written, the broker's own record included; none of them asks
whether the broker had any business to be where it is: that is the business of those who call. A broker that stays in `image` as it was is not
among the leaders of what is decided about it.
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
from ..metadata.fold_cluster import CONTROLLED_SHUTDOWN, FENCE, UNFENCE
from ..metadata.image import BrokerImage, Image
from ..metadata.log_dir_ids import directories_of
from ..requests.request import Refusal
from .leader_choice import NO_LEADER
from .partition_change import Wish
from .partition_changes import NOBODY, Changes, Place, places


def fenced(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker is not to be reached: it leads nothing, is in sync nowhere, and shows nowhere."""
    broker = image.brokers[broker_id]
    return [*_left_behind(image, settings, broker_id), _changed(broker, fenced=FENCE)]


def unfenced(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker is there, and caught up: it leads what nobody leads and it can."""
    leaderless = places(image, lambda partition: partition.leader == NO_LEADER)
    changes = _looked_at(Changes(image, settings, back=broker_id), leaderless)
    return [_changed(image.brokers[broker_id], fenced=UNFENCE), *changes]


def shutting_down(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker wants to stop: others lead what it led, if there are any."""
    broker = image.brokers[broker_id]
    own = [] if broker.in_controlled_shutdown else [_changed(broker, in_controlled_shutdown=CONTROLLED_SHUTDOWN)]
    return [*own, *_left_behind(image, settings, broker_id)]


def unregistered(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker is no more. Refusal(BROKER_ID_NOT_REGISTERED) when it never was."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        said = f"Broker ID {broker_id} is not currently registered"
        raise Refusal(error_codes.BROKER_ID_NOT_REGISTERED, said)
    return [
        *_left_behind(image, settings, broker_id),
        *_eligible_looked_at(image, Changes(image, settings, without=broker_id), broker_id),
        UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=broker.epoch),
    ]


def clean_restart(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """A new life of the broker registers, and says that the one before ended well: it stays eligible where it was in sync.

    The records go before that of the registration. The same as `unclean_restart` without the feature of eligible leader replicas, under which
    nobody asks how a life ended.
    """
    return [*_left_behind(image, settings, broker_id)]


def unclean_restart(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """A new life of the broker registers, and the one before may have lost what was not flushed: it is eligible nowhere (KIP-966)."""
    changes = Changes(image, settings, without=broker_id)
    if not changes.elr:
        return clean_restart(image, broker_id, settings)
    return [
        *_left_behind(image, settings, broker_id, forgetful=broker_id),
        *_eligible_looked_at(image, changes, broker_id, forgetful=broker_id),
    ]


def directories_failed(image: Image, broker_id: int, settings: Settings, log_dirs: Sequence[Uuid]) -> list[Message]:
    """These directories of the broker are offline. Nothing, when it has told so before, or never had them."""
    broker = image.brokers[broker_id]
    failed = [directory for directory in broker.log_dirs if directory in log_dirs]
    if not failed:
        return []
    records: list[Message] = []
    for directory in failed:
        records += gone_on_without(image, broker_id, settings, _lying_in(image, broker_id, directory))
    left = [directory for directory in broker.log_dirs if directory not in failed]
    return [*records, _changed(broker, log_dirs=left)]


def directories_cordoned(image: Image, broker_id: int, log_dirs: Sequence[Uuid] | None) -> list[Message]:
    """These directories of the broker, and no others, are to get nothing new (KIP-1066). None: it said nothing of them."""
    broker = image.brokers[broker_id]
    if log_dirs is None or set(log_dirs) == set(broker.cordoned_log_dirs):
        return []
    return [_changed(broker, cordoned_log_dirs=log_dirs)]


def leads_something(image: Image, broker_id: int) -> bool:
    """Whether the broker still leads a partition."""
    return any(True for _ in places(image, lambda partition: partition.leader == broker_id))


def _lying_in(image: Image, broker_id: int, directory: Uuid) -> Iterable[Place]:
    return places(image, lambda partition: directories_of(partition).get(broker_id) == directory)


def _changed(
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


def _left_behind(
    image: Image, settings: Settings, broker_id: int, forgetful: int | None = None
) -> list[PartitionChangeRecord]:
    """The partitions in which the broker is in sync go on without it."""
    in_sync = places(image, lambda partition: broker_id in partition.isr)
    return gone_on_without(image, broker_id, settings, in_sync, forgetful)


def gone_on_without(
    image: Image, broker_id: int, settings: Settings, of: Iterable[Place], forgetful: int | None = None
) -> list[PartitionChangeRecord]:
    """These partitions go on without the replica that the broker has of them."""
    return _looked_at(Changes(image, settings, without=broker_id), of, without=broker_id, forgetful=forgetful)


def _eligible_looked_at(
    image: Image, changes: Changes, broker_id: int, forgetful: int | None = None
) -> list[PartitionChangeRecord]:
    """The partitions in which the broker was eligible, out of sync."""
    eligible = places(image, lambda partition: broker_id in partition.elr)
    return _looked_at(changes, eligible, without=broker_id, forgetful=forgetful)


def _looked_at(
    changes: Changes, of: Iterable[Place], *, without: int = NOBODY, forgetful: int | None = None
) -> list[PartitionChangeRecord]:
    """Each of these partitions, changed as it has to be."""
    records = []
    for place in of:
        isr = [broker for broker in place.partition.isr if broker != without]
        wish = Wish(isr=isr, election=changes.election(place.topic), forgetful=forgetful)
        records += changes.change(place, wish)
    return records
