"""What a run of the witness counted, as a line for its end, whichever process ran the tests and
however the suite was called.

pytest reads the options and the last lines of a folder only if it is named on the command line; so
it is `interop/conftest.py` that asks here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

DOSE = 40
"""Random messages of each message-version, unless `--messages` says otherwise."""

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
"""Properties of the reports of tests: each a number."""


def line(reports: Iterable[Any]) -> str:
    """What these tests witnessed; empty when they are none of the witness."""
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update({key: value for key, value in report.user_properties if key in COUNTED})
    return ", ".join(f"{counts[key]:,} {key}" for key in COUNTED if counts[key]) + " witnessed" if counts else ""
