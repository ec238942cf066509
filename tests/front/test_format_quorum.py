"""`kafkadouble format` for quorums: static, dynamic, alone, or without voters (KIP-853)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble.__main__ import main
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats import meta_properties
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.logs.log_dir import METADATA_FOLDER, LogDir
from kafkadouble.server.raft.initial_voters import parse
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.voters import VoterSet

BOOTSTRAP = OffsetAndEpoch(0, 0)
LISTENERS = """
node.id=4
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={0}/a,{0}/b
"""
COMBINED = "process.roles=broker,controller\nlisteners=PLAINTEXT://127.0.0.1:0,CONTROLLER://10.0.0.4:9093\n" + LISTENERS
STATIC = COMBINED + "controller.quorum.voters=4@10.0.0.4:9093\n"
ALONE = "listeners=PLAINTEXT://127.0.0.1:0\n" + LISTENERS
BOOTSTRAP_SERVERS = "controller.quorum.bootstrap.servers=10.0.0.4:9093\n"
CONTROLLER = "process.roles=controller\nlisteners=CONTROLLER://:9093\n" + LISTENERS + BOOTSTRAP_SERVERS
DYNAMIC = COMBINED + BOOTSTRAP_SERVERS
BROKER = "process.roles=broker\nlisteners=PLAINTEXT://127.0.0.1:0\n" + LISTENERS + BOOTSTRAP_SERVERS
ADVERTISED = "advertised.listeners=PLAINTEXT://a:1,CONTROLLER://example.org:19093\n"
FOUR, FIVE = Uuid(b"4" * 16), Uuid(b"5" * 16)
OTHER = f"5@other:9095:{FIVE}"
BOTH = f"{OTHER},4@10.0.0.4:9093:{FOUR}"


def formatted(folder: Path, settings: str, *words: str) -> int:
    config = folder / "server.properties"
    config.write_text(settings.format(folder))
    return main(["format", "-c", str(config), "-t", "a-cluster", *words])


def quorum_in(folder: Path) -> tuple[VoterSet | None, int]:
    """The voters and the `kraft.version` in the snapshot that the cluster begins with."""
    return FileSnapshotStore(RealDisk(str(folder / "a")), METADATA_FOLDER).voters_of(BOOTSTRAP)


def directory_id(folder: Path) -> Uuid | None:
    return meta_properties.read((folder / "meta.properties").read_bytes()).directory_id


def records_in(folder: Path) -> list[str]:
    disk = RealDisk(str(folder))
    bootstrap = LogDir(disk, str(folder), meta_properties.read(disk.read_whole("meta.properties"))).bootstrap()
    return [f"{record.name}={record.feature_level}" for record in bootstrap]  # type: ignore[attr-defined]  # features


FEATURES = [
    "metadata.version=33",
    "eligible.leader.replicas.version=1",
    "group.version=1",
    "share.version=2",
    "streams.version=1",
    "transaction.version=2",
]


def test_format_of_a_quorum_with_static_voters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert formatted(tmp_path, STATIC) == 0
    assert "Formatting metadata directory" in capsys.readouterr().out
    assert quorum_in(tmp_path) == (None, 0)
    assert records_in(tmp_path / "a") == FEATURES
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["meta.properties"]


def test_a_node_without_roles_is_its_quorum_alone(tmp_path: Path) -> None:
    assert formatted(tmp_path, ALONE) == 0
    assert quorum_in(tmp_path) == (None, 0)


@pytest.mark.parametrize("words", [(), ("-f", "kraft.version=1")])
def test_format_of_a_standalone_controller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert formatted(tmp_path, DYNAMIC, "--standalone", *words) == 0
    assert "Formatting dynamic metadata voter directory" in capsys.readouterr().out
    own = directory_id(tmp_path / "a")
    assert quorum_in(tmp_path) == (parse(f"4@10.0.0.4:9093:{own}", "CONTROLLER"), 1)
    assert records_in(tmp_path / "a") == FEATURES
    assert directory_id(tmp_path / "b") not in (None, own)


@pytest.mark.parametrize(
    ("settings", "endpoint"), [(DYNAMIC + ADVERTISED, "example.org:19093"), (CONTROLLER, "localhost:9093")]
)
def test_standalone_voter_has_the_advertised_endpoint_or_localhost(
    tmp_path: Path, settings: str, endpoint: str
) -> None:
    assert formatted(tmp_path, settings, "-s") == 0
    own = directory_id(tmp_path / "a")
    assert quorum_in(tmp_path) == (parse(f"4@{endpoint}:{own}", "CONTROLLER"), 1)


@pytest.mark.parametrize(("voters", "kind"), [(BOTH, "metadata voter"), (OTHER, "metadata")])
def test_format_with_initial_controllers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], voters: str, kind: str
) -> None:
    assert formatted(tmp_path, DYNAMIC, "--initial-controllers", voters) == 0
    assert f"Formatting dynamic {kind} directory" in capsys.readouterr().out
    own = directory_id(tmp_path / "a")
    assert (own == FOUR, own == FIVE) == (voters == BOTH, False)
    assert quorum_in(tmp_path) == (parse(voters, "CONTROLLER"), 1)


def test_format_without_initial_controllers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert formatted(tmp_path, DYNAMIC, "-N") == 0
    assert "Formatting metadata directory" in capsys.readouterr().out
    assert quorum_in(tmp_path) == (None, 1)
    assert records_in(tmp_path / "a") == FEATURES


@pytest.mark.parametrize("words", [(), ("-N",), ("-I", BOTH)])
def test_a_broker_has_no_snapshot(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert formatted(tmp_path, BROKER, *words) == 0
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["meta.properties"]


REFUSED = [
    (STATIC, ["-s"], "You cannot specify controller.quorum.voters and format the node with --initial-controllers or "),
    (STATIC, ["-I", BOTH], "please remove controller.quorum.voters and specify controller.quorum.bootstrap.servers"),
    (BROKER, ["-s"], "You can only use --standalone on a controller.\n"),
    (DYNAMIC, [], "Because controller.quorum.voters is not set on this controller, you must specify one of the "),
    (DYNAMIC, ["-s", "-f", "kraft.version=0"], "Cannot set kraft.version to 0 if controller.quorum.voters is empty"),
    (STATIC, ["-f", "kraft.version=1"], "Cannot set kraft.version to 1 unless controller.quorum.voters is empty"),
    (COMBINED, [], "controller.quorum.voters and controller.quorum.bootstrap.servers are both empty"),
    (ALONE, ["-f", "kraft.version=1"], "Cannot set kraft.version to 1 unless controller.quorum.voters is empty"),
    (DYNAMIC, ["-s", "-f", "kraft.version=2"], "kraft.version goes from 0 to 1"),
    (DYNAMIC, ["-I", "nope"], "'nope' is no voter"),
    (DYNAMIC, ["-I", ""], "no voters are given"),
    (ALONE, ["-s"], "No controller listeners found."),
    (STATIC, ["-r", "2.8"], "2.8 is no release"),
    (STATIC, ["-f", "metadata.version=33", "-r", "4.4"], "two answers"),
    (STATIC, ["-f", "nonsense=1"], "no feature"),
    (STATIC, ["-S", "SCRAM-MD5=[name=a,password=b]"], "are known"),
    (STATIC, ["-f", "kraft.version"], "name=level"),
    (STATIC, ["-r", "3.9", "-f", "eligible.leader.replicas.version=1"], "needs metadata.version 4.0-IV1"),
]


@pytest.mark.parametrize(("settings", "words", "message"), REFUSED)
def test_format_of_a_quorum_with_wrong_arguments_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: str, words: list[str], message: str
) -> None:
    assert formatted(tmp_path, settings, *words) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "a").exists() or not list((tmp_path / "a").iterdir())


def test_an_unknown_setting_is_a_warning_and_an_error_with_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = STATIC + "num.partitons=3\n"
    assert formatted(tmp_path, settings, "--strict") == 1
    message = "unknown setting 'num.partitons'; Kafka 4.4 has none of this name; did you mean 'num.partitions'?"
    assert message in capsys.readouterr().err
    assert not (tmp_path / "a").exists()
    assert formatted(tmp_path, settings) == 0
    assert f"{message}; it is ignored" in capsys.readouterr().err


def test_format_options_that_exclude_each_other_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        formatted(tmp_path, DYNAMIC, "-s", "-N")
    assert "not allowed with" in capsys.readouterr().err


def test_directories_of_others_are_not_joined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert formatted(tmp_path, STATIC) == 0
    for file in (tmp_path / "b").iterdir():
        file.unlink()
    config = tmp_path / "server.properties"
    again = ["format", "-c", str(config), "--ignore-formatted"]
    assert main([*again, "-t", "another"]) == 1
    assert "belongs to cluster a-cluster, and this is cluster another" in capsys.readouterr().err
    config.write_text(DYNAMIC.replace("node.id=4", "node.id=5").format(tmp_path))
    assert main([*again, "-N"]) == 1
    assert "belongs to node 4, and this is node 5" in capsys.readouterr().err
    config.write_text(STATIC.format(tmp_path))
    assert main(again) == 0
    assert "cluster.id=a-cluster\n" in (tmp_path / "b" / "meta.properties").read_text()
