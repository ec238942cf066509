"""All scenarios of brokers, and the one that each seed plays."""

from __future__ import annotations

from .groups.scenarios import OF_GROUPS
from .groups.share.scenarios import OF_SHARE_GROUPS
from .groups.streams.scenarios import OF_STREAMS_GROUPS
from .scenarios import OF_REPLICATION, Scenario
from .transactions.scenarios import TRANSACTIONAL

SCENARIOS: dict[str, Scenario] = OF_REPLICATION | TRANSACTIONAL | OF_GROUPS | OF_SHARE_GROUPS | OF_STREAMS_GROUPS

_MORE_OFTEN = ("anything", "anything_unclean", "in_sync_sets_change", "power_fails", "leaders_write_alone")

ROUND = (*SCENARIOS, *_MORE_OFTEN)
"""The scenario that each seed plays."""


def scenario_of(seed: int) -> str:
    return ROUND[seed % len(ROUND)]
