"""Reads captured traffic as Arrow: kafkadouble's Parquet, Kafka's request log, Kroxylicious'
protocol log. The content of a file determines its kind.

Rules. If a path is a file, the file is read with any name. If a path is a directory, files with the
names of captures and logs are read, recursively. An unreadable part is reported as a problem, and
the rest is read. One batch is in memory at a time.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kafkadouble.wire.errors import UsageError

from .bounded_parquet import UnreadableParquet, batches, open_parquet
from .entries import MOST, entries
from .problems import Problems
from .protocol_log import ProtocolLog
from .request_log import RequestLog
from .schema import LATER, PARTS, batch_of, schema

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET, GZIP = b"PAR1", b"\x1f\x8b"
LOGS = (".log", ".json", ".jsonl", ".ndjson", ".gz")
ROWS = 1 << 14
BATCH_CHARACTERS = 64 << 20


class ReadOptions(NamedTuple):
    """How logs are read: the time zone of times without one, and whether bodies are kept."""

    zone: tzinfo = UTC
    bodies: bool = False


AS_UTC = ReadOptions()


def zone_of(name: str) -> tzinfo:
    """The time zone of a name; UTC needs no time zone database. Raises UsageError for an unknown
    zone."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(f"{name!r} is no time zone, such as Europe/Berlin") from None


def files(path: str | os.PathLike[str]) -> Iterator[str]:
    """The files at a path. Raises UsageError when there are none."""
    path = os.fspath(path)
    if not os.path.exists(path) and not os.path.isdir(path + PARTS):
        raise UsageError(f"{path}: there is no such file or directory")
    if not os.path.isdir(path):
        if os.path.exists(path):
            yield path
        path += PARTS
    for folder, folders, names in os.walk(path):
        folders.sort()
        yield from (os.path.join(folder, name) for name in sorted(names) if _looks_like_traffic(name))


def _looks_like_traffic(name: str) -> bool:
    """Whether a file has the name of a capture or a log; rolled logs have a suffix after `.log`."""
    return not name.startswith((".", "_")) and (name.endswith((".parquet", *LOGS)) or ".log." in name)


def read(
    paths: Iterable[str | os.PathLike[str]], problems: Problems, how: ReadOptions = AS_UTC
) -> Iterator[pa.RecordBatch]:
    """All requests, with the columns of `schema()`. Raises UsageError for a path without files."""
    for path, root in [(path, os.fspath(given)) for given in paths for path in files(given)]:
        yield from read_file(path, problems, how, is_named=path == root)


def read_file(
    path: str, problems: Problems, how: ReadOptions = AS_UTC, *, is_named: bool = True
) -> Iterator[pa.RecordBatch]:
    """The requests of one file. A file without requests is a problem if it was named."""
    has_requests, before = False, problems.count
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
            file.seek(0)
            if magic == PARQUET:
                record_batches = _read_parquet(path, file, problems)
            else:
                lines = gzip.GzipFile(fileobj=file) if magic[:2] == GZIP else file
                record_batches = _read_log(path, lines, problems, how)
            for batch in record_batches:
                has_requests = True
                yield batch
    except (OSError, EOFError) as problem:
        problems.add(path, 0, f"cannot be read: {getattr(problem, 'strerror', None) or problem}")
    else:
        if is_named and not has_requests and problems.count == before:
            problems.add(path, 0, "has no requests in it: it is neither a capture nor a request log")


def _read_parquet(path: str, file: IO[bytes], problems: Problems) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    try:
        parquet = open_parquet(path)
        missing = set(schema().names) - set(parquet.schema_arrow.names)
        if not missing <= LATER:
            return
        columns = [name for name in schema().names if name not in missing]
        for batch in batches(parquet, file, ROWS, columns):
            for name in missing:
                batch = batch.append_column(name, pa.nulls(len(batch), schema().field(name).type))
            yield batch.select(schema().names).cast(schema())
    except UnreadableParquet as problem:
        problems.add(path, 0, str(problem))
    except (pa.ArrowException, MemoryError) as problem:
        problems.add(path, 0, f"is no Parquet that can be read: {problem}")


def _read_log(path: str, file: Any, problems: Problems, how: ReadOptions) -> Iterator[pa.RecordBatch]:
    rows: list[tuple[int, tuple[Any, ...]]] = []
    size = 0
    for numbered in _rows(path, file, problems, how):
        rows.append(numbered)
        size += sum(len(value) for value in numbered[1] if isinstance(value, str))
        if len(rows) >= ROWS or size > BATCH_CHARACTERS:
            yield from _batches(path, rows, problems)
            rows.clear()
            size = 0
    yield from _batches(path, rows, problems)


def _rows(path: str, file: Any, problems: Problems, how: ReadOptions) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows, each with the line that completed it."""
    lines = (line.decode("utf-8", "replace") for line in iter(partial(file.readline, MOST), b""))
    request_log = RequestLog(how.zone, bodies=how.bodies)
    protocol_log = ProtocolLog(how.zone, bodies=how.bodies)

    def report(line: int, what: str) -> None:
        problems.add(path, line, what)

    for entry in entries(lines, report):
        if entry is None:
            problems.other_lines += 1
            continue
        try:
            yield from (
                (entry.line, row) for row in (protocol_log if "header" in entry.object else request_log).rows(entry)
            )
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            report(entry.line, f"an entry that is no request: {type(problem).__name__}: {problem}")
    yield from ((0, row) for row in protocol_log.rest())


def _batches(path: str, rows: Sequence[tuple[int, tuple[Any, ...]]], problems: Problems) -> Iterator[pa.RecordBatch]:
    """The rows as record batches. A row with a value that does not fit its column is reported and
    left out."""
    import pyarrow as pa

    if not rows:
        return
    try:
        yield batch_of(path, [row for _, row in rows])
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        for line, row in rows:
            try:
                yield batch_of(path, [row])
            except (pa.ArrowException, OverflowError, TypeError, ValueError) as problem:
                problems.add(path, line, f"a value that does not fit: {problem}")
