"""`serve` on a data directory with corrupt metadata ends with exit code 3 and names the file;
`check` reports the same."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

from kafkadouble.dump.checking import check
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.server.controller.corrupt_metadata import FOLDER, files, left_by, start_of
from tests.server.controller.corrupt_metadata import spoilt as spoilt_disk
from tests.support.serving import run, serving

METADATA = "__cluster_metadata-0"


def refused(directory: Path, file: Path) -> None:
    """Asserts that `serve` and `check` both fail and name the file."""
    ended = run("serve", "--port", "0", "--data-dir", str(directory))
    assert (ended.returncode, ended.stdout) == (3, ""), ended.stderr
    assert f"{METADATA}/{file.name}: " in ended.stderr
    assert "Traceback" not in ended.stderr
    checked = run("check", str(directory))
    assert checked.returncode != 0
    assert file.name in checked.stdout + checked.stderr


def test_serve_names_the_file_and_ends(tmp_path: Path) -> None:
    folder = tmp_path / METADATA
    topics = [word for number in range(20) for word in ("--topic", f"t{number}:3")]
    often = "metadata.log.max.record.bytes.between.snapshots=1000"
    with serving("-q", "--data-dir", str(tmp_path), "-c", often, *topics) as it:
        deadline = time.monotonic() + 30
        while not any(folder.glob("*.checkpoint")):
            assert time.monotonic() < deadline
            it.ask(MetadataRequest(), 9)
        assert it.end()[0] == 0
    for file in (folder / "00000000000000000000.log", folder / "quorum-state", max(folder.glob("*.checkpoint"))):
        good = file.read_bytes()
        at = len(good) // 2
        file.write_bytes(good[:at] + bytes([good[at] ^ 0x80]) + good[at + 1 :])
        refused(tmp_path, file)
        file.write_bytes(good)
    with serving("-q", "--data-dir", str(tmp_path)) as it:
        assert it.end()[0] == 0


def test_check_of_a_log_directory_agrees_with_a_start(tmp_path: Path) -> None:
    """If the start is refused because of one file, `check` does not call that file good."""
    for name, contents in left_by(True).disk.contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(contents.data)
    assert check(tmp_path).corrupt is None
    for path in files():
        if path.endswith((".log", "7.checkpoint", "quorum-state")):
            check_agrees(tmp_path, path)


def check_agrees(tmp_path: Path, path: str) -> None:
    left, random = left_by(True), Random(path)
    good = (tmp_path / path).read_bytes()
    size = len(left.disk.contents[path].data)
    for at in random.sample(range(size), min(size, 25)):
        disk = spoilt_disk(left, path, at, random.randrange(8))
        (tmp_path / path).write_bytes(disk.contents[path].data)
        found, verdict = start_of(disk), check(tmp_path)
        if isinstance(found, str):
            assert verdict.first is not None, found
            assert path.removeprefix(FOLDER) in str(verdict.first) or "epoch" in found, (found, str(verdict.first))
        else:
            assert path.endswith("quorum-state")
    (tmp_path / path).write_bytes(good)
