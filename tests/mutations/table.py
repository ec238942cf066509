"""All mutations of the source, by name. They are written in the texts beside this module:

    server/log/epochs.py: tests/server/log/test_epochs.py tests/kips/test_kip_101.py
        log: an epoch that begins at the new end of the log is kept
            = def truncate_from_end(self, end: int) -> None:
            - keep = bisect_left(self._starts, end)
            + keep = bisect_right(self._starts, end)
            a follower that is cut back claims an epoch of which it has no record

A module with tests, one of which must fail for each mutation below: its name, the source text that
stays (`=`), goes (`-`) and comes (`+`), and what goes wrong for a user. Before that, `survives
REASON` says why no test can detect it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .mutation import Mutation

TEXTS = (
    "logs",
    "compaction",
    "snapshots",
    "replication",
    "brokers",
    "security",
    "share",
    "streams",
    "quotas",
    "scenarios",
)
SURVIVES = "survives "


def mutations(text: str) -> Iterator[tuple[str, Mutation]]:
    for group in re.split(r"\n+(?=\S)", text.rstrip()):
        head, *rows = re.split(r"\n {4}(?=\S)", group)
        if head.startswith("#"):
            continue
        path, *tests = head.split()
        for row in rows:
            name, *lines, why = row.split("\n        ")
            original, mutated = ("\n".join(line[2:] for line in lines if line[0] in signs) for signs in ("=-", "=+"))
            survives = "".join(line.removeprefix(SURVIVES) for line in lines if line.startswith(SURVIVES))
            yield name, Mutation(path.removesuffix(":"), original, mutated, tuple(tests), why, survives)


MUTATIONS: dict[str, Mutation] = {}
for _part in TEXTS:
    for _name, _mutation in mutations((Path(__file__).parent / f"of_{_part}.txt").read_text()):
        assert _name not in MUTATIONS, f"two mutations have the name {_name!r}"
        MUTATIONS[_name] = _mutation
