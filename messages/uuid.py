"""Kafka's uuid: 16 bytes, written as 22 letters of unpadded base64url (`AAAAAAAAAAAAAAAAAAAAAA` is
zero).

A `Uuid` is a `bytes`: it is equal to the same 16 bytes, has their hash and is encoded like them. A
field of type uuid accepts any 16 bytes.
"""

from __future__ import annotations

from struct import Struct
from types import MethodType

from kafkadouble.wire.errors import Truncated, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ClassVar, Self


class Uuid(bytes):
    """16 bytes with Kafka's text form."""

    __slots__ = ()

    ZERO: ClassVar[Uuid]
    """The value for "no uuid"."""
    METADATA_TOPIC_ID: ClassVar[Uuid]
    """The topic id of `__cluster_metadata`."""

    def __new__(cls, value: bytes = bytes(16)) -> Self:
        if len(value) != 16 or not hasattr(value, "hex"):
            raise UsageError(f"a uuid has 16 bytes, not {value!r}")
        return bytes.__new__(cls, value)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads Kafka's text form; raises UsageError for any other text."""
        import base64
        import binascii

        try:
            value = base64.b64decode(text.rstrip("=") + "==", altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            value = b""
        if len(value) != 16:
            raise UsageError(f"{text!r} is not a uuid: 22 letters of base64url are")
        return cls(value)

    @classmethod
    def random(cls, randbytes: Callable[[int], bytes]) -> Self:
        """A version 4 uuid from the caller's random generator. As in Kafka, the uuid is never
        reserved, and its text never starts with a dash."""
        while True:
            value = bytearray(randbytes(16))
            value[6] = value[6] & 0x0F | 0x40
            value[8] = value[8] & 0x3F | 0x80
            made = cls(bytes(value))
            if made not in (Uuid.ZERO, Uuid.METADATA_TOPIC_ID) and not str(made).startswith("-"):
                return made

    def __str__(self) -> str:
        import base64

        return base64.urlsafe_b64encode(self)[:22].decode()

    def __repr__(self) -> str:
        return f"Uuid({str(self)!r})"


as_uuid: Callable[[bytes], Uuid] = MethodType(bytes.__new__, Uuid)
"""16 bytes as a Uuid, unchecked: for slices that have 16 bytes."""

ZERO = Uuid.ZERO = as_uuid(bytes(16))
Uuid.METADATA_TOPIC_ID = as_uuid(bytes(15) + b"\x01")


_FEW = 8
_CUT = [Struct("16s" * count).unpack_from for count in range(_FEW)]
"""Unpackers by count, for short arrays: most arrays have one uuid for each replica of a
partition."""


def read_uuids(b: bytes, count: int, p: int) -> tuple[tuple[Uuid, ...], int]:
    """An array of `count` uuids."""
    end = p + 16 * count
    if end > len(b):
        raise Truncated("the bytes end inside an array of uuids")
    if 0 <= count < _FEW:
        return tuple(map(as_uuid, _CUT[count](b, p))), end
    return tuple(as_uuid(b[at : at + 16]) for at in range(p, end, 16)), end
