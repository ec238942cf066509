"""The kind of a file, by its own name and its folder's, as Kafka names them."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from kafkadouble.messages.show import KINDS as DECODERS
from kafkadouble.server.log.formats import names

METADATA_TOPIC = "__cluster_metadata"
_TOPICS = {
    METADATA_TOPIC: "metadata",
    "__consumer_offsets": "offsets",
    "__transaction_state": "transactions",
    "__share_group_state": "share",
}
_MARK = re.compile(r"\.(?:deleted|cleaned|swap|part)\Z")
RAW = DECODERS[0]


class Kind(Enum):
    """The kinds of files that Kafka keeps in a log directory."""

    LOG = names.LOG
    CHECKPOINT = names.CHECKPOINT
    INDEX = names.INDEX
    TIME_INDEX = names.TIME_INDEX
    TXN_INDEX = names.TXN_INDEX
    SNAPSHOT = names.SNAPSHOT
    LEADER_EPOCH = names.LEADER_EPOCH
    OFFSETS = "offset-checkpoint"
    PARTITION_METADATA = names.PARTITION_METADATA
    META_PROPERTIES = names.META_PROPERTIES
    CLEAN_SHUTDOWN = names.CLEAN_SHUTDOWN
    QUORUM_STATE = names.QUORUM_STATE


_SUFFIXES = (Kind.LOG, Kind.CHECKPOINT, Kind.TIME_INDEX, Kind.TXN_INDEX, Kind.INDEX, Kind.SNAPSHOT)
_NAMES = {
    **dict.fromkeys(names.OFFSET_CHECKPOINTS, Kind.OFFSETS),
    names.LEADER_EPOCH: Kind.LEADER_EPOCH,
    names.PARTITION_METADATA: Kind.PARTITION_METADATA,
    names.META_PROPERTIES: Kind.META_PROPERTIES,
    names.CLEAN_SHUTDOWN: Kind.CLEAN_SHUTDOWN,
    names.QUORUM_STATE: Kind.QUORUM_STATE,
}


def kind_of(path: Path) -> Kind | None:
    """The kind of a file; None for a name that is not one of Kafka's."""
    if path.name in _NAMES:
        return _NAMES[path.name]
    plain = _MARK.sub("", path.name)
    return next((kind for kind in _SUFFIXES if plain.endswith(kind.value)), None)


def base_offset_of(path: Path) -> int | None:
    """The offset in the name of a segment's file."""
    found = names.parse_file(path.name)
    return None if found is None else found[0]


def decoder_of(path: Path) -> str:
    """The kind of records in a log (`messages.show.KINDS`), by the name of its folder; a
    `.checkpoint` holds metadata."""
    if kind_of(path) is Kind.CHECKPOINT:
        return "metadata"
    folder = path.absolute().parent.name
    partition = names.parse_partition_folder(folder) or names.parse_marked_folder(folder)
    return _TOPICS.get(partition[0], RAW) if partition else RAW
