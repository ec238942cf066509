"""In which version each metadata record is written at a level of `metadata.version`, and what cannot be said at a lower one (KIP-584, KIP-778).

Rules. The levels are those at which Kafka 4.4 begins to write a field or a kind. A field that a level does not know falls away, as Kafka leaves
it out there. A kind that it does not know is our caller's error, since a decision must not make one; but registrations of controllers and
the frame of a metadata transaction fall away too: there controllers do not register, and a decision is one batch, which holds as a whole.
BrokerRegistrationChangeRecord has the lowest version that can carry what is said; others have the highest that their level knows.
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
from .release import NAMES

NEWEST: Final = max(NAMES)

MIGRATION, SCRAM, TRANSACTIONS, TOKENS, CONTROLLERS, DIRECTORIES, ELR, CORDONED, CIDR, UNREGISTERING = (
    8, 11, 13, 14, 15, 17, 23, 30, 32, 33,
)  # fmt: skip
"""The levels from which there are the migration from ZooKeeper (KIP-866), credentials (KIP-900), metadata transactions (KIP-868), delegation
tokens, registrations of controllers (KIP-919), log directories (KIP-858), eligible leader replicas (KIP-966), cordoned directories (KIP-1066),
ACLs of hosts by CIDR, and controllers that unregister."""

VERSIONS = {  # kind -> level -> the version from there on, the highest level first
    "RegisterBrokerRecord": {CORDONED: 4, DIRECTORIES: 3, MIGRATION: 2, 0: 1},
    "PartitionRecord": {ELR: 2, DIRECTORIES: 1, 0: 0},
    "PartitionChangeRecord": {ELR: 2, DIRECTORIES: 1, 0: 0},
}

FIELDS: dict[str, dict[str, tuple[int, Any]]] = {  # kind -> field -> the level that brought it, and what says nothing
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

FALL_AWAY = ("RegisterControllerRecord", "BeginTransactionRecord", "EndTransactionRecord")


def level_of(image: Image) -> int:
    """The image's `metadata.version`; one without is written as of today, so that nothing is lost."""
    return image.features.get(METADATA_VERSION, NEWEST)


def record_version(record: Message, level: int = NEWEST) -> int:
    """The version to write `record` in, whose fields are those of the level."""
    kind = type(record).__name__
    if kind == "BrokerRegistrationChangeRecord":
        return _change_version(record)
    for since, version in VERSIONS.get(kind, {}).items():
        if level >= since:
            return version
    return 0


def _change_version(record: Any) -> int:
    if record.cordoned_log_dirs is not None:
        return 3
    if record.log_dirs:
        return 2
    return 1 if record.in_controlled_shutdown else 0


def batch_level(records: Iterable[Any], level: int | None) -> int:
    """The level at which a batch of records is written where the image has `level`; that of the records themselves where it has none, which
    begin it, or the newest."""
    if level is not None:
        return level
    told = (each for each in records if type(each).__name__ == "FeatureLevelRecord" and each.name == METADATA_VERSION)
    return next((each.feature_level for each in told), NEWEST)


def said(records: Sequence[Message], level: int) -> list[Message]:
    """The records as they can be said at the level: those that are to be folded, and written. UsageError for a kind that there is not."""
    return [_cut(record, level) for record in records if _is_said(record, level)]


def carries_all(kind: type[Message], level: int) -> bool:
    """Whether every record of a kind can be said at the level as it is."""
    fields = FIELDS.get(kind.__name__, {})
    return level >= KINDS.get(kind.__name__, 0) and all(level >= since for since, _ in fields.values())


def unsaid_fields(record: Message, level: int) -> list[str]:
    """The fields that say something which the level cannot carry. Directories may all be unknown: their absence says the same."""
    return [name for name, value in _too_new(record, level) if any(each != Uuid.ZERO for each in value or ())]


def _too_new(record: Message, level: int) -> list[tuple[str, Any]]:
    fields = FIELDS.get(type(record).__name__, {})
    return [(name, getattr(record, name)) for name, (since, _) in fields.items() if level < since]


def _cut(record: Message, level: int) -> Message:
    nothing = {name: FIELDS[type(record).__name__][name][1] for name, _ in _too_new(record, level)}
    if all(getattr(record, name) == value for name, value in nothing.items()):
        return record
    left = copy(record)
    for name, value in nothing.items():
        setattr(left, name, value)
    return left


def _is_said(record: Message, level: int) -> bool:
    kind = type(record).__name__
    since = KINDS.get(kind, 0)
    if level < since and kind not in FALL_AWAY:
        raise UsageError(f"{METADATA_VERSION} {level} has no {kind}: it came with {since}")
    return level >= since
