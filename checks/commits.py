"""Checks how commits are written: `python -m checks.commits`.

Rules. A subject has at most 72 characters. It is `area: verb ...`: an area in lower case, such as
the package that changes, and an imperative verb of `verbs.txt`. A body says why, unless the area is
docs or fewer than ten lines changed. Merges are not checked.

The length holds for the commits after the one that added this file, the other rules for those after
the one that added `verbs.txt`. So no commit id is written down that a rebase or a squash would
change. Where the history is missing, it says so and checks nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .moods import VERBS, verbs

ROOT = Path(__file__).resolve().parents[1]
THIS = "checks/commits.py"
SINCE_VERBS = f"checks/{VERBS.name}"
WIDTH = 72
SMALL = 10
"""Lines: a commit that changes fewer needs no body."""

_SUBJECT = re.compile(r"(?P<area>[a-z0-9][a-z0-9_./, -]*): (?P<verb>\S+)")
_FORMAT = "%x00%h%x00%s%x00%b%x00"


class NoHistory(Exception):
    """The commits cannot be read; the text says why."""


class Commit(NamedTuple):
    """A commit: `changed` are the lines that were added and removed."""

    id: str
    subject: str
    body: str
    changed: int


def too_long(commit: Commit) -> Iterator[str]:
    """Says when the subject is too long."""
    if len(commit.subject) > WIDTH:
        yield f"a subject of {len(commit.subject)} characters, at most {WIDTH} are allowed"


def unclear(commit: Commit) -> Iterator[str]:
    """Says when the subject has no area or no verb, and when the body is missing."""
    subject = _SUBJECT.match(commit.subject)
    if subject is None:
        yield "a subject without an area: write `area: verb ...`"
        return
    if subject["verb"] not in verbs():
        yield f"{subject['verb']!r} behind the area is no verb of {SINCE_VERBS}"
    if not commit.body.strip() and subject["area"] != "docs" and commit.changed >= SMALL:
        yield f"no body, and {commit.changed} lines changed: say why"


RULES = ((THIS, too_long), (SINCE_VERBS, unclear))
"""Each rule, with the file since whose commit it holds."""


def problems(root: Path) -> Iterator[str]:
    """What is wrong with the commits. Raises NoHistory."""
    for path, rule in RULES:
        for commit in _since(root, path):
            yield from (f"commit {commit.id}: {text}: {commit.subject}" for text in rule(commit))


def _since(root: Path, path: str) -> Iterator[Commit]:
    """The commits after the one that added this file."""
    try:
        if _git(root, "rev-parse", "--is-shallow-repository").strip() == "true":
            raise NoHistory("this is a shallow clone; `git fetch --unshallow` brings the history")
        added = _git(root, "log", "--diff-filter=A", "--format=%H", "--", path).split()
        if not added:
            raise NoHistory(f"{path} is not committed yet")
        text = _git(root, "log", "--no-merges", "--numstat", f"--format={_FORMAT}", f"{added[-1]}..HEAD")
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoHistory(f"git cannot read a repository here: {error}") from None
    fields = text.split("\0")[1:]
    for id, subject, body, numbers in zip(*(fields[at::4] for at in range(4)), strict=True):
        yield Commit(id, subject, body, sum(map(int, re.findall(r"\b(\d+)\t", numbers))))


def main(root: Path = ROOT) -> int:
    try:
        found = list(problems(root))
    except NoHistory as error:
        print(f"NOT CHECKED: commits; {error}", file=sys.stderr)
        return 0
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
