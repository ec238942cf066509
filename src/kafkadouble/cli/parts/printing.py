"""Prints lines that hold texts of others."""

from __future__ import annotations

import sys

from kafkadouble.wire.client_log import printable


def print_line(line: str) -> None:
    """Prints a line, with escapes for characters that the terminal cannot show."""
    encoding, line = sys.stdout.encoding or "utf-8", printable(line)
    print(line.encode(encoding, "backslashreplace").decode(encoding))
