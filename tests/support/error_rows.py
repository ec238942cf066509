"""Which error codes an API may answer with, as `error_rows.txt` beside this module says."""

from __future__ import annotations

from pathlib import Path

from . import error_reasons
from .conversation import lines


def _row(text: str) -> dict[str, str]:
    """The codes that are reached, and after each ` | ` a reason and the codes that it excludes."""
    reached, *others = text.split(" | ")
    row = dict.fromkeys(reached.split(), error_reasons.REACHED)
    for reason, *codes in map(str.split, others):
        row |= dict.fromkeys(codes, getattr(error_reasons, reason.upper()))
    return row


_TEXT = Path(__file__).with_suffix(".txt").read_text()
ROWS = {api: _row(row) for api, _, row in (line.partition(":") for _, line in lines(_TEXT))}
"""API -> error code -> REACHED, or why not."""
