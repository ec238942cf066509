"""300 files of settings, right and slightly wrong: `serve` and `format` take those that Apache
Kafka's KafkaConfig and StorageTool take, and refuse the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.differential.divergence import rows

from .java import SAME, Witness, running
from .node_settings import COMBINED, Lines, file_of, format_problem, start_problem

FILES = 300
LEAST = FILES // 4
"""So many files at least are taken, and so many refused."""

NO_ROLES = "Settings without `process.roles` are refused"
NO_CLASS = "Class names in settings are loaded"
INTENDED: dict[str, Lines] = {
    NO_ROLES: {name: text for name, text in COMBINED.items() if name != "process.roles"},
    NO_CLASS: COMBINED | {"principal.builder.class": "com.example.Principals"},
}
"""Rows of divergence.toml, each with settings that are taken here and refused by Kafka."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[Witness]:
    with running(Path(__file__).with_name("SettingsWitness.java")) as found:
        yield found


def written(folder: Path, lines: Lines) -> Path:
    folder.mkdir()
    file = folder / "server.properties"
    file.write_text("".join(f"{name}={text}\n" for name, text in lines.items()), "utf-8")
    return file


def judged_by_kafka(kafka: Witness, file: Path, flags: tuple[str, ...]) -> tuple[str, str]:
    """Why Kafka refuses to start with a file, and to format with it; "" if it does not."""
    start, format_ = (kafka.answer(*words)[0] for words in (("start", file), ("format", file, *flags)))
    return start.removeprefix(SAME), format_.removeprefix(SAME)


def test_files_are_taken_and_refused_as_by_kafka(kafka: Witness, tmp_path: Path) -> None:
    differing, taken = [], 0
    for seed in range(FILES):
        ours, theirs = tmp_path / f"{seed}-ours", tmp_path / f"{seed}-theirs"
        lines, flags = file_of(seed, theirs)
        by_kafka = judged_by_kafka(kafka, written(theirs, lines), flags)
        taken += not by_kafka[0]
        if "process.roles" not in lines:
            assert all(by_kafka), f"seed {seed}: {INTENDED[NO_ROLES]}"
            continue
        lines, flags = file_of(seed, ours)
        file = written(ours, lines)
        problems = start_problem(file), format_problem(file, flags)
        if [*map(bool, problems)] != [*map(bool, by_kafka)]:
            differing.append((seed, flags, lines, problems, by_kafka))
    print(*differing, sep="\n")
    assert not differing
    assert LEAST < taken < FILES - LEAST


@pytest.mark.parametrize("row", INTENDED)
def test_intended_setting_difference_to_kafka_exists(kafka: Witness, tmp_path: Path, row: str) -> None:
    assert row in [intended.kafka for intended in rows()]
    file = written(tmp_path / "node", INTENDED[row] | {"log.dirs": str(tmp_path / "logs")})
    assert all(judged_by_kafka(kafka, file, ()))
    assert (start_problem(file), format_problem(file, ())) == ("", "")
