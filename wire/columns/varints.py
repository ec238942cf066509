"""Reads varints at many positions at once."""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def varints(data: npt.NDArray[np.uint8], at: Ints, most: int, strange: list[Ints]) -> tuple[Ints, Ints]:
    """The unsigned varints that begin at `at`, and the positions after them. A position after the
    last byte reads the last byte. `strange` receives the indexes of varints with more than `most`
    bytes, or, if `most` is 5, with more than 32 bits."""
    byte = data.take(at, mode="clip")
    at = at + 1
    value = byte.astype(np.int64)
    long = byte > 127
    if not long.any():
        return value, at
    left = np.flatnonzero(long)
    value[left] &= 127
    # If most varints have a second byte, reading it for all is faster than selecting.
    if len(left) * 2 > len(at):
        byte = np.where(long, data.take(at, mode="clip"), 0)
        value |= (byte & np.uint8(127)).astype(np.int64) << 7
        at += long
        left = np.flatnonzero(byte > 127)
        shift = 14
    else:
        shift = 7
    while len(left) and shift < 7 * most:
        positions = at[left]
        byte = data.take(positions, mode="clip")
        at[left] = positions + 1
        value[left] |= (byte & np.uint8(127)).astype(np.int64) << shift
        shift += 7
        if shift == 35 and most == 5:
            _add(strange, left[value[left] > 0xFFFFFFFF])
        left = left[byte > 127]
    _add(strange, left)
    return value, at


def _add(strange: list[Ints], indexes: Ints) -> None:
    if len(indexes):
        strange.append(indexes)
