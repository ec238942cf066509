"""The columns of captured traffic, one row for each request: the schema that writers and readers
share.

Rules. A value that a source does not have is null. The first use of the schema imports pyarrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages import registry

if TYPE_CHECKING:
    import pyarrow as pa

PARTS = ".parts"
"""The suffix of the folder with the parts of a capture. It exists while the file is written, and
after a run that was killed."""


class TrafficColumn(NamedTuple):
    """`type` is the name of the Arrow type; `list<int16>` and timestamps are spelled as here."""

    name: str
    type: str
    meaning: str


COLUMNS = (
    TrafficColumn("run", "string", "the run of a server (its start and its process id), or the path of a log"),
    TrafficColumn("time", "timestamp[us, UTC]", "when the server received the request"),
    TrafficColumn("node", "int32", "the id of the node that received the request"),
    TrafficColumn("connection", "string", "the connection; the name is unique in the run"),
    TrafficColumn("client_id", "string", "the client id in the request; this and the next two columns have at most 255 characters"),
    TrafficColumn("client_software", "string", "the name of the client software, from its ApiVersions request (KIP-511)"),
    TrafficColumn("client_version", "string", "the version of the client software"),
    TrafficColumn("address", "string", "HOST:PORT of the client"),
    TrafficColumn("principal", "string", "principal of the client, such as User:alice; for an authentication request, the claimed principal"),
    TrafficColumn("api_key", "int16", "the key of the API"),
    TrafficColumn("api", "string", "the name of the API, as in Kafka's specification"),
    TrafficColumn("version", "int16", "the version of the request"),
    TrafficColumn("request_bytes", "int32", "the size of the request on the wire, with the four bytes of its length"),
    TrafficColumn("response_bytes", "int32", "the size of the answer on the wire, with the four bytes of its length"),
    TrafficColumn("correlation_id", "int32", "the correlation id of request and answer"),
    TrafficColumn("errors", "list<int16>", "all error codes in the answer, in any field, each once, without 0"),
    TrafficColumn("latency_us", "int64", "microseconds from the arrival of the request until its answer was passed to the network"),
    TrafficColumn(
        "outcome",
        "string",
        "answered; unanswered (the protocol has no answer); disconnected (by the server); abandoned (by the client)",
    ),
    TrafficColumn("highest", "int16", "the highest version of the API that the server offered"),
    TrafficColumn("request", "string", "the request as JSON, if bodies were captured"),
    TrafficColumn("response", "string", "the answer as JSON, if bodies were captured"),
    TrafficColumn("deprecated", "bool", "whether the log calls the version deprecated (KIP-896); null if it does not say"),
)  # fmt: skip

FRAME_COLUMNS = (
    TrafficColumn("request_frame", "binary", "the bytes of the request, without the four of its length"),
    TrafficColumn("response_frame", "binary", "the bytes of the answer, with the four of its length"),
)
"""The columns that a capture with frames has behind the others."""

LATER = frozenset({"principal"})
"""The columns that captures of earlier versions do not have."""

NAMES = tuple(column.name for column in COLUMNS)

API_NAMES = {api.key: api.name for api in registry.apis()}

_DERIVED = ("run", "api")
FIELDS = tuple(name for name in NAMES if name not in (*_DERIVED, "deprecated"))
"""The fields of a row of `kafkadouble.server.tracing.capture`, in order; rows of logs also have
`deprecated`, as the last one."""


@cache
def schema(frames: bool = False) -> pa.Schema:
    """All columns as an Arrow schema, with those of frames or without."""
    import pyarrow as pa

    special = {"list<int16>": pa.list_(pa.int16()), "timestamp[us, UTC]": pa.timestamp("us", "UTC")}
    columns = (*COLUMNS, *FRAME_COLUMNS) if frames else COLUMNS
    return pa.schema([(column.name, special.get(column.type) or pa.type_for_alias(column.type)) for column in columns])


def batch_of(run: str, rows: Sequence[tuple[Any, ...]], frames: bool = False) -> pa.RecordBatch:
    """Rows as columns. The values are those of FIELDS, then perhaps `deprecated`, or the `frames`;
    times are us since the epoch."""
    import pyarrow as pa

    more = [column.name for column in FRAME_COLUMNS] if frames else ["deprecated"]
    values: dict[str, Any] = dict(zip((*FIELDS, *more), zip(*rows, strict=True), strict=False))
    count = len(rows)
    arrays = []
    for field in schema(frames):
        if field.name == "run":
            arrays.append(pa.repeat(run, count))
        elif field.name == "api":
            arrays.append(pa.array(map(API_NAMES.get, values["api_key"]), field.type, size=count))
        elif field.name in values:
            arrays.append(pa.array(values[field.name], field.type))
        else:
            arrays.append(pa.nulls(count, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema(frames))
