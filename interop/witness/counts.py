"""The counts of a run of the witness, as a line for its end, for all processes that ran tests and
every way to call the suite.

pytest reads the options and the final lines of a folder only if that folder is named on the command
line, so `interop/conftest.py` calls this module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

DOSE = 40
"""Random messages of each message-version, unless `--messages` gives another number."""

COUNTED = (
    "message-versions",
    "messages",
    "messages with unknown tags",
    "framed records",
    "batches",
    "messages of which one field is wrong",
    "damaged messages",
    "damaged batches",
)
"""Properties of the reports of tests: each is a number."""


def line(reports: Iterable[Any]) -> str:
    """The line with the counts of these tests; empty if none of them is of the witness."""
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update({key: value for key, value in report.user_properties if key in COUNTED})
    return ", ".join(f"{counts[key]:,} {key}" for key in COUNTED if counts[key]) + " witnessed" if counts else ""
