"""A path of the repository that a page names in backticks is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.links import files
from tests.support.pages import ROOT

TREES = (
    "benchmarks",
    "codegen",
    "docs",
    "examples",
    "interop",
    "messages",
    "pipeline",
    "server",
    "src",
    "tests",
    "wire",
)
PATH = re.compile(rf"`((?:{'|'.join(TREES)})/[\w./-]*[\w/])(?:::\w+)?`")
OURS = [path for path in files() if path.name != "CHANGELOG.md"]


@pytest.mark.parametrize("page", OURS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_are_there(page: Path) -> None:
    named = set(PATH.findall(page.read_text()))
    assert sorted(path for path in named if not (ROOT / path).exists()) == []
