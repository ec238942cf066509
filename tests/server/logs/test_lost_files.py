"""Files that are damaged, emptied or deleted while a broker runs, or while it is stopped: the
broker logs an error, stops serving one partition or one directory at most, and goes on
(KIP-112)."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkadouble.messages import error_codes
from tests.server.harness import NOW
from tests.server.machine import fetch_request

from .two_directories import LARGE, Node

STORAGE_ERROR = error_codes.KAFKA_STORAGE_ERROR
CLOSED, ACTIVE = "00000000000000000000", "00000000000000000003"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """The topics `lost` and `kept`, each of two segments: offsets 0 to 2, and 3 and 4."""
    made = Node(tmp_path)
    for topic in ("lost", "kept"):
        made.create(topic)
        for _ in range(4):
            assert made.produce(topic, LARGE) == 0
        made.produce(topic)
    assert {path.name for path in tmp_path.glob("*/lost-0/*.log")} == {f"{CLOSED}.log", f"{ACTIVE}.log"}
    return made


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def serves_on(node: Node) -> None:
    assert node.node.halted is None
    assert node.fetched("kept") == 0
    assert node.produce("kept") == 0
    assert node.fetched("lost") == node.listed("lost", NOW) == STORAGE_ERROR
    assert node.produce("lost") == STORAGE_ERROR


ENTRIES = {
    "a negative position": b"\0\0\0\1\xff\xff\xff\xff",
    "a position beyond the log": b"\0\0\0\1\x7f\xff\xff\xff",
    "a negative offset": b"\x80\0\0\0\0\0\0\1",
    "an offset beyond the segment": b"\x7f\xff\xff\xff\0\0\0\1",
    "zeros": bytes(8),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("number", [0, -1])
def test_a_wrong_index_is_rebuilt(
    node: Node, entry: str, restarted: bool, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Any four or eight bytes of it may change: the same records are found, and the broker goes on
    serving."""
    if restarted:
        node.stop()
    path = node.path("lost", f"{CLOSED}.index")
    true = path.read_bytes()
    lying = bytearray(true)
    at = 0 if number == 0 else len(true) - 8
    lying[at : at + 8] = ENTRIES[entry]
    path.write_bytes(lying)
    if restarted:
        node.start()
    for offset in range(5):
        assert node.fetched("lost", offset) == 0
    assert node.node.halted is None
    assert not errors(caplog)
    assert len([record for record in caplog.records if "is rebuilt" in record.getMessage()]) <= 1
    first = node.submit(fetch_request("lost", 2), 11).responses[0].partitions[0].records
    assert int.from_bytes(bytes(first)[:8], "big") == 2


DEEDS: dict[str, Callable[[Path], object]] = {
    "emptied": lambda path: path.write_bytes(b""),
    "deleted": lambda path: path.unlink(),
    "its folder deleted": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("name", [CLOSED, ACTIVE])
@pytest.mark.parametrize("deed", DEEDS)
def test_a_log_that_goes_while_the_broker_runs(
    node: Node, deed: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The damage is seen when the file is read or opened again: here at most one file is open."""
    node.stop()
    node.start(most_open=1)
    assert node.fetched("lost") == 0
    DEEDS[deed](node.path("lost", f"{name}.log"))
    assert node.fetched("kept") == 0
    assert node.fetched("lost", 3 if name == ACTIVE else 0) == STORAGE_ERROR
    serves_on(node)
    assert len(errors(caplog)) == 1
    assert "lost-0 is offline until a restart, and its partition is not served" in errors(caplog)[0]
    assert name in errors(caplog)[0]


@pytest.mark.parametrize(("deed", "name"), [("emptied", CLOSED), ("emptied", ACTIVE), ("deleted", ACTIVE)])
def test_a_log_that_goes_while_the_broker_is_stopped(
    node: Node, deed: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The next start reports it, and the start after that: flushed records are never taken for
    records that were never written. (A missing first segment is no error: retention deletes it,
    too.)"""
    node.stop()
    DEEDS[deed](node.path("lost", f"{name}.log"))
    for _ in range(2):
        caplog.clear()
        node.start()
        serves_on(node)
        assert len(errors(caplog)) == 1
        assert name in errors(caplog)[0]
        node.stop()


@pytest.mark.parametrize("clean", [True, False])
def test_a_segment_in_the_middle_that_goes(node: Node, clean: bool, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(8):
        node.produce("lost", LARGE)
    node.flush()
    node.node.logs.checkpoint(node.now)
    for partition in node.node.partitions:
        node.node.flushing.want(partition)
    node.flush()
    node.node.logs.checkpoint(node.now)
    node.stop(clean=clean)
    node.path("lost", f"{ACTIVE}.log").unlink()
    node.start()
    serves_on(node)
    assert ACTIVE in errors(caplog)[0]


def test_a_directory_that_is_removed(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    """The directory fails as a whole; the metadata are in another one."""
    here = sorted((node.folder / "b").glob("*-0"), reverse=True)
    assert here
    shutil.rmtree(node.folder / "b")
    node.tick(60_000)
    assert node.node.halted is None
    assert len(errors(caplog)) == 1
    assert "b is offline until a restart" in errors(caplog)[0]
    lost = [topic for topic in ("lost", "kept") if node.fetched(topic) == STORAGE_ERROR]
    assert lost == [path.name.removesuffix("-0") for path in here]
