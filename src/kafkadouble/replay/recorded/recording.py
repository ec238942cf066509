"""Reads a recording: a capture with frames, at a path of `KafkaDouble(capture=)`.

Rules. Everything is decoded once when it is read, so that a recording that is damaged is refused at
once, with the row and the field. Requests between nodes of a cluster are left out: a replay speaks
as the clients did. A recording is read into memory; one that is larger than `MOST_BYTES` is
refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.pipeline.traffic.bounded_parquet import UnreadableParquet, batches, open_parquet
from kafkadouble.pipeline.traffic.reading import files
from kafkadouble.pipeline.traffic.schema import FRAME_COLUMNS, schema
from kafkadouble.server.requests.origin import NODE_APIS, WITH_REPLICA_ID, replica_id
from kafkadouble.server.tracing.trace import ANSWERED
from kafkadouble.wire.errors import UsageError, WireError

from .exchange import SIZE, Exchange

MISSING = "a recording is read by pyarrow, which is not installed: pip install 'kafkadouble[columns]'"

MOST_BYTES, ROW_BYTES = 1 << 30, 1 << 10
"""Of a recording in memory: its frames, and about a kilobyte for each row."""

BATCH_ROWS = 1 << 8

READ = ("run", "time", "node", "connection", "latency_us", "outcome", "request_frame", "response_frame")
"""The columns that are read."""


@dataclass(frozen=True)
class Recording:
    """The exchanges of one run, in the order in which they began. `of_nodes` and `without_frame`
    count the rows that were left out: requests of nodes, and requests that could not be read when
    they were recorded."""

    path: str
    run: str
    exchanges: tuple[Exchange, ...]
    of_nodes: int = 0
    without_frame: int = 0

    @property
    def nodes(self) -> list[int]:
        """The ids of the nodes that were asked."""
        return sorted({exchange.node for exchange in self.exchanges})

    def brokers(self) -> list[int]:
        """The ids of the brokers of the recorded cluster, as far as the recording shows them."""
        nodes = set(self.nodes)
        for exchange in self.exchanges:
            if exchange.api_key == ApiKeys.METADATA and (answer := exchange.answer()) is not None:
                nodes.update(broker.node_id for broker in answer.brokers)
        return sorted(nodes)

    def __repr__(self) -> str:
        return f"{len(self.exchanges)} requests of run {self.run} in {self.path}"


def load(path: str | os.PathLike[str], run: str | None = None) -> Recording:
    """The recording at a path: a file, or a folder. With several runs in it, `run` is the name of
    one. Raises UsageError for what is not a recording, and for damaged ones."""
    path = os.fspath(path)
    rows = sorted(_of_run(list(_rows(path)), path, run), key=lambda row: row["time"])
    decoded = [_exchange(path, row, index) for index, row in enumerate(rows)]
    of_clients = _of_clients([each for each in decoded if each is not None])
    if not of_clients:
        raise UsageError(f"{path} has no request of a client")
    numbered = tuple(client._replace(number=number) for number, client in enumerate(of_clients, 1))
    missing = sum(each is None for each in decoded)
    return Recording(path, rows[0]["run"], numbered, len(decoded) - missing - len(numbered), missing)


def _rows(path: str) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow as pa  # an extra
    except ImportError:
        raise UsageError(MISSING) from None
    size = 0
    for file in files(path):
        try:
            with open_parquet(file) as found, open(file, "rb") as opened:
                _check_columns(file, found.schema_arrow)
                for batch in batches(found, opened, BATCH_ROWS, READ):
                    size += batch.nbytes + ROW_BYTES * len(batch)
                    if size > MOST_BYTES:
                        raise UsageError(f"{path} is too large: a recording has at most {MOST_BYTES >> 20} MB")
                    yield from batch.to_pylist()
        except UnreadableParquet as problem:
            raise UsageError(f"{file} {problem}") from None
        except (pa.ArrowException, OSError) as problem:
            raise UsageError(f"{file} is no Parquet that can be read: {problem}") from None


def _check_columns(file: str, found: Any) -> None:
    kinds = {field.name: field.type for field in schema(True)}
    if any(name in found.names for name in ("api_key", "connection")) and FRAME_COLUMNS[0].name not in found.names:
        raise UsageError(
            f"{file} is a capture without frames: record with capture_frames=True, or `kafkadouble serve --capture-frames`"
        )
    if not all(name in found.names and found.field(name).type == kinds[name] for name in READ):
        raise UsageError(f"{file} is no capture")


def _of_run(rows: Sequence[dict[str, Any]], path: str, run: str | None) -> list[dict[str, Any]]:
    runs = sorted({row["run"] or "" for row in rows})
    if not runs:
        raise UsageError(f"{path} has no requests")
    if run is None and len(runs) > 1:
        raise UsageError(f"{path} has {len(runs)} runs: choose one of {', '.join(runs)}")
    if run is not None and run not in runs:
        raise UsageError(f"{path} has no run {run!r}: it has {', '.join(runs)}")
    return [row for row in rows if run in (None, row["run"])]


def _exchange(path: str, row: dict[str, Any], index: int) -> Exchange | None:
    """The exchange of a row; None if it is no request that can be sent again."""
    where = f"{path}, request {index + 1} of the run"
    if any(row[name] is None for name in ("time", "node", "connection", "outcome")):
        raise UsageError(f"{where}: it has no time, node, connection or outcome")
    frame = row["request_frame"]
    if frame is None or (row["outcome"] == ANSWERED and row["response_frame"] is None):
        return None
    try:
        return _decoded(row, frame)
    except WireError as error:
        if row["outcome"] != ANSWERED:  # the server could not read it, either
            return None
        raise UsageError(f"{where} cannot be read: {error}") from None


def _decoded(row: dict[str, Any], frame: bytes) -> Exchange:
    head = headers.read_request_header(frame)
    began_us = int(row["time"].timestamp() * 1_000_000)
    made = Exchange(
        0,
        began_us,
        began_us + max(row["latency_us"] or 0, 0),
        row["node"],
        row["connection"],
        row["outcome"],
        head.client_id,
        head.correlation_id,
        head.api_key,
        head.api_version,
        head.body_offset,
        frame,
        row["response_frame"],
    )
    made.request()
    made.answer()
    return made


def _of_clients(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges of clients; connections whose requests name a node are left out."""
    of_nodes = {exchange.connection for exchange in exchanges if _is_from_node(exchange)}
    return [exchange for exchange in exchanges if exchange.connection not in of_nodes]


def _is_from_node(exchange: Exchange) -> bool:
    if exchange.api_key in NODE_APIS:
        return True
    return exchange.api_key in WITH_REPLICA_ID and replica_id(exchange.request()) >= 0


__all__ = ["SIZE", "Recording", "load"]
