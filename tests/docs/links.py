"""`python -m tests.docs.links` checks every link in the Markdown files of the repository, without a
network.

A relative link must lead to a file, and its anchor to a heading. A link to this repository on
GitHub is checked like a relative one. Other addresses are not opened.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.support.pages import ROOT

REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]
_CODE = re.compile(r"^( *)(```|~~~).*?^\1\2[ `~]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)[ #]*$", re.MULTILINE)
_SKIPPED = {".venv", "build", "dist", "node_modules", "site"}


def files() -> list[Path]:
    """The Markdown files of the repository, in order."""
    found = ROOT.rglob("*.md")
    return sorted(
        path
        for path in found
        if not any(part in _SKIPPED or part.startswith(".") for part in path.relative_to(ROOT).parts)
    )


def problems(path: Path) -> Iterator[str]:
    """A line for each link of a file that leads nowhere."""
    for link in _LINK.findall(_CODE.sub("", path.read_text())):
        if problem := _problem(path, link):
            yield f"{path.relative_to(ROOT)}: {link}: {problem}"


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub names them."""
    found: dict[str, int] = {}
    names = set()
    for heading in _HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        times = found[name] = found.get(name, -1) + 1
        names.add(f"{name}-{times}" if times else name)
    return names


def _problem(path: Path, link: str) -> str | None:
    target, _, anchor = link.partition("#")
    if target.startswith(REPOSITORY):
        place = re.fullmatch(rf"{REPOSITORY}/(blob|tree)/main/(.+)", target)
        if place is None:
            return None
        other = ROOT / place[2]
        if other.exists() and other.is_dir() != (place[1] == "tree"):
            return "a folder is at tree/main, and a file at blob/main"
    elif re.match(r"[a-z]+:", target):
        return None
    else:
        other = path.parent / target if target else path
    if not other.exists():
        return "there is no such file"
    if anchor and anchor not in anchors(other.read_text()):
        return "there is no such heading"
    return None


def main() -> None:
    found = [problem for path in files() for problem in problems(path)]
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
