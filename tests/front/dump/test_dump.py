"""`kafkadouble dump`: every kind of file as text and as JSON, broken files up to the damage, with
the documented exit codes."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from kafkadouble.__main__ import main
from kafkadouble.dump import Options, items
from kafkadouble.dump.contents.consumer_protocol import opened
from kafkadouble.dump.contents.kinds import Kind, decoder_of, kind_of
from kafkadouble.messages import ConsumerProtocolSubscription
from kafkadouble.server.log.formats import names
from kafkadouble.wire.batch import Record, encode_batch, seal

from .made import BEHIND, FIRST, NOW, ORDERS, SECOND, TOPIC_ID, log_directory, metadata_partition, offsets_partition

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Maps command line words to exit code, standard output and standard error."""

    def call(*words: object) -> tuple[int, str, str]:
        try:
            code = main(["dump", *map(str, words)])
        except SystemExit as left:
            code = int(left.code or 0)
        output = capsys.readouterr()
        return code, output.out, output.err

    return call


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return log_directory(tmp_path / "data")


def body(output: tuple[int, str, str]) -> str:
    """The output for one file, without the headlines."""
    assert output[0] == 0, output
    assert output[2] == ""
    return "".join(output[1].splitlines(keepends=True)[2:])


def rows(output: tuple[int, str, str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output[1].splitlines()]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (f"{ORDERS}/{FIRST}.index", f"offset: 4 position: {BEHIND}\n"),
        (f"{ORDERS}/{FIRST}.timeindex", f"timestamp: {NOW + 4} offset: 4\ntimestamp: {NOW + 5} offset: 5\n"),
        (f"{ORDERS}/{SECOND}.timeindex", f"timestamp: {NOW + 9} offset: 9\n"),
        (
            f"{ORDERS}/{FIRST}.txnindex",
            "version: 0 producerId: 7 firstOffset: 2 lastOffset: 5 lastStableOffset: 6\n",
        ),
        (
            f"{ORDERS}/{SECOND}.snapshot",
            f"producerId: 7 producerEpoch: 0 coordinatorEpoch: 0 currentTxnFirstOffset: null lastTimestamp: {NOW + 4} "
            f"firstSequence: 0 lastSequence: 2 lastOffset: 4 offsetDelta: 2 timestamp: {NOW + 4}\n",
        ),
        (f"{ORDERS}/leader-epoch-checkpoint", "epoch: 0 startOffset: 0\nepoch: 1 startOffset: 2\n"),
        (f"{ORDERS}/partition.metadata", f"version: 0 topicId: {TOPIC_ID}\n"),
        (names.RECOVERY_POINT, "topic: orders partition: 0 offset: 10\n"),
        (names.CLEANER_OFFSET, ""),
        (names.CLEAN_SHUTDOWN, "brokerEpoch: 3\n"),
        (names.META_PROPERTIES, f"version: 1 clusterId: U-2bg2rDT0OJgmkICpav1A nodeId: 1 directoryId: {TOPIC_ID}\n"),
    ],
)
def test_dump_shows_each_kind_of_file(run: Run, data: Path, file: str, text: str) -> None:
    path = data / file
    output = run(path)
    assert output[1].splitlines()[:2] == [f"Dumping {path}", f"size: {path.stat().st_size}"]
    assert body(output) == text


def test_dump_shows_a_quorum_state(run: Run, tmp_path: Path) -> None:
    (tmp_path / "quorum-state").write_text(
        '{"leaderId":1,"leaderEpoch":2,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
    )
    shown = body(run(tmp_path / "quorum-state"))
    assert shown.startswith('version: 1 state: {"leaderId":1,"leaderEpoch":2,"votedId":-1,')


def test_batches_alone_and_with_their_records(run: Run, data: Path) -> None:
    path = data / ORDERS / (SECOND + ".log")
    batches = body(run(path)).splitlines()
    assert batches[0] == "baseOffset: 6"
    assert batches[1].startswith(
        "baseOffset: 6 lastOffset: 8 count: 3 baseSequence: -1 lastSequence: -1 producerId: -1 "
    )
    assert (
        f"partitionLeaderEpoch: 1 isTransactional: false isControl: false deleteHorizonMs: null position: 0 CreateTime: {NOW + 8} "
        in batches[1]
    )
    assert batches[1].endswith(" isvalid: true")
    assert len(batches) == 3
    records = body(run("--records", path)).splitlines()
    assert len(records) == 7
    assert records[2] == (
        f"| offset: 6 CreateTime: {NOW + 6} keySize: 3 valueSize: 7 sequence: -1 headers: ['trace'=b'on','none'=null] "
        "key: b'key' value: b'value 6'"
    )


def test_dump_shows_records_as_json(run: Run, data: Path) -> None:
    found = rows(run("--json", "--records", data / ORDERS / (FIRST + ".log")))
    assert [row["kind"] for row in found] == [
        *["file"] * 2,
        "batch",
        *["record"] * 2,
        "batch",
        *["record"] * 3,
        "batch",
        "record",
    ]
    assert found[3]["value"] == "dmFsdWUgMA=="
    assert found[3]["headers"] == [{"key": "trace", "value": "b24="}, {"key": "none", "value": None}]
    assert [found[at]["sequence"] for at in (6, 7, 8)] == [0, 1, 2]
    assert found[10]["value"] == {"type": "ABORT", "version": 0, "data": {"coordinatorEpoch": 0}}


def test_a_folder_file_by_file(run: Run, data: Path) -> None:
    code, output, _ = run(data)
    assert code == 0
    shown = [Path(line.removeprefix("Dumping ")) for line in output.splitlines() if line.startswith("Dumping ")]
    assert shown == [path for path in sorted(data.iterdir()) if path.is_file()] + sorted((data / ORDERS).iterdir())
    assert {kind_of(path) for path in shown} == set(Kind) - {Kind.CHECKPOINT, Kind.QUORUM_STATE}


def test_records_are_decoded_by_the_name_of_the_folder(run: Run, tmp_path: Path) -> None:
    found = rows(run("--json", "--records", offsets_partition(tmp_path)))
    commit, group, tombstone = [row for row in found if row["kind"] == "record"]
    assert commit["key"] == {
        "type": "OffsetCommitKey",
        "version": 0,
        "data": {"group": "g", "topic": "orders", "partition": 0},
    }
    assert commit["value"]["data"]["offset"] == 5
    assert group["value"]["data"]["members"] == []
    assert tombstone["value"] is None
    topic = next(
        row
        for row in rows(run("--json", "--records", metadata_partition(tmp_path, policy="delete")))
        if row["kind"] == "record"
    )
    assert topic["value"]["type"] == "TopicRecord"


def test_dump_decodes_records_as_chosen(run: Run, tmp_path: Path) -> None:
    folder = offsets_partition(tmp_path).rename(tmp_path / "copy")
    assert "OffsetCommitKey" not in run("--records", folder)[1]
    assert "OffsetCommitKey" in run("--decode", "offsets", folder)[1]
    assert "OffsetCommitKey" not in run("--decode", "raw", offsets_partition(tmp_path))[1]


def test_the_metadata_of_group_members_is_decoded(tmp_path: Path) -> None:
    subscription = b"\0\1" + ConsumerProtocolSubscription(topics=["a"]).encode(1)
    member = {"memberId": "m", "subscription": base64.b64encode(subscription).decode(), "assignment": ""}
    value = {"type": "GroupMetadataValue", "version": 3, "data": {"protocolType": "consumer", "members": [member]}}
    found = opened(value)["data"]["members"][0]
    assert found["subscription"]["topics"] == ["a"]
    assert found["assignment"] == ""
    other = {"type": "GroupMetadataValue", "version": 3, "data": {"protocolType": "connect", "members": [member]}}
    assert opened(other) == other
    assert opened(None) is None


def test_golden_snapshots_and_batches_of_every_magic(run: Run, tmp_path: Path) -> None:
    folder = GOLDEN / "cluster_metadata-0"
    found = rows(run("--json", "--records", folder))
    assert sum(row["kind"] == "batch" for row in found) == 124
    assert {
        "file": str(folder / "00000000000000000034-0000000001.checkpoint"),
        "kind": "file",
        "endOffset": 34,
        "epoch": 1,
    } in found
    for path in sorted((GOLDEN / "batches").glob("*.bin")):
        copy = tmp_path / f"{path.stem}.log"
        copy.write_bytes(path.read_bytes())
        code, output, _ = run("--records", copy)
        assert code == 0
        assert f"compresscodec: {path.stem.partition('-')[2]} " in output
        assert "| offset: " in output


def test_a_broken_batch_is_reported_and_the_others_are_shown(run: Run, data: Path) -> None:
    path = data / ORDERS / (SECOND + ".log")
    bad = bytearray(path.read_bytes())
    bad[70] ^= 1
    path.write_bytes(bad)
    code, output, error = run("--records", path)
    assert code == 1
    assert "isvalid: false\n!! checksum " in output
    assert "at byte 0 in crc" in output
    assert "baseOffset: 9 lastOffset: 9 " in output
    assert error.startswith(f"kafkadouble dump: broken: {path}: checksum 0x")
    found = rows(run("--json", path))
    assert found[2]["broken"] == {"problem": found[2]["broken"]["problem"], "offset": 0, "path": "crc", "torn": False}


def test_dump_reports_torn_tail_and_lost_bytes(run: Run, data: Path) -> None:
    path = data / ORDERS / (SECOND + ".log")
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    code, output, _ = run(path)
    assert code == 1
    assert output.splitlines()[-1].startswith("!! torn tail: ")
    path.write_bytes(b"\xff" * 100 + whole)
    code, output, _ = run(path)
    assert code == 1
    assert "position: 0 size: 100\n!! " in output
    assert "baseOffset: 6 lastOffset: 8 " in output


@pytest.mark.parametrize(
    ("file", "at", "behind"),
    [
        (f"{ORDERS}/{FIRST}.timeindex", 0, "offset: 5"),
        (f"{ORDERS}/{FIRST}.txnindex", 1, ""),
        (f"{ORDERS}/{SECOND}.snapshot", 20, ""),
        (f"{ORDERS}/leader-epoch-checkpoint", 0, ""),
        (f"{ORDERS}/partition.metadata", 0, ""),
        (names.META_PROPERTIES, 8, ""),
        (names.CLEAN_SHUTDOWN, 0, ""),
        (names.RECOVERY_POINT, 2, ""),
    ],
)
def test_a_broken_small_file_is_reported(run: Run, data: Path, file: str, at: int, behind: str) -> None:
    bad = bytearray((data / file).read_bytes())
    bad[at] ^= 0x80
    (data / file).write_bytes(bad)
    code, output, error = run(data)
    assert code == 1
    assert error.startswith(f"kafkadouble dump: broken: {data / file}: ")
    assert " at byte " in error
    assert behind in output
    assert output.count("Dumping ") == 16  # all the others are shown


def test_indexes_with_room_and_with_a_piece_of_an_entry(run: Run, data: Path) -> None:
    path = data / ORDERS / (FIRST + ".index")
    path.write_bytes(path.read_bytes() + bytes(8_000_000))
    assert body(run(path)) == f"offset: 4 position: {BEHIND}\n"
    path.write_bytes(path.read_bytes()[:8] + b"abc")
    code, output, _ = run(path)
    assert code == 1
    assert f"offset: 4 position: {BEHIND}\n!! 11 bytes" in output


@pytest.mark.parametrize("words", [["no-such-file.log"], ["README.md"], []])
def test_dump_with_wrong_arguments_is_refused(run: Run, words: list[str]) -> None:
    code, output, error = run(*words)
    assert (code, output) == (2, "")
    assert "kafkadouble dump: error: " in error


def test_a_small_file_that_is_none_is_not_read_whole(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "leader-epoch-checkpoint"
    with path.open("wb") as made:
        made.truncate(1 << 30)
    code, output, _ = run(path)
    assert code == 1
    assert "!! 1073741824 bytes are too many for such a file" in output


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """A segment of 200 MB takes less than 20 MB more memory than a small one."""
    path = tmp_path / f"{FIRST}.log"
    value = bytes(100_000)
    with path.open("wb") as made:
        for offset in range(2000):
            made.write(encode_batch([Record(offset, NOW, None, value)], base_offset=offset, partition_leader_epoch=0))
    code = (
        "import resource, sys\n"
        "from kafkadouble.__main__ import main\n"
        "main(['dump', '--records', sys.argv[2]])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert main(['dump', '--records', sys.argv[1]]) == 0\n"
        "assert main(['check', sys.argv[1]]) == 0\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, file=sys.stderr)\n"
    )
    small = GOLDEN / "cluster_metadata-0" / f"{FIRST}.log"
    done = subprocess.run([sys.executable, "-c", code, path, small], capture_output=True, text=True, check=True)
    unit = 1024 if sys.platform == "darwin" else 1
    assert int(done.stderr) // unit < 20_000, done.stderr


def test_dump_reports_a_batch_that_expands_too_much(run: Run, tmp_path: Path) -> None:
    """Ten million records of seven bytes, compressed to 10 KB: the batch's headline is shown as any
    other, its records are not."""
    body = zstandard.compress(b"\x0c\x00\x00\x00\x01\x01\x00" * 10_000_000)
    made = bytearray(encode_batch([Record(0, NOW, None, None)], partition_leader_epoch=0))[:61] + body
    made[8:12] = (len(made) - 12).to_bytes(4, "big")
    made[22] = 4
    made[23:27], made[57:61] = (9_999_999).to_bytes(4, "big"), (10_000_000).to_bytes(4, "big")
    path = tmp_path / f"{FIRST}.log"
    seal(made)
    path.write_bytes(made)
    assert run(path)[0] == 0
    code, output, _ = run("--records", path)
    assert code == 1
    assert "!! 10000000 records in " in output


def test_dump_prints_no_control_character_of_a_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / names.RECOVERY_POINT
    path.write_bytes(b"0\n1\n\x1b[2J 0 5\n")
    assert body(run(path)) == "topic: \\x1b[2J partition: 0 offset: 5\n"
    path.write_bytes(b"0\n2\n\x1b[2J 0 5\n\x1b[2J 0 5\n")
    code, output, error = run(path)
    assert code == 1
    assert "\x1b" not in output + error


def test_dump_items_are_given_to_programs(data: Path) -> None:
    found = list(items(data / ORDERS / (FIRST + ".log"), Options(records=True)))
    assert [item.fields["offset"] for item in found if item.kind == "record"] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("path", "kind", "decode"),
    [
        (f"__consumer_offsets-3/{FIRST}.log", Kind.LOG, "offsets"),
        (f"__transaction_state-3.abc-delete/{FIRST}.log.deleted", Kind.LOG, "transactions"),
        (f"__share_group_state-3/{FIRST}.log.swap", Kind.LOG, "share"),
        (f"orders-3/{FIRST}.timeindex.cleaned", Kind.TIME_INDEX, "raw"),
        (f"anywhere/{FIRST}-0000000001.checkpoint.part", Kind.CHECKPOINT, "metadata"),
        ("data/bootstrap.checkpoint", Kind.CHECKPOINT, "metadata"),
        ("data/.lock", None, "raw"),
    ],
)
def test_dump_knows_kinds_of_files_by_their_names(path: str, kind: Kind | None, decode: str) -> None:
    assert (kind_of(Path(path)), decoder_of(Path(path))) == (kind, decode)
