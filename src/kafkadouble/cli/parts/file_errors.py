"""Errors of a verb of the command line about a file that it cannot read or write."""

from __future__ import annotations

from collections.abc import Callable

from kafkadouble.wire.errors import UsageError


def of_file(error: OSError) -> str:
    """The file, and what is wrong with it."""
    return f"{error.filename}: {error.strerror or error}"


class FileErrors:
    """In a `with` statement, an OSError of the block becomes a UsageError, in these words. A closed
    pipe is none of a file: the reader of the output has seen enough, and `__main__` ends the
    verb."""

    def __init__(self, in_words: Callable[[OSError], str] = of_file) -> None:
        self._in_words = in_words

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise UsageError(self._in_words(error)) from None
