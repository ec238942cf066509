"""The items of files that are read whole: producer snapshots, checkpoints, and the files about a
directory or partition."""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.server.log.formats import clean_shutdown as clean_shutdown_format
from kafkadouble.server.log.formats import (
    epoch_checkpoint,
    meta_properties,
    offset_checkpoint,
    partition_metadata,
    producer_snapshot,
    quorum_state,
)

from .file import FileBytes
from .item import ENTRY, Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .options import Options


def producers(data: FileBytes, options: Options) -> Iterator[Item]:
    for entry in producer_snapshot.read(data.whole(), str(data.path)):
        fields = {
            "producerId": entry.producer_id,
            "producerEpoch": entry.epoch,
            "coordinatorEpoch": entry.coordinator_epoch,
            "currentTxnFirstOffset": entry.current_txn_first_offset if entry.current_txn_first_offset >= 0 else None,
            "lastTimestamp": entry.timestamp,
        }
        if entry.last_offset >= 0:
            fields |= {
                "firstSequence": producer_snapshot.first_sequence(entry),
                "lastSequence": entry.last_sequence,
                "lastOffset": entry.last_offset,
                "offsetDelta": entry.offset_delta,
                "timestamp": entry.timestamp,
            }
        yield Item(ENTRY, fields)


def epochs(data: FileBytes, options: Options) -> Iterator[Item]:
    for entry in epoch_checkpoint.read(data.whole(), str(data.path)):
        yield Item(ENTRY, {"epoch": entry.epoch, "startOffset": entry.offset})


def offsets(data: FileBytes, options: Options) -> Iterator[Item]:
    for (topic, partition), offset in offset_checkpoint.read(data.whole(), str(data.path)).items():
        yield Item(ENTRY, {"topic": topic, "partition": partition, "offset": offset})


def topic_id(data: FileBytes, options: Options) -> Iterator[Item]:
    found = partition_metadata.read(data.whole(), str(data.path))
    yield Item(ENTRY, {"version": found.version, "topicId": str(found.topic_id)})


def properties(data: FileBytes, options: Options) -> Iterator[Item]:
    found = meta_properties.read(data.whole(), str(data.path))
    fields = {
        "version": found.version,
        "clusterId": found.cluster_id,
        "nodeId": found.node_id,
        "directoryId": None if found.directory_id is None else str(found.directory_id),
    }
    yield Item(ENTRY, fields)


def clean_shutdown(data: FileBytes, options: Options) -> Iterator[Item]:
    yield Item(ENTRY, {"brokerEpoch": clean_shutdown_format.read(data.whole(), str(data.path))})


def vote(data: FileBytes, options: Options) -> Iterator[Item]:
    state, version = quorum_state.read(data.whole(), str(data.path))
    yield Item(ENTRY, {"version": version, "state": state.to_json(version)})
