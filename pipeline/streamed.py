"""The base class of tables that are iterated as Arrow record batches, for pandas, polars, DuckDB
and other users of Arrow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pyarrow as pa


class Streamed(ABC):
    """A table with a `schema`. Each iteration reads its record batches again."""

    schema: pa.Schema

    @abstractmethod
    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Record batches, some megabytes at a time."""

    def to_reader(self) -> pa.RecordBatchReader:
        """All record batches as a stream."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def to_table(self) -> pa.Table:
        """The whole table in memory."""
        return self.to_reader().read_all()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow C stream interface, for libraries that read it."""
        return self.to_reader().__arrow_c_stream__(requested_schema)
