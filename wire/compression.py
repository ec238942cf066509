"""The codecs of record batches behind one table: none, gzip, snappy, lz4, zstd, numbered and named
as Kafka does.

Rules: the first use of a codec imports its module and its library. `limit` bounds the output,
whatever size the bytes announce. Bytes that Kafka's reader refuses are refused. Each format has a
file beside this one: `gzip_members`, `xerial`, `lz4_frame`, `zstd_frame`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from .checksum import Buffer
from .errors import BadCompression, TooLarge, UsageError

LIMIT = 104857600
"""The default bound on decompressed bytes: what one frame could have carried uncompressed
(`socket.request.max.bytes`)."""


class Levels(NamedTuple):
    """The values of `compression.<codec>.level`: a range, and the default, which may be outside of
    the range."""

    lowest: int
    highest: int
    default: int


class Codec(NamedTuple):
    """One row of the table. `compress(data, level)`; `decompress(data, limit)`; `levels` is None
    for a codec without levels."""

    id: int
    name: str
    compress: Callable[[Buffer, int], bytes]
    decompress: Callable[[Buffer, int], bytes]
    levels: Levels | None = None


def compress(codec: int, data: Buffer, level: int | None = None) -> bytes:
    """`data` as the codec of this id writes it. UsageError: no such codec, or a level that Kafka
    does not accept for it."""
    row = CODECS.get(codec)
    if row is None:
        raise UsageError(f"no compression codec has the id {codec}")
    return row.compress(data, _level(row, level))


def decompress(codec: int, data: Buffer, limit: int = LIMIT) -> bytes:
    """The decompressed bytes. Raises BadCompression when the codec refuses `data`, TooLarge when
    they are more than `limit`."""
    row = CODECS.get(codec)
    if row is None:
        raise BadCompression(f"no compression codec has the id {codec}")
    return row.decompress(data, limit)


def codec_id(name: str) -> int:
    """The id of the codec with this name, as in `compression.type`."""
    for row in CODECS.values():
        if row.name == name:
            return row.id
    raise UsageError(f"no compression codec is called {name!r}")


def codec_name(codec: int) -> str:
    """The name of the codec with this id; a number as text for an id that Kafka does not have."""
    row = CODECS.get(codec)
    return str(codec) if row is None else row.name


def _level(row: Codec, level: int | None) -> int:
    if row.levels is None or level is None:
        return 0 if row.levels is None else row.levels.default
    if row.levels.lowest <= level <= row.levels.highest or level == row.levels.default:
        return level
    raise UsageError(f"{row.name} has no level {level}: {row.levels.lowest} to {row.levels.highest}")


class _Lazy:
    """A function of the module of one codec. The first call imports the module."""

    __slots__ = ("_found", "_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._found: Callable[[Buffer, int], bytes] | None = None

    def __call__(self, data: Buffer, number: int) -> bytes:
        if self._found is None:
            self._found = getattr(import_module(f".{self._module}", __package__), self._name)
        return self._found(data, number)


def _codec(id: int, name: str, module: str, levels: Levels | None = None) -> Codec:
    return Codec(id, name, _Lazy(module, "compress"), _Lazy(module, "decompress"), levels)


def _copy(data: Buffer, level: int) -> bytes:
    return bytes(data)


def _bounded_copy(data: Buffer, limit: int) -> bytes:
    if len(data) > limit:
        raise TooLarge(f"{len(data)} bytes where {limit} are allowed")
    return bytes(data)


CODECS = {
    row.id: row
    for row in (
        Codec(0, "none", _copy, _bounded_copy),
        _codec(1, "gzip", "gzip_members", Levels(1, 9, -1)),
        _codec(2, "snappy", "xerial"),
        _codec(3, "lz4", "lz4_frame", Levels(1, 17, 9)),
        _codec(4, "zstd", "zstd_frame", Levels(-131072, 22, 3)),
    )
}
"""The table: codec id -> row. The ids are the lowest three bits of a batch's attributes; the level
ranges are Kafka's (KIP-390)."""
