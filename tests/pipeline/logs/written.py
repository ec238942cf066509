"""Logs in the format of our own server, with what the tests need: segments, codecs, epochs,
transactions, timestamps out of order."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from kafkadouble.server.log.formats import names, offset_index, producer_snapshot, time_index, txn_index
from kafkadouble.server.log.formats.producer_snapshot import Entry
from kafkadouble.server.log.transactions import AbortedTransaction
from kafkadouble.wire.batch import ABORT, COMMIT, Record, encode_batch, encode_control_batch
from kafkadouble.wire.batch_walk import read_header

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "log_directory"
NOW = 1_700_000_000_000
FIRST = names.segment_name(0) + names.LOG


def batch(first: int, count: int, epoch: int = 0, *, at: int | None = None, size: int = 8, **how: object) -> bytes:
    """Records a millisecond apart. `at` is the first record's timestamp, if given; `size`
    determines the length of the values."""
    start = NOW + first if at is None else at
    made = [
        Record(
            first + number,
            start + number,
            b"%d" % number if number % 3 else None,
            b"%d" % (first + number) * size,
            (("h", b"x"),) * (number % 2),
        )
        for number in range(count)
    ]
    return bytes(encode_batch(made, base_offset=first, partition_leader_epoch=epoch, **how))  # type: ignore[arg-type]  # keywords of any kind


def marker(offset: int, producer_id: int, *, abort: bool) -> bytes:
    return bytes(
        encode_control_batch(
            ABORT if abort else COMMIT, bytes(6), base_offset=offset, timestamp=NOW + offset, partition_leader_epoch=0,
            producer_id=producer_id, producer_epoch=0, is_transactional=True,
        )
    )  # fmt: skip


def segment(folder: Path, batches: list[bytes], *, every: int = 1) -> Path:
    """A segment with its indexes; they have an entry for each `every`th batch except the first."""
    folder.mkdir(parents=True, exist_ok=True)
    headers = [read_header(each) for each in batches]
    base = headers[0].base_offset
    path = folder / (names.segment_name(base) + names.LOG)
    path.write_bytes(b"".join(batches))
    index, times, position, latest, latest_offset = b"", b"", 0, -1, base
    for number, header in enumerate(headers):
        if header.max_timestamp > latest:
            latest, latest_offset = header.max_timestamp, header.last_offset
        if number and number % every == 0:
            index += offset_index.pack(header.last_offset - base, position)
            entry = time_index.pack(latest, latest_offset - base)
            times += entry if times[-12:] != entry else b""
        position += header.size
    entry = time_index.pack(latest, latest_offset - base)
    times += entry if times[-12:] != entry else b""
    path.with_suffix(names.INDEX).write_bytes(index)
    path.with_suffix(names.TIME_INDEX).write_bytes(times)
    return path


def orders(directory: Path, seed: int = 1, *, batches: int = 60, segments: int = 4) -> Path:
    """`orders-0` in several segments: codecs, increasing epochs, gaps, timestamps that sometimes
    decrease."""
    chance = random.Random(seed)
    made, offset, epoch = [], 0, 0
    for _ in range(batches):
        count = chance.randint(1, 9)
        at = NOW + 10 * offset + chance.choice([0, 0, 0, -400, 900])
        made.append(batch(offset, count, epoch, at=at, compression=chance.randrange(5)))
        offset += count + chance.choice([0, 0, 0, 0, 3])
        epoch += chance.random() < 0.1
    size = -(-len(made) // segments)
    for start in range(0, len(made), size):
        segment(directory / "orders-0", made[start : start + size], every=chance.randint(1, 3))
    return directory


def transactions(directory: Path, seed: int = 1) -> Path:
    """`paid-0` in three segments, with transactions of three producers that are committed, aborted,
    or open at the end; with the `.txnindex` files and producer snapshots that a broker writes."""
    chance, folder = random.Random(seed), directory / "paid-0"
    still_open: dict[int, int] = {}
    made: list[bytes] = []
    aborted: list[AbortedTransaction] = []
    offset = 0
    for number in range(90):
        if number % 30 == 0 and number:
            _close(folder, made, aborted, still_open, offset)
            made, aborted = [], []
        producer = chance.randrange(3)
        if producer in still_open and chance.random() < 0.4:
            first, abort = still_open.pop(producer), chance.random() < 0.5
            made.append(marker(offset, producer, abort=abort))
            if abort:
                stable = min(still_open.values(), default=offset + 1)
                aborted.append(AbortedTransaction(producer, first, offset, stable))
            offset += 1
            continue
        plain = chance.random() < 0.2
        how = (
            {}
            if plain
            else {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
        )
        if not plain:
            still_open.setdefault(producer, offset)
        made.append(batch(offset, 2, **how))
        offset += 2
    _close(folder, made, aborted, still_open, None)
    return directory


def _close(
    folder: Path, made: list[bytes], aborted: list[AbortedTransaction], still_open: dict[int, int], end: int | None
) -> None:
    """Writes the segment and, if another segment follows, the producer snapshot at its start."""
    path = segment(folder, made)
    if aborted:
        path.with_suffix(names.TXN_INDEX).write_bytes(txn_index.write(aborted))
    if end is not None:
        entries = [
            Entry(
                producer_id=producer, last_sequence=0, last_offset=first, timestamp=NOW, current_txn_first_offset=first
            )
            for producer, first in still_open.items()
        ]
        (folder / (names.segment_name(end) + names.SNAPSHOT)).write_bytes(producer_snapshot.write(entries))


def golden(folder: Path) -> Path:
    """A copy of a log directory of a real Kafka, which the test may damage."""
    return Path(shutil.copytree(GOLDEN, folder))
