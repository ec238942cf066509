"""What one Fetch brought, as Arrow: the rows between two offsets, without control records and without what was aborted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkadouble.wire import columns

from .client import Fetched, TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pyarrow as pa


def rows(
    fetched: Fetched, partition: TopicPartition, start: int, end: int, names: Sequence[str], committed: bool
) -> Iterator[pa.RecordBatch]:
    """The records with start <= offset < end, in their order, with the columns `names`. With `committed` those of aborted transactions are left
    out, which takes an answer with that isolation. The WireErrors of `columns.decode` for batches that are corrupt."""
    headers = columns.walk(fetched.buffer)
    first = max(start, fetched.position)
    keep = ~headers.control & (headers.last_offset >= first) & (headers.base_offset < end)
    if committed:
        keep &= columns.committed(headers, fetched.aborted)
    wanted = tuple(names) if "offset" in names else (*names, "offset")
    for batch in columns.decode(fetched.buffer, headers[keep], wanted, columns.Origin(*partition)):
        found = columns.between(batch, first, end)
        if found.num_rows:
            yield found if len(wanted) == len(names) else found.select(list(names))
