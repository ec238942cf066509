"""Decodes record batches to Arrow columns, many at once, and encodes them (KIP-98; headers KIP-82).

    headers = columns.walk(buffer)  # the header of every batch, as arrays; no record is read
    for batch in columns.decode(buffer, headers, ("offset", "value"), columns.Origin("orders", 0)):
        ...  # a pyarrow.RecordBatch
    batches = columns.encode(batch, now=now)  # Kafka's batches, from the columns key and value

Rules. Only the requested columns are made. No Python loop runs per record: the positions of fields
are computed as arrays (`lanes`, `hybrid`, or compiled: `native`), and Arrow gathers the bytes in
one call. These readers accept only regular batches. The plain reader of `wire.batch` reads every
other batch again, and it alone reports errors.

This package needs numpy and pyarrow (`pip install 'kafkadouble[columns]'`); no other module of
`wire` imports numpy, pyarrow or this package.
"""

try:
    import numpy  # noqa: F401  # only for the error message below
    import pyarrow  # noqa: F401
except ImportError as problem:
    raise ImportError(f"{problem}: record batches as columns need pip install 'kafkadouble[columns]'") from None

from .choice import IMPLEMENTATIONS, available
from .decode import decode
from .encode import encode
from .filters import between, committed
from .headers import Headers, good_crc, walk
from .schema import NAMES, Origin, schema

__all__ = [
    "IMPLEMENTATIONS",
    "NAMES",
    "Headers",
    "Origin",
    "available",
    "between",
    "committed",
    "decode",
    "encode",
    "good_crc",
    "schema",
    "walk",
]
