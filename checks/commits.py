"""Refuses commit subjects over 72 characters: `python -m checks.commits`.

It looks at the commits after the one that added this file, so no commit id is written down that a
rebase or a squash would change. Where the history is missing, it says so and checks nothing.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
THIS = "checks/commits.py"
WIDTH = 72


class NoHistory(Exception):
    """The commits cannot be read; the text says why."""


def subjects(root: Path) -> list[tuple[str, str]]:
    """The short id and the subject of each commit after the one that added this file, merges left
    out."""
    try:
        if _git(root, "rev-parse", "--is-shallow-repository") == ["true"]:
            raise NoHistory("this is a shallow clone; `git fetch --unshallow` brings the history")
        added = _git(root, "log", "--diff-filter=A", "--format=%H", "--", THIS)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoHistory(f"git cannot read a repository here: {error}") from None
    if not added:
        raise NoHistory(f"{THIS} is not committed yet")
    found = _git(root, "log", "--no-merges", "--format=%h %s", f"{added[-1]}..HEAD")
    return [(id, subject) for id, _, subject in (line.partition(" ") for line in found)]


def main(root: Path = ROOT) -> int:
    try:
        found = subjects(root)
    except NoHistory as error:
        print(f"NOT CHECKED: commit subjects; {error}", file=sys.stderr)
        return 0
    long = [(id, subject) for id, subject in found if len(subject) > WIDTH]
    for id, subject in long:
        print(f"commit {id}: a subject of {len(subject)} characters, at most {WIDTH} are allowed: {subject}")
    return 1 if long else 0


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
