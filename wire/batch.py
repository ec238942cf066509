"""Record batches: the one module to import for them.

A batch is a header (`batch_header`) and records (`record_body` in, `record_write` out), perhaps
compressed (`compression`). `batch_walk` finds batches in a buffer, `batch_read` makes records of
them, `batch_write` the reverse, `control` decodes control batches, and `legacy` reads what Kafka
wrote before it had batches.
"""

from .batch_header import APPEND_TIME, CREATE_TIME, HEADER_SIZE, LOG_OVERHEAD, BatchHeader, increment_sequence
from .batch_read import body_of, decode_all, decode_records, records_of, scan_records
from .batch_walk import check_crc, iter_batches, read_header
from .batch_write import encode_batch, seal, set_append_time, set_max_timestamp, set_producer, stamp, wrap_body
from .control import (
    ABORT,
    COMMIT,
    CONTROL_NAMES,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    control_record,
    control_type,
    encode_control_batch,
)
from .record import Headers, Record
from .record_scan import Scan, is_one_plain

__all__ = [
    "ABORT",
    "APPEND_TIME",
    "COMMIT",
    "CONTROL_NAMES",
    "CREATE_TIME",
    "HEADER_SIZE",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
    "LEADER_CHANGE",
    "LOG_OVERHEAD",
    "SNAPSHOT_FOOTER",
    "SNAPSHOT_HEADER",
    "BatchHeader",
    "Headers",
    "Record",
    "Scan",
    "body_of",
    "check_crc",
    "control_record",
    "control_type",
    "decode_all",
    "decode_records",
    "encode_batch",
    "encode_control_batch",
    "increment_sequence",
    "is_one_plain",
    "iter_batches",
    "read_header",
    "records_of",
    "scan_records",
    "seal",
    "set_append_time",
    "set_max_timestamp",
    "set_producer",
    "stamp",
    "wrap_body",
]
