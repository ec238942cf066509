"""Parses the text of a specification: JSON with comments. All other deviations from JSON are
refused."""

from __future__ import annotations

import json
import re

_COMMENT_OR_STRING = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def parse(text: str) -> object:
    """The JSON value. Raises ValueError for broken JSON, text after the value, a key that appears
    twice, or NaN."""
    plain = _COMMENT_OR_STRING.sub(lambda match: match[1] or " ", text)
    return json.loads(plain, object_pairs_hook=_unique, parse_constant=_no_constant)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"key {next(name for name in names if names.count(name) > 1)!r} appears twice")
    return members


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is not JSON")
