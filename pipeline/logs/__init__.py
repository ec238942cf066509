"""Kafka's log directories, segments and snapshots as Arrow tables, without a broker.

    for batch in open_log("/var/kafka-logs", topics="orders", starting_offsets=1000):
        ...  # a pyarrow.RecordBatch

Rules. Nothing here imports pyspark, and nothing is written. The files are planned in pieces
(`finding`, `segments`, `bounds`, `pieces`), and the level reads each piece (`levels`). A directory
can be read while a node uses it.
"""

from .levels import LEVELS
from .table import LogTable, open_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .diverging import divergence as divergence

__all__ = ["LEVELS", "LogTable", "divergence", "open_log"]


def __getattr__(name: str) -> object:
    """Imports the names that need numpy on first use."""
    if name != "divergence":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .diverging import divergence

    return divergence
