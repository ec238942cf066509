"""The check of commit subjects, on repositories made for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from checks import commits

LONG = "area: " + "x" * 67  # 73 characters


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, subject: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "--allow-empty", "-qm", subject)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit that is too long and older than the check, then the one that adds the check."""
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, LONG)
    (tmp_path / "checks").mkdir()
    (tmp_path / commits.THIS).write_text("")
    commit(tmp_path, "checks: refuse long subjects")
    return tmp_path


def test_commits_after_the_check_are_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit(repository, LONG[:-1])
    assert commits.main(repository) == 0
    assert capsys.readouterr() == ("", "")
    commit(repository, LONG)
    assert commits.main(repository) == 1
    assert f"a subject of 73 characters, at most 72 are allowed: {LONG}" in capsys.readouterr().out


def test_the_subject_of_a_merge_may_be_long(repository: Path) -> None:
    git(repository, "checkout", "-qb", "other")
    commit(repository, "other: one")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", LONG, "other")
    assert commits.main(repository) == 0


def test_a_rebase_changes_nothing(repository: Path) -> None:
    commit(repository, LONG)
    git(repository, "commit", "--allow-empty", "--amend", "-qm", LONG + " again")
    assert commits.main(repository) == 1


def test_commit_check_reports_a_missing_history(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(repository, LONG)
    empty, shallow, young = (tmp_path_factory.mktemp(name) for name in ("empty", "shallow", "young"))
    git(shallow, "clone", "-q", "--depth=1", f"file://{repository}", ".")
    git(young, "init", "-q")
    commit(young, "one: begin")
    for root, why in ((empty, "cannot read"), (shallow, "shallow clone"), (young, "not committed")):
        assert commits.main(root) == 0
        errors = capsys.readouterr().err
        assert errors.startswith("NOT CHECKED: commit subjects; ")
        assert why in errors
