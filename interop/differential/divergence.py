"""Where kafkadouble differs from Apache Kafka on purpose: divergence.toml, what it lists, and the page made of it.

`python -m interop.differential.divergence` writes docs/divergence.md. A row has its `section`, what `kafka` does, what is `here`, and `why`.
Its `shown` are patterns of differences, each of which some script must show: `api`, `path`, and as far as it matters `script`, `ours` and
`theirs`, with `*` for anything. A row without says in `unshown` why no request to one broker can show it.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from .play import Found

LIST = Path(__file__).with_name("divergence.toml")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "divergence.md"

HEAD = """\
# Where it differs from Apache Kafka

Made by `python -m interop.differential.divergence` from `interop/differential/divergence.toml`; do not edit. Measured against Apache Kafka
4.4.0: `pytest interop/differential` plays the same requests to both and fails on a difference that is not here, and on a row here that no
longer differs. What is not served at all is not here: see [supported.md](supported.md) and [errors.md](errors.md). Each row is a choice; a
difference that is not listed is a defect. *Shown* are those that requests to the two brokers show in that run; of the others the list says
why they cannot be.
"""


class Pattern(NamedTuple):
    """Differences that are meant to be; `*` is anything."""

    api: str
    path: str
    script: str = "*"
    ours: str = "*"
    theirs: str = "*"

    def covers(self, found: Found) -> bool:
        """Whether a difference is one of these."""
        difference = found.difference
        had = (found.api, difference.path, found.script, str(difference.ours), str(difference.theirs))
        return all(fnmatchcase(_plain(each), _plain(wanted)) for each, wanted in zip(had, self, strict=True))


def _plain(text: str) -> str:
    """Brackets are no wild cards here."""
    return text.replace("[", "(").replace("]", ")")


class Row(NamedTuple):
    """One difference as it is told."""

    section: str
    kafka: str
    here: str
    why: str
    shown: tuple[Pattern, ...]
    unshown: str


def rows(text: str | None = None) -> list[Row]:
    """The list. ValueError for a row that neither is shown nor says why not."""
    made = []
    for each in tomllib.loads(LIST.read_text() if text is None else text)["row"]:
        shown = tuple(Pattern(**pattern) for pattern in each.pop("shown", ()))
        row = Row(shown=shown, unshown=each.pop("unshown", ""), **each)
        if bool(row.shown) == bool(row.unshown):
            raise ValueError(f"{row.kafka!r} must have either `shown` or `unshown`")
        made.append(row)
    return made


def sorted_out(found: list[Found], listed: list[Row]) -> tuple[list[Found], list[Pattern]]:
    """The differences that are in no row, and the patterns that no difference is like."""
    patterns = [pattern for row in listed for pattern in row.shown]
    unused, unlisted = dict.fromkeys(patterns), list[Found]()
    for each in found:
        covering = [pattern for pattern in patterns if pattern.covers(each)]
        for pattern in covering:
            unused.pop(pattern, None)
        if not covering:
            unlisted.append(each)
    return unlisted, list(unused)


def as_markdown() -> str:
    """The page."""
    listed, sections = rows(), dict[str, list[Row]]()
    for row in listed:
        sections.setdefault(row.section, []).append(row)
    return HEAD + "".join(_section(name, of) for name, of in sections.items())


def _section(name: str, of: list[Row]) -> str:
    lines = [f"| {row.kafka} | {row.here} | {row.why} | {'*shown*' if row.shown else row.unshown} |" for row in of]
    return "\n".join(["", f"## {name}", "", "| Kafka | here | why | |", "|---|---|---|---|", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(as_markdown())
