"""Kafka's own files: what `kafkadouble dump` shows of them is what kafka-dump-log shows, number for number, and `kafkadouble check` finds them
good, and every byte that is changed in one of their segments.

A real Kafka fills a directory, is stopped, filled again, and killed; both states are looked at. Needs Java, and Maven for the first time.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interop.local import Missing, cluster
from interop.support import eventually
from interop.tools import dump_log
from interop.tools.filling import COMPACTED, OVERRIDES, again, fill
from interop.tools.jars import jars
from kafkadouble.dump import Options, items
from kafkadouble.dump.checking import check
from kafkadouble.dump.dumping import files
from kafkadouble.dump.item import BATCH, FILE, RECORD, Item
from kafkadouble.dump.kinds import decoder_of
from kafkadouble.messages import registry
from kafkadouble.server.log.formats import names

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "cluster_metadata-0"
SHOWN = (".log", ".checkpoint", ".index", ".timeindex", ".txnindex", ".snapshot")
"""What kafka-dump-log reads."""
FLIPS = 15
"""Bytes that are changed in each segment, beside those of two batches that are not under a checksum."""


class Written(NamedTuple):
    """Copies of the log directory of a real Kafka: after a clean stop, and after it was killed in its next life."""

    stopped: Path
    killed: Path


@pytest.fixture(scope="module", autouse=True)
def tools(request: pytest.FixtureRequest) -> None:
    """kafka-dump-log, or a skip that says what is missing; in a run that is not about a Kafka of this machine, that it is not."""
    if "local" not in (request.config.getoption("broker") or []):
        pytest.skip("the files are written by a Kafka of this machine: --broker local")
    with _had(request):
        jars()


@pytest.fixture(scope="module")
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("files")
    found = Written(folder / "stopped", folder / "killed")
    with _had(request), cluster(folder / "run", request.config.getoption("kafka"), overrides=OVERRIDES) as kafka:
        node = kafka.nodes[0]
        fill(kafka.bootstrap)
        cleaned = node.data / names.CLEANER_OFFSET
        eventually(lambda: cleaned.exists() and COMPACTED in cleaned.read_text(), bool)
        eventually(lambda: list(node.data.glob("*/*[1-9]-*.checkpoint")), bool)
        node.stop()
        shutil.copytree(node.data, found.stopped)
        node.start()
        again(kafka.bootstrap)
        node.kill()
        shutil.copytree(node.data, found.killed)
    return found


@contextmanager
def _had(request: pytest.FixtureRequest) -> Iterator[None]:
    try:
        yield
    except Missing as reason:
        if request.config.getoption("must"):
            raise
        pytest.skip(f"no Kafka of this machine: {reason}")


def test_what_we_show_of_a_stopped_kafkas_files_is_what_kafka_shows(written: Written) -> None:
    seen = _compare(written.stopped)
    assert {path.suffix for path in seen} >= set(SHOWN)
    assert {decoder_of(path) for path in seen} == {"raw", "metadata", "offsets", "transactions"}


def test_what_we_show_of_a_killed_kafkas_files_is_what_kafka_shows(written: Written) -> None:
    _compare(written.killed)


def test_what_we_show_of_the_golden_files_is_what_kafka_shows(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "__cluster_metadata-0")
    assert len(_compare(tmp_path)) == 2


@pytest.mark.parametrize("state", Written._fields)
def test_what_kafka_wrote_is_good(written: Written, state: str) -> None:
    folder: Path = getattr(written, state)
    verdict = check(folder)
    assert verdict.word == "good", verdict
    assert verdict.counts["partitions"] == 7
    for path in files(folder):
        assert check(path).word == "good", path


def test_every_changed_byte_of_a_segment_is_found(written: Written, tmp_path: Path) -> None:
    shutil.copytree(written.stopped, tmp_path / "data")
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance, hidden = random.Random(seed), []
    for log in sorted((tmp_path / "data").glob("*/*.log")):
        good = log.read_bytes()
        for at in _places(log, chance):
            log.write_bytes(good[:at] + bytes((good[at] ^ 1 << chance.randrange(8),)) + good[at + 1 :])
            # What a partition cannot tell of itself, the checkpoints of the directory can.
            if check(log).word == "good" and check(tmp_path / "data").word == "good":
                hidden.append((log, at))
        log.write_bytes(good)
    assert hidden == []


def _places(log: Path, chance: random.Random) -> list[int]:
    """Some bytes; and of the first and the last batch those that are not under its checksum."""
    size = log.stat().st_size
    if not size:
        return []
    last = [item.fields["position"] for item in items(log) if item.kind == BATCH][-1]
    return sorted({*range(16), *range(last, last + 16), *(chance.randrange(size) for _ in range(FLIPS))})


# The comparison.

_NO_ERROR = re.compile(r"log4j|Non-consecutive offsets in|is followed by")
"""Lines on standard error that blame no file: every segment that begins elsewhere than at 0 is told to have a gap in front."""


def _compare(folder: Path) -> list[Path]:
    """Asserts that both say the same of every file that kafka-dump-log reads; gives these."""
    shown = [path for path in files(folder) if path.suffix in SHOWN and not _is_room(path)]
    compared = []
    for decode in dump_log.DECODERS:
        wanted = [path for path in shown if decoder_of(path) == decode]
        if wanted:
            theirs, told = dump_log.dump(wanted, decode)
            assert not [line for line in told.splitlines() if not _NO_ERROR.search(line)], told
            for path in wanted:
                assert _ours(path) == theirs[path], path
            compared += wanted
    return compared


def _is_room(path: Path) -> bool:
    """An index without entries whose room was not cut off: of that, kafka-dump-log takes the first zeros for an entry."""
    return path.suffix in (".index", ".timeindex") and path.stat().st_size > 0 and not path.read_bytes().strip(b"\0")


def _ours(path: Path) -> list[dict[str, Any]]:
    found = list(items(path, Options(records=True)))
    assert all(item.problem is None for item in found)
    return [_as_kafka_says(item, decoder_of(path)) for item in found if item.kind != FILE]


def _as_kafka_says(item: Item, decode: str) -> dict[str, Any]:
    if item.kind != RECORD:
        return item.fields
    row = dict(item.fields)
    key, value = row.pop("key"), row.pop("value")
    row["headerKeys"] = [name for name, _ in row.pop("headers")]
    row["kind"] = RECORD
    if isinstance(key, dict) and "data" not in key:
        return row | _control(value)
    return row | (_SAYS[decode](key, value) if decode in _SAYS else {})


def _control(value: dict[str, Any]) -> dict[str, Any]:
    if value["type"] in ("ABORT", "COMMIT"):
        return {"marker": (value["type"], value["data"]["coordinatorEpoch"])}
    return {"control": value["data"]}


def _metadata(key: Any, value: dict[str, Any]) -> dict[str, Any]:
    name = "".join(f"_{letter}" if letter.isupper() else letter for letter in value["type"]).upper().removeprefix("_")
    return {"payload": {**value, "type": name}}


def _coordinator(key: dict[str, Any], value: Any) -> dict[str, Any]:
    kind = next(entry.api_key for entry in registry.entries("coordinator-key") if entry.name == key["type"])
    found: dict[str, Any] = {"key": {"type": str(kind), "data": key["data"]}}
    if isinstance(value, dict):
        found["payload"] = {"version": str(value["version"]), "data": _without_versions(value["data"])}
    return found


def _without_versions(data: dict[str, Any]) -> dict[str, Any]:
    """Of what consumers told, Kafka shows no version."""
    for member in data.get("members", ()):
        for name in ("subscription", "assignment"):
            if isinstance(member[name], dict):
                member[name].pop("version")
    return data


_SAYS: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "metadata": _metadata,
    "offsets": _coordinator,
    "transactions": _coordinator,
}
