"""The version of each metadata record at a `metadata.version`, and what lower levels cannot express
(KIP-584, KIP-778).

The levels are those at which Kafka 4.4 starts to write a field or a kind of record. A field that
the level does not have is dropped, as in Kafka. A kind that it does not have is an error of the
caller, who must not create it; but controller registrations and the frame of a metadata transaction
are dropped: at such levels controllers do not register, and a change is one batch anyway.
BrokerRegistrationChangeRecord has the lowest version that fits its fields; other records have the
highest version of the level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Final

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

from .features import METADATA_VERSION
from .image import Image
from .metadata_versions import NAMES

NEWEST: Final = max(NAMES)

MIGRATION, SCRAM, TRANSACTIONS, TOKENS, CONTROLLERS, DIRECTORIES, ELR, CORDONED, CIDR, UNREGISTERING = (
    8, 11, 13, 14, 15, 17, 23, 30, 32, 33,
)  # fmt: skip
"""The levels that added: the migration from ZooKeeper (KIP-866), SCRAM credentials (KIP-900),
metadata transactions (KIP-868), delegation tokens, controller registrations (KIP-919), log
directories (KIP-858), eligible leader replicas (KIP-966), cordoned directories (KIP-1066), CIDR
hosts in ACLs, and the unregistration of controllers.
"""

VERSIONS = {  # kind -> level -> the version from there on, the highest level first
    "RegisterBrokerRecord": {CORDONED: 4, DIRECTORIES: 3, MIGRATION: 2, 0: 1},
    "PartitionRecord": {ELR: 2, DIRECTORIES: 1, 0: 0},
    "PartitionChangeRecord": {ELR: 2, DIRECTORIES: 1, 0: 0},
}

# kind -> field -> the level that brought it, and what says nothing
FIELDS: dict[str, dict[str, tuple[int, Any]]] = {
    "RegisterBrokerRecord": {"log_dirs": (DIRECTORIES, ()), "cordoned_log_dirs": (CORDONED, None)},
    "BrokerRegistrationChangeRecord": {"log_dirs": (DIRECTORIES, ()), "cordoned_log_dirs": (CORDONED, None)},
    "PartitionRecord": {
        "directories": (DIRECTORIES, ()),
        "eligible_leader_replicas": (ELR, None),
        "last_known_elr": (ELR, None),
    },
    "PartitionChangeRecord": {
        "directories": (DIRECTORIES, None),
        "eligible_leader_replicas": (ELR, None),
        "last_known_elr": (ELR, None),
    },
}

KINDS = {  # kind -> the level that brought it
    "ZkMigrationStateRecord": MIGRATION,
    "UserScramCredentialRecord": SCRAM,
    "RemoveUserScramCredentialRecord": SCRAM,
    "BeginTransactionRecord": TRANSACTIONS,
    "EndTransactionRecord": TRANSACTIONS,
    "AbortTransactionRecord": TRANSACTIONS,
    "DelegationTokenRecord": TOKENS,
    "RemoveDelegationTokenRecord": TOKENS,
    "RegisterControllerRecord": CONTROLLERS,
    "ClearElrRecord": ELR,
    "UnregisterControllerRecord": UNREGISTERING,
}

OMITTED_KINDS = ("RegisterControllerRecord", "BeginTransactionRecord", "EndTransactionRecord")


def level_of(image: Image) -> int:
    """The image's `metadata.version`; without one the newest, so that nothing is lost."""
    return image.features.get(METADATA_VERSION, NEWEST)


def record_version(record: Any, level: int = NEWEST) -> int:
    """The version in which to write `record`, whose fields fit the level."""
    kind = type(record).__name__
    if kind == "BrokerRegistrationChangeRecord":
        if record.cordoned_log_dirs is not None:
            return 3
        if record.log_dirs:
            return 2
        return 1 if record.in_controlled_shutdown else 0
    for since, version in VERSIONS.get(kind, {}).items():
        if level >= since:
            return version
    return 0


def batch_level(records: Iterable[Any], level: int | None) -> int:
    """The level at which a batch is written after an image of this `level`. Without one it is the
    level that the records themselves set, or the newest.
    """
    if level is not None:
        return level
    level_records = (
        each for each in records if type(each).__name__ == "FeatureLevelRecord" and each.name == METADATA_VERSION
    )
    return next((record.feature_level for record in level_records), NEWEST)


def records_at_level(records: Sequence[Message], level: int) -> list[Message]:
    """The records as the level can express them, to replay and to write. UsageError for a kind of
    record that the level does not have.
    """
    return [_without_newer_fields(record, level) for record in records if _exists_at(record, level)]


def supports_all_fields(kind: type[Message], level: int) -> bool:
    """Whether the level can express every record of this kind completely."""
    fields = FIELDS.get(kind.__name__, {})
    return level >= KINDS.get(kind.__name__, 0) and all(level >= since for since, _ in fields.values())


def unsupported_fields(record: Message, level: int) -> list[str]:
    """The fields with a value that the level cannot express. Directories that are all unknown have
    no value.
    """
    return [name for name, value in _newer_fields(record, level) if any(each != Uuid.ZERO for each in value or ())]


def _newer_fields(record: Message, level: int) -> list[tuple[str, Any]]:
    fields = FIELDS.get(type(record).__name__, {})
    return [(name, getattr(record, name)) for name, (since, _) in fields.items() if level < since]


def _without_newer_fields(record: Message, level: int) -> Message:
    nothing = {name: FIELDS[type(record).__name__][name][1] for name, _ in _newer_fields(record, level)}
    if all(getattr(record, name) == value for name, value in nothing.items()):
        return record
    left = copy(record)
    for name, value in nothing.items():
        setattr(left, name, value)
    return left


def _exists_at(record: Message, level: int) -> bool:
    kind = type(record).__name__
    since = KINDS.get(kind, 0)
    if level < since and kind not in OMITTED_KINDS:
        raise UsageError(f"{METADATA_VERSION} {level} has no {kind}: it came with {since}")
    return level >= since
