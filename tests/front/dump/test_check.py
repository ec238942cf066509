"""`kafkadouble check`: good files pass, each kind of damage is reported with its file and byte, and
a torn tail is reported as one."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkadouble.__main__ import main
from kafkadouble.dump.checking import check
from kafkadouble.dump.checks.verdict import Rules
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.formats import (
    epoch_checkpoint,
    names,
    offset_checkpoint,
    offset_index,
    partition_metadata,
    producer_snapshot,
    time_index,
    txn_index,
)
from kafkadouble.server.log.formats.producer_snapshot import Entry
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.transactions import AbortedTransaction

from .made import BEHIND, FIRST, NOW, ORDERS, SECOND, batch, log_directory, metadata_partition, offsets_partition

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "cluster_metadata-0"
SNAPSHOT = "00000000000000000034-0000000001.checkpoint"
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return log_directory(tmp_path / "data")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Maps command line words to exit code and the whole output."""

    def call(*words: object) -> tuple[int, str]:
        try:
            code = main(["check", *map(str, words)])
        except SystemExit as left:
            code = int(left.code or 0)
        output = capsys.readouterr()
        return code, output.out + output.err

    return call


def test_check_counts_good_batches_and_records(run: Run, data: Path) -> None:
    assert run(data) == (0, f"{data}: good: 5 batches, 10 records, 2 segments, 1 snapshot, 1 partition\n")
    folder = data / ORDERS
    assert run(folder) == (0, f"{folder}: good: 5 batches, 10 records, 2 segments, 1 snapshot, 1 partition\n")
    assert run(folder / f"{SECOND}.log") == (0, f"{folder / SECOND}.log: good: 2 batches, 4 records, 1 segment\n")
    assert run("--json", folder / "partition.metadata") == (
        0,
        json.dumps({"path": str(folder / "partition.metadata"), "verdict": "good", "counts": {}}) + "\n",
    )


def test_a_folder_that_is_not_of_a_partition_is_reported(run: Run, data: Path) -> None:
    (data / "my-backup").mkdir()
    code, output = run(data)
    assert code != 0
    assert f"{data}/my-backup: it is not the folder of a partition" in output


def test_check_of_each_file_alone_finds_no_problem(data: Path) -> None:
    for path in data.rglob("*"):
        assert check(path).word == "good", path


def test_check_of_directories_of_real_kafka_finds_no_problem(run: Run) -> None:
    code, output = run(GOLDEN)
    assert code == 0
    assert output.endswith("good: 124 batches, 144 records, 1 segment, 1 checkpoint, 1 partition\n")


def test_check_finds_each_changed_byte_of_a_segment(data: Path) -> None:
    for name in (FIRST, SECOND):
        path = data / ORDERS / f"{name}.log"
        good = path.read_bytes()
        for at in range(len(good)):
            for mask in (0x01, 0x80):
                path.write_bytes(good[:at] + bytes((good[at] ^ mask,)) + good[at + 1 :])
                verdict = check(data)
                assert verdict.word != "good", (name, at)
                assert verdict.first is not None
                assert 0 <= verdict.first.offset <= len(good)
        path.write_bytes(good)


def test_check_finds_each_changed_byte_of_a_snapshot(tmp_path: Path) -> None:
    good, path = (GOLDEN / SNAPSHOT).read_bytes(), tmp_path / SNAPSHOT
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes((good[at] ^ 1 << at % 8,)) + good[at + 1 :])
        assert check(path).word == "corrupt", at


def wrong(data: Path, file: str, content: bytes) -> tuple[str, int]:
    """What `check` finds with this content in the file: the problem, and its position."""
    (data / file).write_bytes(content)
    verdict = check(data)
    assert verdict.corrupt is not None, "nothing was found"
    assert verdict.corrupt.file == str(data / file), verdict.corrupt
    return verdict.corrupt.problem, verdict.corrupt.offset


LOG = f"{ORDERS}/{SECOND}.log"
GOOD = batch(6, 3, 1) + batch(9, 1, 1)
ABORTED = AbortedTransaction(7, 2, 5, 6)


@pytest.mark.parametrize(
    ("file", "content", "offset", "what"),
    [
        (LOG, batch(6, 3, 1) + batch(10, 1, 1), len(batch(6, 3, 1)), "offsets 9 to 9 are missing"),
        (LOG, batch(7, 2, 1) + batch(9, 1, 1), 0, "offsets 6 to 6 are missing"),
        (LOG, batch(6, 3, 1) + batch(8, 2, 1), len(batch(6, 3, 1)), "the least that may come"),
        (LOG, batch(5, 4, 1) + batch(9, 1, 1), 0, "the least that may come"),
        (LOG, batch(6, 3, 2) + batch(9, 1, 2), 0, "leader epoch 2, where leader-epoch-checkpoint has 1"),
        (LOG, batch(6, 3, 1) + batch(9, 1, 0), len(batch(6, 3, 1)), "leader epoch 0 after 1"),
        (LOG, GOOD + b"x" * 100, len(GOOD), "magic 120"),
        (f"{ORDERS}/{FIRST}.index", offset_index.pack(4, BEHIND - 1), 0, f"position {BEHIND - 1}, where no batch begins"),
        (f"{ORDERS}/{FIRST}.index", offset_index.pack(3, BEHIND), 0, "offset 3, where the batch ends with 4"),
        (f"{ORDERS}/{FIRST}.index", offset_index.pack(4, BEHIND) + offset_index.pack(7, 9999), 8, "past the end"),
        (f"{ORDERS}/{FIRST}.index", offset_index.pack(4, BEHIND) * 2, 8, "relative offset 4 after 4"),
        (f"{ORDERS}/{FIRST}.timeindex", time_index.pack(NOW + 3, 4), 0, f"timestamp {NOW + 3}, where {NOW + 4}"),
        (f"{ORDERS}/{FIRST}.timeindex", time_index.pack(NOW + 5, 9), 0, "past the end"),
        (f"{ORDERS}/{FIRST}.txnindex", txn_index.pack(ABORTED._replace(producer_id=8)), 0, "no marker"),
        (f"{ORDERS}/{FIRST}.txnindex", txn_index.pack(ABORTED._replace(last_offset=4)), 0, "no marker"),
        (f"{ORDERS}/{FIRST}.txnindex", txn_index.pack(ABORTED._replace(last_offset=9)), 0, "past the end"),
        (f"{ORDERS}/{SECOND}.snapshot", producer_snapshot.write([Entry(last_offset=6)]), 10, "in a snapshot of 6"),
        (f"{ORDERS}/{names.segment_name(11)}.snapshot", producer_snapshot.write([]), 0, "the log ends before 10"),
        (f"{ORDERS}/{names.segment_name(20)}.index", b"", 0, "segment that does not exist"),
        (f"{ORDERS}/{names.segment_name(12)}.log", batch(12, 1, 1), 0, "the one before it ends before 10"),
        (f"{ORDERS}/{names.segment_name(9)}.log", batch(9, 1, 1), 0, "the one before it ends before 10"),
        (f"{ORDERS}/leader-epoch-checkpoint", b"0\n2\n1 2\n0 3\n", 8, "after"),
        (f"{ORDERS}/partition.metadata", b"version: 0\n", 0, "this is not"),
        (f"{ORDERS}/quorum-state", b"{}", 0, "data_version"),
        (names.META_PROPERTIES, b"version=1\nnode.id=1\n", 20, "cluster.id"),
        (names.CLEAN_SHUTDOWN, b"{", 1, "JSON"),
        (names.RECOVERY_POINT, offset_checkpoint.write({("gone", 0): 1}), 0, "gone-0 is not in this directory"),
        (names.REPLICATION_OFFSET, offset_checkpoint.write({("orders", 0): 11}), 0, "offset 11 of orders-0"),
        (names.RECOVERY_POINT, offset_checkpoint.write({("orders", 0): 9}), 0, "after a clean stop"),
        (names.LOG_START, b"0\n1\n", 2, "1 entries announced, 0 found"),
        ("bootstrap.checkpoint", b"", 0, "without a batch"),
    ],
)  # fmt: skip
def test_check_reports_each_kind_of_damage(data: Path, file: str, content: bytes, offset: int, what: str) -> None:
    problem, at = wrong(data, file, content)
    assert what in problem
    assert at == offset


def test_a_missing_part_of_the_row(data: Path) -> None:
    (data / ORDERS / f"{FIRST}.log").unlink()
    verdict = check(data)
    assert verdict.corrupt is not None
    assert "index of a segment that does not exist" in verdict.corrupt.problem


def test_a_partition_without_a_segment_has_no_records(run: Run, data: Path) -> None:
    """A node that stops while it creates a partition leaves it without a segment. Here a checkpoint
    shows that there were records."""
    made = data / "made-0"
    made.mkdir()
    shutil.copy(data / ORDERS / names.PARTITION_METADATA, made)
    code, output = run(data)
    assert (code, "2 partitions" in output) == (0, True), output
    for path in (data / ORDERS).glob("0*"):
        path.unlink()
    assert "which ends before 0" in run(data)[1]


def test_partitions_of_one_topic_have_one_id(data: Path) -> None:
    shutil.copytree(data / ORDERS, data / "orders-1")
    assert check(data).word == "good"
    content = partition_metadata.write(Uuid(bytes(15) + b"\7"))
    assert "where another partition of orders has" in wrong(data, "orders-1/partition.metadata", content)[0]


def test_a_torn_tail_is_no_corruption(run: Run, data: Path) -> None:
    path = data / LOG
    (data / names.CLEAN_SHUTDOWN).unlink()
    for tail in (batch(10, 3, 1)[:-1], batch(10, 3, 1)[:5], bytes(5000)):
        path.write_bytes(GOOD + tail)
        code, output = run(data)
        assert code == 1
        assert output.startswith(f"torn tail: {path}: ")
        assert output.endswith(f" at byte {len(GOOD)}: an unclean stop, not a corruption\n")
        assert json.loads(run("--json", data)[1])["verdict"] == "torn tail"
        assert run("--live", data)[0] == 0
        assert run(path)[0] == 1


def test_check_ignores_index_entries_of_a_lost_log_tail(data: Path) -> None:
    (data / LOG).write_bytes(GOOD[:-1])
    (data / names.CLEAN_SHUTDOWN).unlink()
    verdict = check(data)
    assert (verdict.word, len(verdict.torn)) == ("torn tail", 1)


def test_a_tear_that_is_not_at_the_end_is_a_corruption(data: Path) -> None:
    path = data / ORDERS / f"{FIRST}.log"
    path.write_bytes(path.read_bytes()[:-1])
    for looked in (data, data / ORDERS, path):
        verdict = check(looked)
        assert verdict.corrupt is not None
        assert "and segments follow" in verdict.corrupt.problem


def test_corruption_is_reported_before_a_torn_tail(data: Path) -> None:
    shutil.copytree(data / ORDERS, data / "worse-0")
    (data / LOG).write_bytes(GOOD[:-1])
    (data / "worse-0" / f"{SECOND}.log").write_bytes(b"\xff" * 100 + GOOD)
    assert check(data).word == "corrupt"


def test_gaps_are_good_where_compaction_may_have_made_them(data: Path) -> None:
    (data / LOG).write_bytes(batch(7, 1, 1) + batch(9, 1, 1))
    assert check(data).word == "corrupt"
    assert check(data, Rules(gaps=True)).word == "good"
    metadata_partition(data, policy="delete")
    assert check(data).word == "corrupt"
    shutil.rmtree(data / "__cluster_metadata-0")
    metadata_partition(data, policy="delete,compact")
    assert check(data).word == "good"
    shutil.rmtree(data / "__cluster_metadata-0")
    (data / names.CLEANER_OFFSET).write_bytes(offset_checkpoint.write({("orders", 0): 9}))
    for looked in (data, data / ORDERS, data / LOG):
        assert check(looked).word == "good"


def test_kafkas_own_topics_are_compacted(tmp_path: Path) -> None:
    folder = offsets_partition(tmp_path)
    (folder / f"{FIRST}.log").write_bytes(batch(3, 1))
    assert check(folder).word == "good"


def test_checkpoint_may_be_ahead_of_a_log_that_lost_its_end(data: Path) -> None:
    """This does not hold for the recovery point, which is written after the flush up to it."""
    ahead = offset_checkpoint.write({("orders", 0): 11})
    (data / names.REPLICATION_OFFSET).write_bytes(ahead)
    assert check(data).word == "corrupt"
    (data / names.CLEAN_SHUTDOWN).unlink()
    assert check(data).word == "good"
    (data / names.RECOVERY_POINT).write_bytes(ahead)
    assert check(data).word == "corrupt"


def test_a_metadata_log_that_begins_inside_a_segment_needs_a_snapshot(data: Path) -> None:
    folder = metadata_partition(data, policy="delete")
    (data / names.LOG_START).write_bytes(offset_checkpoint.write({("__cluster_metadata", 0): 1}))
    verdict = check(data)
    assert verdict.corrupt is not None
    assert "the log begins at 1, and no snapshot reaches there" in verdict.corrupt.problem
    shutil.copy(GOLDEN / SNAPSHOT, folder)
    assert check(data).word == "good"


def test_a_metadata_log_that_was_cut_needs_a_snapshot(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / f"{names.segment_name(34)}.log").write_bytes(batch(34, 2, 1))
    verdict = check(folder)
    assert verdict.corrupt is not None
    assert "no snapshot reaches there" in verdict.corrupt.problem
    shutil.copy(GOLDEN / SNAPSHOT, folder)
    assert check(folder).word == "good"


def test_a_snapshot_that_is_not_whole(tmp_path: Path) -> None:
    good, path = (GOLDEN / SNAPSHOT).read_bytes(), tmp_path / SNAPSHOT
    for content, what in (
        (good[:-75], "footer"),
        (good[:-1], "the batch has more"),
        (good[166:], "least|due|header"),
        (b"", "without a batch"),
    ):
        path.write_bytes(content)
        verdict = check(path)
        assert verdict.corrupt is not None
        assert any(word in verdict.corrupt.problem for word in what.split("|")), verdict
    renamed = tmp_path / SNAPSHOT.replace("0001.", "0002.")
    renamed.write_bytes(good)
    assert check(renamed).word == "corrupt"


def test_a_node_at_work(data: Path) -> None:
    """A running node: an index has room after its entries, checkpoints lag behind, leader epochs
    may be ahead of the part of the log that was read."""
    (data / LOG).write_bytes(GOOD + batch(10, 1, 2) + batch(11, 5, 2)[:50])
    (data / ORDERS / f"{SECOND}.index").write_bytes(bytes(1000))
    (data / ORDERS / f"{SECOND}.timeindex").write_bytes(time_index.pack(NOW + 9, 3) + bytes(1200))
    (data / names.REPLICATION_OFFSET).write_bytes(offset_checkpoint.write({("orders", 0): 50, ("gone", 1): 7}))
    assert check(data, Rules(live=True)).word == "good"
    assert check(data).word != "good"


def test_below_the_logs_start_the_epochs_are_forgotten(data: Path) -> None:
    path = data / ORDERS / names.LEADER_EPOCH
    path.write_bytes(epoch_checkpoint.write([OffsetAndEpoch(3, 1)]))
    assert check(data).word == "good"
    path.write_bytes(epoch_checkpoint.write([OffsetAndEpoch(3, 0)]))
    assert check(data).word == "corrupt"
    path.unlink()
    assert check(data).word == "good"


def test_log_that_starts_at_its_end_has_no_leader_epoch(data: Path) -> None:
    """All records were deleted; their batches may still be in the file."""
    (data / ORDERS / names.LEADER_EPOCH).write_bytes(epoch_checkpoint.write([]))
    assert check(data).word == "good"


def test_a_checkpoint_may_name_a_partition_that_waits_to_be_deleted(data: Path) -> None:
    shutil.copytree(data / ORDERS, data / names.deleted_folder("gone", 0, "0" * 32))
    (data / names.RECOVERY_POINT).write_bytes(offset_checkpoint.write({("orders", 0): 10, ("gone", 0): 10}))
    assert check(data).word == "good"


@pytest.mark.parametrize("words", [["no-such-file.log"], ["README.md"], ["docs"], []])
def test_check_with_wrong_arguments_is_refused(run: Run, words: list[str]) -> None:
    code, output = run(*words)
    assert code == 2
    assert "kafkadouble check: error: " in output


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize(
    "name", ["meta.properties", f"{ORDERS}/{FIRST}.log", f"{ORDERS}/{FIRST}.index", f"{ORDERS}/leader-epoch-checkpoint"]
)
def test_check_reports_files_that_are_not_regular_without_waiting(run: Run, data: Path, name: str) -> None:
    (data / name).unlink(missing_ok=True)
    os.mkfifo(data / name)
    code, output = run(data)
    assert (code, output) == (1, f"corrupt: {data / name}: it is no regular file at byte 0\n")
    with pytest.raises(SystemExit, match="2"):
        main(["dump", str(data / name)])
    assert main(["dump", str(data)]) == 0, "it is left out"
