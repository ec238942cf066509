"""Whatever a loss of power takes of what was not flushed: it is a tail. What was flushed is there,
and everything that follows from it agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from tests.server.log.files.power_loss import Life

FOUND = (148, 193, 260, 503, 560, 820, 876, 1018, 1082, 1133, 1207, 1230, 1301, 1428, 3682, 6321)
"""Seeds that found something once."""

FOUND_OF_CUTS = (429, 1043, 1779, 3757, 5606, 5668)
FOUND_OF_CUTS_AT_THE_START = (3535, 3679, 6450, 9465)
"""The same, where logs were cut."""

DEEDS = (
    [Life.produce] * 8 + [Life.produce_in_sequence] * 4 + [Life.transact] * 4 + [Life.next_epoch, Life.rewrite]
    + [Life.flush] * 3 + [Life.checkpoint] * 2 + [Life.truncate, Life.tick, Life.close_and_open]
)  # fmt: skip


@pytest.mark.parametrize("seed", [*range(100), *FOUND])
def test_log_survives_repeated_power_losses(seed: int) -> None:
    play(Random(seed), [*DEEDS, Life.delete] if seed % 2 else DEEDS)


@pytest.mark.parametrize("seed", [*range(60), *FOUND_OF_CUTS])
def test_power_loss_takes_no_truncation_back(seed: int) -> None:
    play(Random(seed), [*DEEDS, Life.follow, Life.follow])


@pytest.mark.parametrize("seed", [*range(40), *FOUND_OF_CUTS_AT_THE_START])
def test_a_loss_of_power_undoes_no_truncation_while_the_log_start_moves(seed: int) -> None:
    play(Random(seed), [*DEEDS, Life.follow, Life.follow, Life.delete])


def play(random: Random, deeds: Sequence[Callable[[Life], None]]) -> None:
    life = Life(random)
    for _ in range(4):
        for _ in range(random.randint(1, 60)):
            random.choice(deeds)(life)
        random.choice([Life.lose_power, Life.lose_power, Life.die])(life)
