"""A double with a data directory keeps everything: over stops, kills and starts, in a program and
as a process."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, KafkaError
from kafkadouble.__main__ import main
from kafkadouble.common.errors import UsageError
from tests.control.http import post
from tests.support.client import produce
from tests.support.serving import run, serving

PROPERTIES = """
process.roles=broker,controller
node.id=4
log.dirs={0}/a,{0}/b
controller.quorum.voters=4@127.0.0.1:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(PROPERTIES.format(tmp_path))
    return path


SNAPSHOTS = {"metadata.log.max.snapshot.interval.ms": "1000", "metadata.max.idle.interval.ms": "5000"}


def test_reset_forgets_and_keeps_the_directory(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=[tmp_path / "a", tmp_path / "b"]) as kafka:
        kafka.create_topic("t")
        kafka.reset()
        with pytest.raises(KafkaError):
            kafka.records("t")
        kafka.create_topic("u")
    with KafkaDouble(data_dir=[tmp_path / "a", tmp_path / "b"]) as kafka:
        assert kafka.records("u") == []


def test_two_doubles_cannot_have_one_directory(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path), pytest.raises(UsageError, match="in use"):
        KafkaDouble(data_dir=tmp_path).start()


def test_a_directory_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="twice"):
        KafkaDouble(data_dir=[tmp_path, tmp_path / "." / ""]).start()


def test_data_dir_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"")
    with pytest.raises(UsageError, match="not empty"):
        KafkaDouble(data_dir=tmp_path).start()


def test_format_prints_the_directories_that_it_makes(
    tmp_path: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["format", "--config", str(config), "--cluster-id", "U-2bg2rDT0OJgmkICpav1A"]
    assert main(words) == 0
    assert capsys.readouterr().out == (
        f"Formatting metadata directory {tmp_path}/a with metadata.version 4.4-IV2.\n"
        f"Formatting data directory {tmp_path}/b with metadata.version 4.4-IV2.\n"
    )
    assert "node.id=4\n" in (tmp_path / "b" / "meta.properties").read_text()
    assert main(words) == 1
    assert "already formatted" in capsys.readouterr().err
    assert main([*words, "--ignore-formatted"]) == 0
    assert capsys.readouterr().out == "All of the log directories are already formatted.\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("words", [(), ("-c", "log.flush.interval.messages=1")], ids=["written", "flushed"])
def test_serve_keeps_acknowledged_records(tmp_path: Path, number: signal.Signals, words: tuple[str, ...]) -> None:
    with serving("--data-dir", str(tmp_path / "d"), "--topic", "t", *words) as broker:
        assert [produce(broker.address, "t", b"v") for _ in range(3)] == [(0, 0), (0, 1), (0, 2)]
        broker.end(number)
    with serving("--data-dir", str(tmp_path / "d")) as again:
        assert produce(again.address, "t", b"v") == (0, 3)
        assert again.startup["cluster.id"] == broker.startup["cluster.id"]


def test_serve_takes_the_directories_of_the_settings_when_they_are_formatted(tmp_path: Path, config: Path) -> None:
    with serving("--config", str(config)) as broker:
        assert "stays in memory" in broker.end()[1]
    assert run("format", "-c", str(config), "-t", "a-cluster").returncode == 0
    with serving("--config", str(config), "--topic", "t:4") as broker:
        assert (broker.startup["cluster.id"], broker.startup["node.id"]) == ("a-cluster", "4")
        assert "memory" not in broker.end()[1]
    assert sorted(path.name for path in (tmp_path / "b").glob("t-*"))


@pytest.mark.parametrize("lost", ["a/meta.properties", "*/meta.properties"])
def test_serve_does_not_stay_in_memory_when_meta_properties_is_lost(tmp_path: Path, config: Path, lost: str) -> None:
    assert run("format", "-c", str(config)).returncode == 0
    with serving("--config", str(config), "--topic", "t") as broker:
        broker.end()
    for path in tmp_path.glob(lost):
        path.unlink()
    ended = run("serve", "--config", str(config))
    assert (ended.returncode, ended.stdout) == (3, "")
    assert f"{tmp_path}/a has no meta.properties" in ended.stderr


def test_serve_is_the_node_that_the_directory_belongs_to(tmp_path: Path, config: Path) -> None:
    assert run("format", "-c", str(config)).returncode == 0
    with serving("--data-dir", str(tmp_path / "a")) as broker:
        assert broker.startup["node.id"] == "4"
    ended = run("serve", "--port", "0", "--data-dir", str(tmp_path / "a"), "-c", "node.id=5")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "belongs to node 4, and this is node 5" in ended.stderr


def test_serve_names_the_file_that_it_cannot_understand(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--topic", "t") as broker:
        broker.end()
    (tmp_path / "meta.properties").write_text("version=1\n")
    ended = run("serve", "--port", "0", "--data-dir", str(tmp_path))
    assert (ended.returncode, ended.stdout) == (3, "")
    assert f"{tmp_path}/meta.properties" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("brokers", [1, 3])
def test_advance_flushes_logs_whose_flush_is_due(tmp_path: Path, brokers: int) -> None:
    """The file of a snapshot is complete when `advance` returns: a flush takes none of the stepped
    time."""
    with KafkaDouble(brokers=brokers, stepped=True, seed=1, data_dir=tmp_path / "data", config=SNAPSHOTS) as kafka:
        kafka.create_topic("t")
        kafka.advance(62)
        written = [path.name for path in tmp_path.rglob("*.checkpoint*") if path.parent.name.startswith("__cluster")]
    assert len([name for name in written if name.endswith("-0000000001.checkpoint")]) >= brokers
    assert [name for name in written if name.endswith(".part")] == []


def test_single_broker_is_killed_and_started_over_http(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--control-port", "0") as served:
        url = served.control_url()
        post(url, "produce", topic="orders", value="two pears")
        post(url, "kill_broker", broker=1)
        assert post(url, "describe_cluster")["brokers"]["1"]["state"] == "stopped"
        post(url, "up")
        assert [each["value"] for each in post(url, "records", topic="orders")] == ["two pears"]
