"""Reads Parquet files of others in batches of bounded size.

A few bytes of Parquet can stand for gigabytes: a page that decompresses to 2 GB, or a million rows
with one long value of a dictionary, which each row of a batch has again. So the headers of all
pages of a row group are read first. The pages that are in memory together must fit into
`MOST_PAGE_BYTES`, and a batch has so few rows that it fits into `MOST_BATCH_BYTES`: no value is
longer than the longest page of its column.

Rules. Only columns of the expected types are read: a type with a fixed width, or nested ones, could
take any number of bytes for each null.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from kafkadouble.wire.errors import UsageError, WireError

from .parquet_pages import Page, pages

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MOST_PAGE_BYTES, MOST_BATCH_BYTES = 1 << 29, 1 << 27
"""Two frames of 100 MB fit, each as a page and in a dictionary."""

MOST_LISTED = 1 << 24
"""The elements of the lists of a row group: one row may have all of them."""

MOST_METADATA_ITEMS = 100_000
"""The largest list in the metadata at the end of a file: Arrow reserves memory for it first."""

FIXED_BYTES = 16
"""The largest size in memory of a value with a fixed width, or of its index in a dictionary."""


class UnreadableParquet(UsageError):
    """A file that is not read, with the reason; its name is not in it."""


def open_parquet(file: IO[bytes] | str | os.PathLike[str]) -> pq.ParquetFile:
    """The file, with bounds for its metadata. Raises ArrowException and OSError."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(file, thrift_container_size_limit=MOST_METADATA_ITEMS, pre_buffer=False)


def batches(found: pq.ParquetFile, file: IO[bytes], rows: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of these columns, in batches of at most so many rows. `file` is the same file,
    opened a second time. Raises UnreadableParquet, ArrowException and OSError."""
    _check_types(found, columns)
    for group in range(found.num_row_groups):
        if not found.metadata.row_group(group).num_rows:
            continue
        try:
            in_batch = min(rows, _rows_in_batch(found, file, group, columns))
        except WireError as problem:
            raise UnreadableParquet(f"is no Parquet that can be read: {problem}") from None
        yield from found.iter_batches(in_batch, row_groups=[group], columns=list(columns))


def _check_types(file: pq.ParquetFile, columns: Sequence[str]) -> None:
    import pyarrow.types as of

    def is_plain(kind: Any) -> bool:
        is_bytes = of.is_string(kind) or of.is_large_string(kind) or of.is_binary(kind) or of.is_large_binary(kind)
        return bool(
            is_bytes or of.is_integer(kind) or of.is_boolean(kind) or of.is_timestamp(kind) or of.is_floating(kind)
        )

    for column in columns:
        kind = file.schema_arrow.field(column).type
        is_list = of.is_list(kind) and of.is_integer(kind.value_type)
        if not is_plain(kind) and not is_list:
            raise UnreadableParquet(f"is no capture: the column {column} has the type {kind}")


def _rows_in_batch(found: pq.ParquetFile, file: IO[bytes], group: int, columns: Sequence[str]) -> int:
    metadata = found.metadata.row_group(group)
    at_once = of_row = 0
    for index in range(metadata.num_columns):
        chunk = metadata.column(index)
        if chunk.path_in_schema.split(".")[0] not in columns:
            continue
        start, size_bytes = _place(chunk)
        found_pages = list(pages(file, start, size_bytes))
        longest = max((page.uncompressed_bytes for page in found_pages), default=0)
        dictionaries = [page for page in found_pages if page.is_dictionary]
        at_once += longest + sum(each.uncompressed_bytes + FIXED_BYTES * each.values for each in dictionaries)
        of_row += longest if chunk.physical_type == "BYTE_ARRAY" else FIXED_BYTES
        if found.schema.column(index).max_repetition_level:
            _check_listed(chunk.path_in_schema, found_pages)
    if at_once > MOST_PAGE_BYTES:
        raise UnreadableParquet(
            f"takes too much memory: the pages of a row group have {at_once >> 20} MB at once, and "
            f"{MOST_PAGE_BYTES >> 20} MB are allowed"
        )
    return max(1, MOST_BATCH_BYTES // max(1, of_row))


def _place(chunk: Any) -> tuple[int, int]:
    """The position and the size in bytes of a column chunk's pages, as Arrow reads them."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < (chunk.dictionary_page_offset or 0) < start:
        start = chunk.dictionary_page_offset
    return start, chunk.total_compressed_size


def _check_listed(column: str, pages: Sequence[Page]) -> None:
    count = sum(page.values for page in pages if not page.is_dictionary)
    if count > MOST_LISTED:
        raise UnreadableParquet(
            f"takes too much memory: the lists of {column} have {count} elements in one row group, and "
            f"{MOST_LISTED} are allowed"
        )
