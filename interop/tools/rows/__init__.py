"""The table of Kafka's command-line tools, a file for each kind of work."""

from __future__ import annotations

from ..row import Row, Scenario
from . import cluster, configs, groups, performance, records, security, streams, topics, transactions

SCENARIOS: tuple[Scenario, ...] = tuple(
    scenario
    for part in (topics, configs, records, groups, streams, cluster, transactions, performance)
    for scenario in part.SCENARIOS
)

SECURED: tuple[Scenario, ...] = security.SCENARIOS
"""For servers whose clients log in."""

ROWS: tuple[Row, ...] = tuple(row for scenario in (*SCENARIOS, *SECURED) for row in scenario.rows if row.does)
"""The rows that the page lists."""
