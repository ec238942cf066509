"""The records of one Fetch as Arrow: the rows between two offsets, without control records and
aborted transactions."""

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
    """The records with start <= offset < end, in their order, with the columns `names`. With
    `committed`, records of aborted transactions are left out, which needs a response with that
    isolation level. Raises the WireErrors of `columns.decode` for corrupt batches."""
    headers = columns.walk(fetched.buffer)
    first = max(start, fetched.position)
    keep = ~headers.control & (headers.last_offset >= first) & (headers.base_offset < end)
    if committed:
        keep &= columns.committed(headers, fetched.aborted)
    columns_read = tuple(names) if "offset" in names else (*names, "offset")
    for batch in columns.decode(fetched.buffer, headers[keep], columns_read, columns.Origin(*partition)):
        found = columns.between(batch, first, end)
        if found.num_rows:
            yield found if len(columns_read) == len(names) else found.select(list(names))
