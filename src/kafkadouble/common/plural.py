"""Numbers with their nouns."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`1 record`, `2 records`, `3 matches`, `2 replies`: as for regular nouns of English."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"
