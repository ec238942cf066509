"""Kafka's log directories, segments and snapshots as Arrow tables, without a broker.

    for batch in open_log("/var/kafka-logs", topics="orders", starting_offsets=1000): ...      pyarrow.RecordBatch

Rules. Nothing here imports pyspark, and nothing is written. What is found is planned in pieces (`finding`, `segments`, `bounds`, `pieces`), and
each piece is read by its level (`levels`). A directory that a node is at work on is read as well as one at rest.
"""

from .levels import LEVELS
from .table import LogTable, open_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .diverging import divergence as divergence

__all__ = ["LEVELS", "LogTable", "divergence", "open_log"]


def __getattr__(name: str) -> object:
    """What needs numpy is imported when it is asked for."""
    if name != "divergence":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .diverging import divergence

    return divergence
