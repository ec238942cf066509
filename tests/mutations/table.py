"""All mutations of the source, by name."""

from __future__ import annotations

from .mutation import Mutation
from .of_brokers import BROKERS
from .of_compaction import COMPACTION
from .of_logs import LOGS
from .of_quotas import QUOTAS
from .of_replication import REPLICATION
from .of_scenarios import SCENARIOS
from .of_security import SECURITY
from .of_share import SHARE
from .of_snapshots import SNAPSHOTS
from .of_streams import STREAMS

MUTATIONS: dict[str, Mutation] = {
    **LOGS,
    **COMPACTION,
    **SNAPSHOTS,
    **REPLICATION,
    **BROKERS,
    **SECURITY,
    **SHARE,
    **STREAMS,
    **QUOTAS,
    **SCENARIOS,
}
