"""Damages the bytes of a message at random."""

from __future__ import annotations

import random

BYTES = (0x00, 0x01, 0x02, 0x03, 0x7F, 0x80, 0xFF)
INSERTED = (b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff" * 5, b"\xc3\x28")


def damaged(data: bytes, dice: random.Random) -> bytes:
    """With a few bytes changed, inserted or removed, or cut off; the front is hit more often."""
    bad = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 3))):
        at = dice.randint(0, len(bad) if dice.random() < 0.5 else min(len(bad), 40))
        match dice.choice(("change", "change", "change", "insert", "remove", "cut")):
            case "change" if at < len(bad):
                bad[at] = dice.choice((*BYTES, dice.randrange(256)))
            case "insert":
                bad[at:at] = dice.choice(INSERTED)
            case "remove":
                del bad[at : at + dice.randint(1, 4)]
            case "cut":
                del bad[at:]
    return bytes(bad)
