"""The table of Kafka's command-line tools, a file for each kind of work."""

from __future__ import annotations

from ..row import Row, Scenario
from . import cluster, configs, groups, performance, records, streams, topics, transactions

SCENARIOS: tuple[Scenario, ...] = tuple(
    scenario
    for part in (topics, configs, records, groups, streams, cluster, transactions, performance)
    for scenario in part.SCENARIOS
)

ROWS: tuple[Row, ...] = tuple(row for scenario in SCENARIOS for row in scenario.rows if row.does)
"""The rows that the page lists."""
