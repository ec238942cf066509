"""The APIs of share groups and of their state. The columns are those of `row`."""

from __future__ import annotations

from .row import NONE, ApiRow

RESULTS = "topic:topics/results partition:partitions/partitions"


def _state_row(name: str) -> ApiRow:
    """The row of an API of the share coordinator; brokers send its requests."""
    return ApiRow(name, forwarded=False, parts=RESULTS, right="CLUSTER_ACTION cluster", part_right=NONE, secrets=NONE)


ROWS = (
    _state_row("InitializeShareGroupState"),
    _state_row("ReadShareGroupState"),
    _state_row("WriteShareGroupState"),
    _state_row("DeleteShareGroupState"),
    _state_row("ReadShareGroupStateSummary"),
)
