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
    TrafficColumn("run", "string", "one start of a server, or one log file: its beginning and its process, or the path"),
    TrafficColumn("time", "timestamp[us, UTC]", "when the request came to the server"),
    TrafficColumn("node", "int32", "the id of the node that was asked"),
    TrafficColumn("connection", "string", "the connection, a name of its own within the run"),
    TrafficColumn("client_id", "string", "what the client calls itself in each request; this and the next two up to 255 characters"),
    TrafficColumn("client_software", "string", "the name of its software, as it says with ApiVersions (KIP-511)"),
    TrafficColumn("client_version", "string", "the version of its software"),
    TrafficColumn("address", "string", "HOST:PORT of the client"),
    TrafficColumn("api_key", "int16", "which API"),
    TrafficColumn("api", "string", "its name, as Kafka's specification spells it"),
    TrafficColumn("version", "int16", "which version of it"),
    TrafficColumn("request_bytes", "int32", "what the request took on the wire, with the four bytes of its length"),
    TrafficColumn("response_bytes", "int32", "the same of the answer"),
    TrafficColumn("correlation_id", "int32", "the number that request and answer share"),
    TrafficColumn("errors", "list<int16>", "the error codes in the answer, wherever they stand, each once, 0 never"),
    TrafficColumn("latency_us", "int64", "from the request's being begun to its answer's being handed to the network"),
    TrafficColumn(
        "outcome",
        "string",
        "answered; unanswered, as the protocol has no answer; disconnected by the server; abandoned by the client",
    ),
    TrafficColumn("highest", "int16", "the highest version of the API that the server offered"),
    TrafficColumn("request", "string", "the request as JSON, if bodies were captured"),
    TrafficColumn("response", "string", "the answer as JSON, if bodies were captured"),
    TrafficColumn("deprecated", "bool", "whether the server itself called the version deprecated (KIP-896); null where it says nothing of it"),
)  # fmt: skip

NAMES = tuple(column.name for column in COLUMNS)

API_NAMES = {api.key: api.name for api in registry.apis()}

_DERIVED = ("run", "api")
FIELDS = tuple(name for name in NAMES if name not in (*_DERIVED, "deprecated"))
"""The fields of a row of `kafkadouble.server.tracing.capture`, in order; rows of logs also have
`deprecated`, as the last one."""


@cache
def schema() -> pa.Schema:
    """All columns as an Arrow schema."""
    import pyarrow as pa

    special = {"list<int16>": pa.list_(pa.int16()), "timestamp[us, UTC]": pa.timestamp("us", "UTC")}
    return pa.schema([(column.name, special.get(column.type) or pa.type_for_alias(column.type)) for column in COLUMNS])


def batch_of(run: str, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows as columns. The values are those of FIELDS, and perhaps `deprecated`; times are us since
    the epoch."""
    import pyarrow as pa

    values: dict[str, Any] = dict(zip((*FIELDS, "deprecated"), zip(*rows, strict=True), strict=False))
    count = len(rows)
    arrays = []
    for field in schema():
        if field.name == "run":
            arrays.append(pa.repeat(run, count))
        elif field.name == "api":
            arrays.append(pa.array(map(API_NAMES.get, values["api_key"]), field.type, size=count))
        elif field.name in values:
            arrays.append(pa.array(values[field.name], field.type))
        else:
            arrays.append(pa.nulls(count, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema())
