"""A file that is there while a process serves clients."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kafkadouble.common.errors import UsageError


@contextmanager
def ready_file(path: str | None, lines: Sequence[str]) -> Iterator[None]:
    """Writes the lines into a file, which appears with all of them, and removes it at the end.
    Without a path it does nothing. UsageError if it cannot be written."""
    if path is None:
        yield
        return
    made = Path(f"{path}.{os.getpid()}")
    try:
        made.write_text("".join(f"{line}\n" for line in lines))
        made.replace(path)
    except OSError as problem:
        raise UsageError(f"--ready-file {path}: {problem.strerror}") from None
    try:
        yield
    finally:
        Path(path).unlink(missing_ok=True)
