"""What an append says of where the batch went."""

from typing import NamedTuple


class AppendResult(NamedTuple):
    """Where a batch went. `log_append_time` is -1 where producers set the timestamps; `size` is what the log grew by, in bytes.

    Of a `duplicate` it is told where it went the first time, and as Kafka does its own largest timestamp in `log_append_time`.
    """

    base_offset: int
    last_offset: int
    log_append_time: int
    log_start_offset: int
    size: int
    duplicate: bool = False
