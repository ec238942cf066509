"""The log directory of a real Kafka 4.4, read without a broker: the figures are those of Kafka's
own tools, and every changed byte is found."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from kafkadouble.dump import Options, items
from kafkadouble.dump.checking import check
from kafkadouble.dump.dumping import files
from kafkadouble.server.log.formats import (
    BadFile,
    clean_shutdown,
    epoch_checkpoint,
    meta_properties,
    names,
    offset_checkpoint,
    partition_metadata,
    producer_snapshot,
    quorum_state,
    txn_index,
)

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "log_directory"
PARTITIONS = ["__cluster_metadata-0", "__consumer_offsets-0", "__transaction_state-0", "mixed-0", "mixed-1"]
WRITERS = {
    "leader-epoch-checkpoint": lambda data: epoch_checkpoint.write(epoch_checkpoint.read(data)),
    "recovery-point-offset-checkpoint": lambda data: offset_checkpoint.write(offset_checkpoint.read(data)),
    "log-start-offset-checkpoint": lambda data: offset_checkpoint.write(offset_checkpoint.read(data)),
    "partition.metadata": lambda data: partition_metadata.write(partition_metadata.read(data).topic_id),
    "quorum-state": lambda data: quorum_state.write(*quorum_state.read(data)),
    ".kafka_cleanshutdown": lambda data: clean_shutdown.write(clean_shutdown.read(data) or 0),
    ".snapshot": lambda data: producer_snapshot.write(producer_snapshot.read(data)),
    ".txnindex": lambda data: txn_index.write(txn_index.read(data)),
}


def test_check_of_golden_log_directories_finds_no_problem() -> None:
    assert check(GOLDEN).word == "good"
    for path in files(GOLDEN):
        assert check(path).word == "good", path
        assert all(item.problem is None for item in items(path, Options(records=True))), path


@pytest.mark.parametrize("suffix", WRITERS)
def test_files_of_real_kafka_are_rewritten_byte_for_byte(suffix: str) -> None:
    found = [path for path in sorted(GOLDEN.rglob(f"*{suffix}")) if path.is_file()]
    assert found
    for path in found:
        data = path.read_bytes()
        assert WRITERS[suffix](data) == data, path


def test_properties_say_the_same_when_written_again() -> None:
    found = meta_properties.read((GOLDEN / names.META_PROPERTIES).read_bytes())
    assert found.node_id == 1
    assert found.cluster_id == "hX2P5imNTHeY1i93fk5kbg"
    assert meta_properties.read(meta_properties.write(found)) == found


@pytest.mark.parametrize("partition", PARTITIONS)
def test_every_changed_byte_of_a_segment_is_found(partition: str, tmp_path: Path) -> None:
    """Most changes are found in the partition alone. A compacted partition does not show where its
    last batch ended; the checkpoints of the directory do."""
    shutil.copytree(GOLDEN, tmp_path / "data")
    path = tmp_path / "data" / partition / f"{names.segment_name(0)}.log"
    good = path.read_bytes()
    for at in range(0, len(good), 1 if len(good) < 1000 else 5):
        path.write_bytes(good[:at] + bytes((good[at] ^ 1 << at % 8,)) + good[at + 1 :])
        if check(path.parent).word == "good":
            assert check(tmp_path / "data").word != "good", at


def test_damage_of_any_kind_is_reported_and_nothing_else(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance, data = random.Random(seed), tmp_path / "data"
    shutil.copytree(GOLDEN, data)
    every = sorted(files(data))
    for _ in range(400):
        path = chance.choice(every)
        good = path.read_bytes()
        path.write_bytes(damaged(good, chance))
        verdict = check(chance.choice([path, path.parent, data]))
        assert verdict.first is None or verdict.first.offset >= 0
        for item in items(path, Options(records=True)):
            assert item.lines()
            assert json.loads(item.json("x"))["kind"] == item.kind
        path.write_bytes(good)


def damaged(good: bytes, chance: random.Random) -> bytes:
    """The bytes after one to four changes: a byte is replaced, bytes are inserted or removed, or
    the end is cut off."""
    bad = bytearray(good)
    for _ in range(chance.randrange(1, 5)):
        at = chance.randrange(len(bad) + 1)
        match chance.randrange(5):
            case 0:
                bad[at : at + 1] = chance.randbytes(1)
            case 1:
                bad[at:at] = chance.randbytes(chance.randrange(1, 20))
            case 2:
                bad[at:at] = bytes(chance.randrange(1, 300))
            case 3:
                del bad[at : at + chance.randrange(1, 20)]
            case 4:
                del bad[at:]
    return bytes(bad)


def test_every_changed_byte_of_a_file_with_a_checksum_is_found(tmp_path: Path) -> None:
    for path in [*GOLDEN.rglob("*.snapshot"), GOLDEN / PARTITIONS[0] / "00000000000000000000-0000000000.checkpoint"]:
        good, copy = path.read_bytes(), tmp_path / path.name
        for at in range(len(good)):
            copy.write_bytes(good[:at] + bytes((good[at] ^ 1 << at % 8,)) + good[at + 1 :])
            verdict = check(copy)
            assert isinstance(verdict.corrupt, BadFile), (path, at)
