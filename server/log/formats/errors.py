"""The errors of damaged files: `BadFile`, with the file's name and the position of the byte."""

from __future__ import annotations

from kafkadouble.wire.errors import WireError


class BadFile(WireError):
    """The bytes of a file are not what such a file holds. `file` is its name as the caller gave it,
    `offset` the position of the byte."""

    def __init__(self, problem: str, *, file: str = "", offset: int = -1, path: str = "") -> None:
        super().__init__(problem, offset=offset, path=path)
        self.file = file

    def __str__(self) -> str:
        return f"{self.file}: {super().__str__()}" if self.file else super().__str__()


class TornTail(BadFile):
    """A segment ends inside a batch, or in preallocated room that was never written. An unclean
    stop leaves this behind; it is no corruption. `offset` is the end of the whole batches."""


def bad_from(error: WireError, file: str, shift: int = 0) -> BadFile:
    """The error of a codec as an error of the file; `shift` is the position of the codec's bytes in
    it."""
    offset = error.offset + shift if error.offset >= 0 else shift
    return BadFile(error.problem, file=file, offset=offset, path=error.path)
