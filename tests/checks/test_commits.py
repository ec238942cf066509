"""The check of commits, on repositories made for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from checks import commits

LONG = "area: add " + "x" * 63  # 73 characters
TEN_LINES = "\n".join("0123456789")


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "--allow-empty", "-qm", message)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A commit that breaks every rule and is older than the check; those that add the rules."""
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "x" * 73)
    (tmp_path / "checks").mkdir()
    (tmp_path / commits.THIS).write_text("")
    commit(tmp_path, "long subjects are refused from here on")
    (tmp_path / commits.SINCE_VERBS).write_text("")
    commit(tmp_path, "The list of verbs, without an area")
    return tmp_path


def test_commit_after_the_check_is_refused_for_a_long_subject(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(repository, LONG[:-1])
    assert commits.main(repository) == 0
    assert capsys.readouterr() == ("", "")
    commit(repository, LONG)
    assert commits.main(repository) == 1
    assert f"a subject of 73 characters, at most 72 are allowed: {LONG}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("log: flush a truncation\n\nIt could be lost.", ""),
        ("interop/walks, tests: add a walk\n\nWhy.", ""),
        ("docs: name the page", ""),
        ("Add a walk\n\nWhy.", "without an area"),
        ("Log: add a walk\n\nWhy.", "without an area"),
        ("log: a flush\n\nWhy.", "'a' behind the area is no verb"),
        ("log: flushes it\n\nWhy.", "'flushes' behind the area is no verb"),
        ("log: add a walk", "no body, and 10 lines changed"),
        ("log: add a walk\n\n ", "no body, and 10 lines changed"),
    ],
)
def test_commit_needs_area_verb_and_reason(
    repository: Path, capsys: pytest.CaptureFixture[str], message: str, problem: str
) -> None:
    (repository / "a").write_text(TEN_LINES)
    commit(repository, message)
    assert commits.main(repository) == bool(problem)
    assert problem in capsys.readouterr().out


def test_commit_of_nine_lines_needs_no_body(repository: Path) -> None:
    (repository / "a").write_text(TEN_LINES[2:])
    commit(repository, "log: add a walk")
    assert commits.main(repository) == 0


def test_merge_commit_is_not_checked(repository: Path) -> None:
    git(repository, "checkout", "-qb", "other")
    commit(repository, "other: add one")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "x" * 73, "other")
    assert commits.main(repository) == 0


def test_commit_check_finds_a_rebased_commit(repository: Path) -> None:
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
        assert errors.startswith("NOT CHECKED: commits; ")
        assert why in errors
