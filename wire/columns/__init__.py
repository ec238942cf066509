"""Record batches to Arrow columns, many at once, and the way back (KIP-98; headers KIP-82).

    headers = columns.walk(buffer)                                  every batch's header, as arrays; no record is looked at
    for batch in columns.decode(buffer, headers, ("offset", "value"), columns.Origin("orders", 0)): ...      pyarrow.RecordBatch
    batches = columns.encode(batch, now=now)                        Kafka's batches, of a batch with the columns key and value

Rules. Only the columns that are asked for are made. No record costs a turn of a Python loop: places of fields are found in arrays (`lanes`,
`hybrid`, or compiled: `native`), and Arrow gathers the bytes in one go. These readers take only what is in order; whatever is odd, the plain
reader of `wire.batch` reads again, and it alone says what is wrong. So every error is one of its errors.

This package needs numpy and pyarrow (`pip install kafkadouble[columns]`); nothing else in this floor imports them, or this.
"""

try:
    import numpy  # noqa: F401  # only to say, when it is missing, what it takes
    import pyarrow  # noqa: F401
except ImportError as problem:
    raise ImportError(f"{problem}: record batches as columns need `pip install kafkadouble[columns]`") from None

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
