"""Apache Kafka's tools read kafkadouble's own files without a complaint, and find the records that
were written.

A double fills a directory, cleans the log, stops, fills it again, and is killed; each time a
transaction is open. The tests read both states. Needs Java, and Maven for the first time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.brokers.double import Double
from interop.local.jars import program
from interop.tools import dump_log
from interop.tools.filling import COMPACTED, LARGE, MIXED, SEGMENT, fill, leave_open
from interop.tools.jars import jars
from interop.tools.metadata_shell import shell
from interop.tools.same_dump import compare
from kafkadouble.dump.checking import check
from kafkadouble.server.log.formats import names
from tests.support.waiting import eventually

SETTINGS = (
    "-c", "log.cleaner.backoff.ms=200", "-c", "offsets.topic.num.partitions=3",
    "-c", "transaction.state.log.num.partitions=3",
)  # fmt: skip
COMPLAINTS = ("isvalid: false", "Mismatches in", "mismatch", "corrupt")


class Written(NamedTuple):
    """Copies of the double's directory: after a clean shutdown, and after it was restarted and
    killed."""

    stopped: Path
    killed: Path


@pytest.fixture(scope="module")
def written(local_tools: None, tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("own")
    found, data = Written(folder / "stopped", folder / "killed"), folder / "data"
    config = folder / "server.properties"
    config.write_text(f"node.id=1\nlog.dirs={data}\n")
    # The tools know this metadata version, since they are of an older release.
    words = ["-m", "kafkadouble", "format", "--config", str(config), "--release-version", "4.3"]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    server = Double(str(data), *SETTINGS)
    try:
        server.start()
        fill(server.bootstrap)
        eventually(lambda: sum(path.stat().st_size for path in data.glob(f"{COMPACTED}-0/*.log")) < 3 * SEGMENT // 2)
        producers = leave_open(server.bootstrap)
        server.stop()
        shutil.copytree(data, found.stopped)
        server.start()
        fill(server.bootstrap, topics=False)
        producers += leave_open(server.bootstrap)
        server.kill()
        shutil.copytree(data, found.killed)
    finally:
        server.stop()
    return found


def test_kafka_finds_what_we_report(written: Written) -> None:
    """kafka-dump-log and `kafkadouble dump` show the same numbers."""
    seen = compare(written.stopped)
    topics = {(names.parse_partition_folder(path.parent.name) or ("", 0))[0] for path in seen}
    assert topics >= {MIXED, LARGE, COMPACTED, "__consumer_offsets", "__transaction_state", "__cluster_metadata"}
    assert ".txnindex" in {path.suffix for path in seen}


def test_kafka_reads_the_same_after_a_kill(written: Written) -> None:
    compare(written.killed)


@pytest.mark.parametrize("state", Written._fields)
@pytest.mark.parametrize("option", ["--deep-iteration", "--index-sanity-check", "--verify-index-only"])
def test_kafka_finds_nothing_wrong(written: Written, state: str, option: str) -> None:
    folder: Path = getattr(written, state)
    suffixes = [".log"] if option == "--deep-iteration" else [".index", ".timeindex"]
    files = [path for suffix in suffixes for path in sorted(folder.glob(f"*/*{suffix}"))]
    output = _run(dump_log.MAIN, option, "--files", ",".join(map(str, files)))
    assert all(f"Dumping {path}" in output for path in files)
    complaints = [line for line in output.splitlines() if any(word in line for word in COMPLAINTS)]
    assert complaints == []


@pytest.mark.parametrize("state", Written._fields)
def test_check_of_own_log_files_finds_no_problem(written: Written, state: str) -> None:
    verdict = check(getattr(written, state))
    assert verdict.word == "good", verdict


def test_the_metadata_shell_shows_the_topics(written: Written) -> None:
    log = written.stopped / "__cluster_metadata-0" / "00000000000000000000.log"
    topics = {MIXED, LARGE, COMPACTED}
    shell(log, "ls", "/image/topics/byName", holds=lambda shown: set(shown.split()) >= topics)


def _run(main: str, *words: str) -> str:
    """The whole output of a tool."""
    path = os.pathsep.join(map(str, jars()))
    command = [program("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, main, *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
