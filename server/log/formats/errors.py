"""What is wrong with a file: `BadFile`, with the file's name and the byte."""

from __future__ import annotations

from kafkadouble.wire.errors import WireError


class BadFile(WireError):
    """The bytes of a file are not what such a file holds. `file` is its name as the caller gave it, `offset` the byte in it."""

    def __init__(self, problem: str, *, file: str = "", offset: int = -1, path: str = "") -> None:
        super().__init__(problem, offset=offset, path=path)
        self.file = file

    def __str__(self) -> str:
        return f"{self.file}: {super().__str__()}" if self.file else super().__str__()


class TornTail(BadFile):
    """A segment ends inside a batch, or in room that was set aside and never written: what an unclean stop leaves behind, and no corruption.
    `offset` is where the whole batches end."""


def bad_from(error: WireError, file: str, shift: int = 0) -> BadFile:
    """What a codec found wrong, as something wrong with the file; `shift` is where the codec's bytes begin in it."""
    offset = error.offset + shift if error.offset >= 0 else shift
    return BadFile(error.problem, file=file, offset=offset, path=error.path)
