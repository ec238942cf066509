"""The result of an append."""

from typing import NamedTuple


class AppendResult(NamedTuple):
    """The position at which a batch was appended. `log_append_time` is -1 when producers set the
    timestamps; `size` is the number of bytes that the log grew by.

    For a `duplicate` it says where the batch was appended the first time; `log_append_time` is
    then, as in Kafka, the largest timestamp of that batch.
    """

    base_offset: int
    last_offset: int
    log_append_time: int
    log_start_offset: int
    size: int
    duplicate: bool = False
