"""The contents of the metadata logs of stopped controllers: batches as bytes, and snapshots as
metadata images.

Two replicas write their snapshots at different times and in different order, so these are not
compared as bytes. A snapshot is right if its image equals the log replayed up to the snapshot's end
offset.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats import names
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata import image_snapshots
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.server.metadata.replay import MetadataDelta
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.wire.batch import BatchHeader, iter_batches

from .node import METADATA, Node


class Stored(NamedTuple):
    """A batch as it is stored in a file."""

    header: BatchHeader
    data: bytes


def batches(folder: Path) -> list[Stored]:
    """All batches of a log, without an incomplete one at the end that a kill left."""
    found = []
    for path in sorted(folder.glob("*" + names.LOG)):
        data = path.read_bytes()
        for at, header in iter_batches(data, partial=True):
            if not header.size or not header.count:
                break
            found.append(Stored(header, data[at : at + header.size]))
    return found


class Common(NamedTuple):
    """The common part of several logs: batches from one offset to another, written in these
    epochs."""

    first: int
    end: int
    batches: int
    epochs: tuple[int, ...]


def same(nodes: Sequence[Node], end: int) -> Common:
    """Asserts that the logs of these stopped nodes are equal byte for byte up to `end`, from the
    first offset that all of them have."""
    logs = {node.id: batches(node.metadata) for node in nodes}
    first = max(stored[0].header.base_offset for stored in logs.values())
    parts = {id: [each for each in log if first <= each.header.base_offset < end] for id, log in logs.items()}
    for id, part in parts.items():
        assert part, f"nothing lies in common before {end}"
        assert part[-1].header.next_offset >= end, f"{part[-1].header!r} is the last of {id}, and {end} was committed"
    one, *others = parts.items()
    for id, found in others:
        for ours, theirs in zip(one[1], found, strict=True):
            assert ours.data == theirs.data, f"node {one[0]} has {ours.header!r}, node {id} has {theirs.header!r}"
    epochs = sorted({each.header.partition_leader_epoch for each in one[1]})
    return Common(first, end, len(one[1]), tuple(epochs))


def snapshot_ids(node: Node) -> list[OffsetAndEpoch]:
    """The ids of its snapshots, except for the one that formatting wrote."""
    return [id for id in _store(node).ids() if id.offset]


def true_snapshots(nodes: Sequence[Node]) -> int:
    """Asserts that every snapshot of these stopped nodes equals the replayed log; returns their
    number. One of the nodes must have the log from the first record on."""
    whole = max((log for node in nodes if (log := batches(node.metadata))[0].header.base_offset == 0), key=len)
    snapshots: dict[int, list[tuple[Node, OffsetAndEpoch]]] = {}
    for node in nodes:
        for id in snapshot_ids(node):
            snapshots.setdefault(id.offset, []).append((node, id))
    count = sum(map(len, snapshots.values()))
    for end, image in _images(whole):
        for node, id in snapshots.pop(end, ()):
            found = image_in(node, id)
            assert _plain(found) == _plain(image), f"snapshot {id!r} of node {node.id} is not the fold of the log"
    assert not snapshots, f"no batch ends where these do: {snapshots}"
    return count


def image_in(node: Node, id: OffsetAndEpoch) -> Image:
    reader = _store(node).open(id)
    assert reader is not None
    return image_snapshots.load_image(reader)


def image_of(node: Node) -> Image:
    """The image of the whole log of a node, which must have it from the first record on."""
    return deque(_images(batches(node.metadata)), maxlen=1).pop()[1]


def _images(log: Sequence[Stored]) -> Iterator[tuple[int, Image]]:
    """The image after each batch of a log that begins with the first record."""
    fold = MetadataDelta()
    for stored in log:
        for batch in decode_batches(stored.data):
            for record in batch.records:
                fold.replay(record)
            yield batch.end.offset, fold.image


def _plain(image: Image) -> Image:
    """Without the position in the log, which a replayed image does not have."""
    return image._replace(end=OffsetAndEpoch(0, 0))


def _store(node: Node) -> FileSnapshotStore:
    return FileSnapshotStore(RealDisk(str(node.data)), METADATA)
