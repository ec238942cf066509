"""The mutations of the bytes of a good request. Every mutation takes the dice, a frame with its
length in front and another frame."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from kafkadouble.wire.batch import seal

Mutation = Callable[[Random, bytearray, bytes], bytes]

HEAD = 14
"""Length, key, version, correlation id, length of the client id: the bytes that stay unchanged
where a mutation must get past the header."""

NUMBERS = (
    b"\0", b"\x01", b"\x7f", b"\x80", b"\xff", b"\x7f\xff", b"\xff\xff", b"\x80\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0",
    b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f", b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b"\0\x01\0\0",
)  # fmt: skip
"""Lengths, counts and offsets at the limits, as the wire encodes them: fixed and varint."""


def framed(body: bytes | bytearray) -> bytes:
    """Bytes with their true length in front."""
    return len(body).to_bytes(4) + body


def flips(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Flips some bits, anywhere behind the length."""
    for _ in range(dice.choice((1, 1, 2, 8))):
        if len(frame) > 4:
            frame[dice.randrange(4, len(frame))] ^= 1 << dice.randrange(8)
    return bytes(frame)


def body_flips(dice: Random, frame: bytearray, other: bytes) -> bytes:
    for _ in range(dice.choice((1, 2, 4))):
        if len(frame) > HEAD:
            frame[dice.randrange(HEAD, len(frame))] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
    return bytes(frame)


def cut(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Cuts off the end, and corrects the length."""
    return framed(frame[4 : dice.randrange(4, len(frame) + 1)])


def numbers(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Overwrites any bytes with a value at the limits."""
    number = dice.choice(NUMBERS)
    at = dice.randrange(min(HEAD, len(frame)), len(frame) + 1)
    return framed(frame[4:at] + number + frame[at + len(number) :])


def longer(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Inserts bytes."""
    at = dice.randrange(min(HEAD, len(frame)), len(frame) + 1)
    return framed(frame[4:at] + dice.randbytes(dice.choice((1, 2, 4, 30))) + frame[at:])


def shorter(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Removes bytes."""
    at = dice.randrange(min(HEAD, len(frame)), len(frame) + 1)
    return framed(frame[4:at] + frame[at + dice.choice((1, 2, 4)) :])


def splice(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Joins the beginning of one request and the end of another."""
    at, from_ = dice.randrange(4, len(frame) + 1), dice.randrange(4, len(other) + 1)
    return framed(frame[4:at] + other[from_:])


def noise_body(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """A good header, and random bytes behind it."""
    return framed(frame[4:HEAD] + dice.randbytes(dice.choice((0, 1, 5, 40, 300))))


def noise(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Random bytes in a good frame."""
    return framed(dice.randbytes(dice.choice((0, 1, 3, 7, 9, 10, 11, 50))))


def wrong_length(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """A length that is not that of the frame."""
    frame[:4] = dice.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x06\x40\0\1", dice.randbytes(4)))
    return bytes(frame)


def other_version(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """The bytes of one version under the number of another, or of another API."""
    at = dice.choice((5, 7))
    frame[at] = (frame[at] + dice.choice((-2, -1, 1, 2, 128))) % 256
    return bytes(frame)


def damaged_batch(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """Changes one byte of a record batch, if there is one, and corrects the checksum."""
    start = frame.find(b"\xff\xff\xff\xff\x02")
    if start < 12 or len(frame) < start + 49:
        return body_flips(dice, frame, other)
    start -= 12
    size = int.from_bytes(frame[start + 8 : start + 12]) + 12
    if start + size > len(frame) or size < 61:
        return body_flips(dice, frame, other)
    for _ in range(dice.choice((1, 2, 5))):
        frame[start + dice.randrange(21, size)] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
    with memoryview(frame) as view:
        seal(view[start : start + size])
    return bytes(frame)


def as_it_is(dice: Random, frame: bytearray, other: bytes) -> bytes:
    """A good request."""
    return bytes(frame)


MUTATIONS: tuple[Mutation, ...] = (
    as_it_is, as_it_is, as_it_is, as_it_is, flips, flips, body_flips, body_flips, cut, numbers, numbers, longer, shorter,
    splice, noise_body, noise, wrong_length,
    other_version, damaged_batch,
)  # fmt: skip


def slices(dice: Random, data: bytes) -> list[bytes]:
    """Splits the bytes as the network may deliver them."""
    if dice.random() < 0.7:
        return [data]
    if dice.random() < 0.1 and len(data) < 200:
        return [data[at : at + 1] for at in range(len(data))]
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(dice.choice((1, 2, 5))))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
