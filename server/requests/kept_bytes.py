"""Estimates how much memory an entry of a cache takes.

A client chooses the texts that the server keeps for it, up to 32 kB each, so the number of entries
says little about the memory that they take. The estimate depends on the texts alone, so that the
same requests always fill a cache in the same way.
"""

from __future__ import annotations

TEXT_BYTES = 50
"""The memory of a text without its characters."""


def text_bytes(text: str) -> int:
    """The most bytes that a text takes: 4 for each character if one of them is not ASCII."""
    return TEXT_BYTES + len(text) * (1 if text.isascii() else 4)
