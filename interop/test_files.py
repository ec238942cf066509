"""Compares readings of Kafka's own files. `kafkadouble dump` shows the same numbers as
kafka-dump-log. `kafkadouble check` finds the files good, and finds every changed byte in their
segments.

A real Kafka fills a directory, stops, fills it again, and is killed; each time a transaction is
open. The tests read both states.
Needs Java, and Maven for the first time.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.local import cluster
from interop.support import local_kafka
from interop.tools.filling import COMPACTED, OVERRIDES, again, fill, leave_open
from interop.tools.same_dump import SHOWN, compare
from kafkadouble.dump import items
from kafkadouble.dump.checking import check
from kafkadouble.dump.contents.item import BATCH
from kafkadouble.dump.contents.kinds import decoder_of
from kafkadouble.dump.dumping import files
from kafkadouble.server.log.formats import names
from tests.support.waiting import eventually

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "cluster_metadata-0"
FLIPS = 15
"""Bytes that are changed in each segment, besides the bytes of two batches that no checksum
covers."""


class Written(NamedTuple):
    """Copies of the log directory of a real Kafka: after a clean shutdown, and after it was
    restarted and killed."""

    stopped: Path
    killed: Path


pytestmark = pytest.mark.usefixtures("local_tools")


@pytest.fixture(scope="module")
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("files")
    found = Written(folder / "stopped", folder / "killed")
    with local_kafka(request), cluster(folder / "run", request.config.getoption("kafka"), overrides=OVERRIDES) as kafka:
        node = kafka.nodes[0]
        fill(kafka.bootstrap)
        cleaned = node.data / names.CLEANER_OFFSET
        eventually(lambda: cleaned.exists() and COMPACTED in cleaned.read_text())
        eventually(lambda: list(node.data.glob("*/*[1-9]-*.checkpoint")), bool)
        producers = leave_open(kafka.bootstrap)
        node.stop()
        shutil.copytree(node.data, found.stopped)
        node.start()
        again(kafka.bootstrap)
        producers += leave_open(kafka.bootstrap)
        node.kill()
        shutil.copytree(node.data, found.killed)
    return found


def test_dump_of_files_of_a_stopped_kafka_is_as_kafkas(written: Written) -> None:
    seen = compare(written.stopped)
    assert {path.suffix for path in seen} >= set(SHOWN)
    assert {decoder_of(path) for path in seen} == {"raw", "metadata", "offsets", "transactions"}


def test_dump_of_files_of_a_killed_kafka_is_as_kafkas(written: Written) -> None:
    compare(written.killed)


def test_dump_of_the_golden_files_is_as_kafkas(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "__cluster_metadata-0")
    assert len(compare(tmp_path)) == 2


@pytest.mark.parametrize("state", Written._fields)
def test_check_finds_no_fault_in_files_of_kafka(written: Written, state: str) -> None:
    folder: Path = getattr(written, state)
    verdict = check(folder)
    assert verdict.word == "good", verdict
    assert verdict.counts["partitions"] == 7
    for path in files(folder):
        assert check(path).word == "good", path


def test_check_finds_each_changed_byte_of_a_segment(written: Written, tmp_path: Path) -> None:
    shutil.copytree(written.stopped, tmp_path / "data")
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance, hidden = random.Random(seed), []
    for log in sorted((tmp_path / "data").glob("*/*.log")):
        good = log.read_bytes()
        for at in _places(log, chance):
            log.write_bytes(good[:at] + bytes((good[at] ^ 1 << chance.randrange(8),)) + good[at + 1 :])
            # Some damage cannot be seen in a partition's own files, but by the checkpoints of the
            # directory.
            if check(log).word == "good" and check(tmp_path / "data").word == "good":
                hidden.append((log, at))
        log.write_bytes(good)
    assert hidden == []


def _places(log: Path, chance: random.Random) -> list[int]:
    """Positions of some bytes, and of those in the first and the last batch that the batch's
    checksum does not cover."""
    size = log.stat().st_size
    if not size:
        return []
    last = [item.fields["position"] for item in items(log) if item.kind == BATCH][-1]
    return sorted({*range(16), *range(last, last + 16), *(chance.randrange(size) for _ in range(FLIPS))})
