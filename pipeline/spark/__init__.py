"""Sources and sinks of Spark: thin shells, in Spark's Python Data Source API, over what the rest of
the pipeline does without Spark.

Rules. Nothing else in the product imports pyspark. Spark pickles readers for its workers, so a
reader carries plain values only, and opens its files and connections where it runs. Every error is
one sentence that names the option, the path or the topic. Each process that plans or reads imports
this package, so it imports nothing by itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .log_divergence import divergence as divergence

__all__ = ["divergence"]


def __getattr__(name: str) -> object:
    if name != "divergence":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .log_divergence import divergence

    return divergence
