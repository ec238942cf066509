"""The plain reader: reads every batch and record of a log directory with loops, filters them by the
options, and returns rows like those of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafkadouble.server.log.formats import TornTail, names, segment
from kafkadouble.server.log.marker import read_marker
from kafkadouble.wire.batch import BatchHeader, Record, records_of
from kafkadouble.wire.compression import codec_name

NEVER = 2**63 - 1


def partitions(directory: Path) -> list[tuple[str, int, Path]]:
    found = [(names.parse_partition_folder(path.name), path) for path in sorted(directory.iterdir()) if path.is_dir()]
    return [(*parsed, path) for parsed, path in found if parsed]


def batches(folder: Path) -> Iterator[tuple[Path, int, BatchHeader, bytes]]:
    """Every good batch of a partition, with its file and its position in the file."""
    for path in sorted(folder.glob("*.log")):
        data = path.read_bytes()
        try:
            for position, header in segment.walk(data, file=str(path)):
                yield path, position, header, data[position : position + header.size]
        except TornTail:
            return


def records(directory: Path, *, control: bool = False) -> list[dict[str, Any]]:
    """Every record as a row of `level=records`."""
    return [
        _row(topic, index, path, position, header, record)
        for topic, index, folder in partitions(directory)
        for path, position, header, data in batches(folder)
        if control or not header.is_control
        for record in records_of(data, 0, header)
    ]


def _row(topic: str, index: int, path: Path, position: int, header: BatchHeader, record: Record) -> dict[str, Any]:
    sequence = header.base_sequence
    return {
        "key": record.key,
        "value": record.value,
        "topic": topic,
        "partition": index,
        "offset": record.offset,
        "timestamp": record.timestamp * 1000,
        "timestampType": header.timestamp_type,
        "headers": [{"key": key, "value": value} for key, value in record.headers] or None,
        "leader_epoch": header.partition_leader_epoch,
        "base_offset": header.base_offset,
        "batch_position": position,
        "segment": path.name,
        "codec": codec_name(header.compression),
        "transactional": header.is_transactional,
        "control": header.is_control,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "sequence": None if sequence < 0 else sequence + record.offset - header.base_offset,
        "crc_ok": True,
        "replica": str(path.parent.parent),
    }


def committed(directory: Path) -> list[tuple[str, int, int]]:
    """Topic, partition and offset of every record that a read_committed consumer gets, by the
    transaction markers of the whole log."""
    found: list[tuple[str, int, int]] = []
    for topic, index, folder in partitions(directory):
        aborted, stable = _decided(folder)
        for _, _, header, data in batches(folder):
            inside = header.is_transactional and any(
                pid == header.producer_id and first <= header.base_offset <= last for pid, first, last in aborted
            )
            if not header.is_control and not inside:
                found += [(topic, index, each.offset) for each in records_of(data, 0, header) if each.offset < stable]
    return found


def _decided(folder: Path) -> tuple[list[tuple[int, int, int]], int]:
    still_open: dict[int, int] = {}
    aborted: list[tuple[int, int, int]] = []
    for _, _, header, data in batches(folder):
        if header.is_control and header.producer_id >= 0:
            first, marker = still_open.pop(header.producer_id, None), read_marker(data)
            if first is not None and marker is not None and marker.aborted:
                aborted.append((header.producer_id, first, header.base_offset))
        elif header.is_transactional:
            still_open.setdefault(header.producer_id, header.base_offset)
    return aborted, min(still_open.values(), default=NEVER)
