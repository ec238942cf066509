"""What every reader of a file must keep when the file's bytes are damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkadouble.server.log.formats import BadFile

Reader = Callable[[bytes, str], object]


def refused(read: Reader, data: bytes) -> bool:
    """Whether the bytes are refused. A refusal must be a BadFile with the file's name and the
    position of a byte that it has."""
    error = _refusal(read, data)
    if error is None:
        return False
    assert error.file == "the-file"
    assert 0 <= error.offset <= len(data), error
    assert str(error).startswith("the-file: ")
    return True


def _refusal(read: Reader, data: bytes) -> BadFile | None:
    try:
        found = read(data, "the-file")
        if isinstance(found, Iterator):
            list(found)
    except BadFile as error:
        return error
    return None


def every_flip(data: bytes) -> Iterator[bytes]:
    """The data with one byte changed: every byte, in three ways."""
    for at in range(len(data)):
        for mask in (0x01, 0x80, 0xFF):
            yield data[:at] + bytes((data[at] ^ mask,)) + data[at + 1 :]


def every_cut(data: bytes) -> Iterator[bytes]:
    """Every beginning of the data but all of them."""
    return (data[:end] for end in range(len(data)))
