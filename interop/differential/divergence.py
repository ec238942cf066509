"""Reads divergence.toml, the list of intended differences from Apache Kafka, and makes its page.

`make generate` writes docs/divergence.md. A row has its `section`, what `kafka` does, what is
`here`, and `why`. Its `shown` are patterns of differences, each of which some script must show:
`api`, `path`, and as far as it matters `script`, `ours` and `theirs`, with `*` for anything, and
`versions` (`"8"`, `"3.."`, `"3..6"`), each of which must show it. A row without patterns says in
`unshown` why no request to one broker can show it. The differences of the codecs are the table of
`interop/witness/differences.py`, and a section of the page.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

from interop.witness.differences import DIFFERENCES
from kafkadouble.messages import registry

from .compare import RequestDifference

LIST = Path(__file__).with_name("divergence.toml")
CONTROLLERS = "The listener of controllers"
"""The section that `test_controllers` shows."""

THREE = "Three brokers"
"""The section that `test_three` shows."""

PAGE = Path(__file__).resolve().parents[2] / "docs" / "divergence.md"

HEAD = """\
# Differences from Apache Kafka

Made by `make generate` from `interop/differential/divergence.toml`; do not edit. Measured with
Apache Kafka 4.4.0: `pytest interop/differential` sends the same requests to both, and fails on a
difference that is not listed here, and on a row that no longer differs. APIs that are not served
are not listed: see [supported.md](supported.md) and [errors.md](errors.md). Each row is a choice; a
difference that is not listed is a defect. Rows marked *shown* are shown by requests to the two
brokers in that run; the other rows say why they cannot be shown.
"""

CODECS = """\
A request that cannot be read ends the connection, here and in Kafka. In these cases the two differ
in what can be read; `pytest interop/witness` shows each with bytes."""


class Pattern(NamedTuple):
    """Differences that are meant to be; `*` is anything."""

    api: str
    path: str
    script: str = "*"
    ours: str = "*"
    theirs: str = "*"
    versions: str = ".."

    def covers(self, found: RequestDifference) -> bool:
        """Whether a difference is one of these."""
        difference = found.difference
        if not self._lowest <= found.version <= self._highest:
            return False
        had = (found.api, difference.path, found.script, str(difference.ours), str(difference.theirs))
        return all(fnmatchcase(_plain(each), _plain(patterns)) for each, patterns in zip(had, self[:-1], strict=True))

    @property
    def _lowest(self) -> int:
        return int(self.versions.partition("..")[0] or 0)

    @property
    def _highest(self) -> int:
        low, dots, high = self.versions.partition("..")
        return int(high or 32767) if dots else int(low)

    def shown_at(self) -> set[int]:
        """The versions each of which must show it; none when no bound is named."""
        if self.versions == "..":
            return set()
        return set(range(self._lowest, min(self._highest, registry.api_named(self.api).stable_versions[1]) + 1))


def _plain(text: str) -> str:
    """Brackets are no wild cards here."""
    return text.replace("[", "(").replace("]", ")")


class Row(NamedTuple):
    """One difference as the page shows it."""

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


def sorted_out(
    differences: list[RequestDifference], listed: list[Row]
) -> tuple[list[RequestDifference], list[Pattern]]:
    """The differences that are in no row, and the patterns that no difference is like."""
    seen: dict[Pattern, set[int]] = {pattern: set() for row in listed for pattern in row.shown}
    unlisted = []
    for each in differences:
        covering = [pattern for pattern in seen if pattern.covers(each)]
        for pattern in covering:
            seen[pattern].add(each.version)
        if not covering:
            unlisted.append(each)
    return unlisted, [pattern for pattern, at in seen.items() if not at or pattern.shown_at() - at]


def is_listed(found: RequestDifference) -> bool:
    """Whether a difference is in some row."""
    return any(pattern.covers(found) for pattern in _patterns())


@cache
def _patterns() -> tuple[Pattern, ...]:
    return tuple(pattern for row in rows() for pattern in row.shown)


def as_markdown() -> str:
    listed, sections = rows(), dict[str, list[Row]]()
    for row in listed:
        sections.setdefault(row.section, []).append(row)
    return HEAD + "".join(_section(name, of) for name, of in sections.items()) + _of_codecs()


def _section(name: str, of: list[Row]) -> str:
    lines = [f"| {row.kafka} | {row.here} | {row.why} | {'*shown*' if row.shown else row.unshown} |" for row in of]
    return "\n".join(["", f"## {name}", "", "| Kafka | here | why | |", "|---|---|---|---|", *lines, ""])


def _of_codecs() -> str:
    """What `interop/witness` holds Kafka's generated classes and ours to."""
    lines = [
        f"| {name} | {'refused' if each.ours.startswith('Bad') else 'taken'} | {each.why} |"
        for name, each in DIFFERENCES.items()
    ]
    return "\n".join(["", "## Bytes", "", CODECS, "", "| a message with | here | why |", "|---|---|---|", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(as_markdown())
