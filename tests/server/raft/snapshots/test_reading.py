"""What is no snapshot is refused, with the file and the byte; what is one is read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.log.formats.names import parse_checkpoint
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.snapshots.snapshot_header import controls_of, footer
from kafkadouble.server.raft.snapshots.snapshot_reader import BytesSource, RecordsSnapshotReader, verify
from kafkadouble.wire.batch import Record, control_record, encode_batch, iter_batches, stamp

from .making import HEAD, ID, NOW, data, value, values

GOLDEN = sorted((Path(__file__).resolve().parents[3] / "golden").rglob("*-*.checkpoint"))


def control(first: int, controls: list[tuple[int, bytes]], **fields: object) -> bytes:
    records = [control_record(first + at, NOW, kind, message) for at, (kind, message) in enumerate(controls)]
    return batch(records, is_control=True, **fields)


def batch(records: list[Record], **fields: object) -> bytes:
    given: dict[str, object] = {"base_offset": records[0].offset, "partition_leader_epoch": ID.epoch}
    # fields of any type
    return bytes(encode_batch(records, **given | fields))  # type: ignore[arg-type]


HEADER = control(0, controls_of(HEAD))
"""Three records."""


def end(offset: int) -> bytes:
    return control(offset, [footer()])


def record(offset: int, time: int = NOW, key: bytes | None = None, message: bytes | None = value(1)) -> Record:
    return Record(offset, time, key, message)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_real_kafkas_snapshot_is_read(path: Path) -> None:
    id = parse_checkpoint(path.name)
    assert id is not None
    verify(id, BytesSource(path.read_bytes()))


def test_snapshot_is_read_a_batch_at_a_time() -> None:
    of = values(50)
    read = list(RecordsSnapshotReader(ID, BytesSource(data(of, most=300))).values())
    assert [each for some in read for each in some] == of
    assert len(read) > 3


GOOD = HEADER + batch([record(3), record(4)]) + end(5)
BROKEN = {
    "empty": (b"", "empty|no SNAPSHOT_FOOTER"),
    "no footer": (HEADER + batch([record(3)]), "no SNAPSHOT_FOOTER"),
    "only a header": (HEADER, "no SNAPSHOT_FOOTER"),
    "no header": (batch([record(0)]) + end(1), "header is not first"),
    "another control record first": (end(0), "header is not first"),
    "a second header": (HEADER + control(3, controls_of(HEAD)[:1]) + end(4), "second header"),
    "records behind the footer": (HEADER + end(3) + batch([record(4)]), "behind the footer"),
    "a record behind the footer in its batch": (HEADER + control(3, [footer(), footer()]), "behind the footer"),
    "compressed": (HEADER + batch([record(3)], compression=1) + end(4), "compressed"),
    "a time of its own": (HEADER + batch([record(3), record(4, NOW + 1)]) + end(5), "another time"),
    "headers": (HEADER + batch([Record(3, NOW, None, value(1), (("h", b""),))]) + end(4), "has headers"),
    "a key": (HEADER + batch([record(3, key=b"k")]) + end(4), "has a key"),
    "no value": (HEADER + batch([record(3, message=None)]) + end(4), "has no value"),
    "an empty value": (HEADER + batch([record(3, message=b"")]) + end(4), "has no value"),
    "a control record without a key": (HEADER + batch([record(3)], is_control=True) + end(4), "control record"),
    "offsets that leave one out": (HEADER + batch([record(4)]) + end(5), "where 3 is due"),
    "offsets that leave one out inside": (HEADER + batch([record(3), record(5)]) + end(6), "records over"),
    "offsets that do not begin at 0": (control(1, controls_of(HEAD)) + end(4), "where 0 is due"),
    "another epoch": (HEADER + batch([record(3)], partition_leader_epoch=2) + end(4), "of epoch 2"),
    "of a transaction": (HEADER + batch([record(3)], is_transactional=True) + end(4), "attributes"),
    "the time of its append": (HEADER + batch([record(3)], timestamp_type=1) + end(4), "attributes"),
    "a header that cannot be read": (control(0, [(3, b"\x00")]) + end(1), "bytes"),
    "half a batch": (GOOD[:-10], "are left"),
    "half a header": (HEADER + GOOD[len(HEADER) :][:30], "left"),
    "rubbish at the end": (GOOD + bytes(70), "batch"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_damaged_snapshot_is_refused(name: str) -> None:
    broken, problem = BROKEN[name]
    with pytest.raises(BadFile, match=problem) as refused:
        verify(ID, BytesSource(broken), "file")
    assert refused.value.file == "file"
    assert 0 <= refused.value.offset <= len(broken)


def test_complete_snapshot_is_verified() -> None:
    verify(ID, BytesSource(GOOD))


def test_the_byte_is_that_of_the_batch() -> None:
    with pytest.raises(BadFile) as refused:
        verify(ID, BytesSource(HEADER + batch([record(3, key=b"k")]) + end(4)))
    assert refused.value.offset == len(HEADER)


def test_of_another_id_it_is_refused() -> None:
    with pytest.raises(BadFile):
        verify(OffsetAndEpoch(100, 4), BytesSource(GOOD))


def test_an_unknown_control_record_is_passed_over() -> None:
    unknown = HEADER + control(3, [(99, b"new")]) + end(4)
    assert list(RecordsSnapshotReader(ID, BytesSource(unknown)).values()) == []


def test_every_byte_that_is_changed_is_found() -> None:
    """The checksum covers a batch's header except the base offset, the length, the epoch and the
    magic; those are checked on their own.
    """
    good = data(values(3))
    for at in range(len(good)):
        for bit in (1, 0x80):
            broken = bytearray(good)
            broken[at] ^= bit
            with pytest.raises(BadFile):
                list(RecordsSnapshotReader(ID, BytesSource(broken)).values())


def test_snapshot_reader_ends_on_random_bytes() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance, good = random.Random(seed), data(values(20), most=300)
    for _ in range(300):
        broken = bytearray(good)
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(len(broken))
            broken[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
        try:
            verify(ID, BytesSource(broken))
        except BadFile:
            continue
        assert bytes(broken) == good


def test_an_epoch_and_an_offset_are_free_of_the_checksum_and_still_checked() -> None:
    moved = bytearray(GOOD)
    second = [position for position, _ in iter_batches(GOOD)][1]
    stamp(moved, 3, 9, second)
    with pytest.raises(BadFile, match="of epoch 9"):
        verify(ID, BytesSource(moved))
