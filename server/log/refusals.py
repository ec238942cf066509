"""The refusals of a log, as exceptions with Kafka's error code. The handler puts them into its
response.

Kafka shows the client the message of a refused append in two cases only: when single records are to
blame (`ErrorMessage` beside `RecordErrors`, KIP-467), and when a length or a magic is impossible,
which Kafka finds before it looks at partitions. In every other case the message is for this
server's own history and logs.
"""

from collections.abc import Sequence
from typing import NamedTuple


class RecordError(NamedTuple):
    """The problem of one record of a batch: its index in the batch, and why."""

    batch_index: int
    message: str


class LogRefused(Exception):
    """The log refuses what it was asked to do. `code` is Kafka's error code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return f"{self.message} (error code {self.code})"


class AppendRefused(LogRefused):
    """A batch was refused; the log has not changed. `is_shown` when Kafka shows the message to the
    producer."""

    def __init__(
        self, code: int, message: str, record_errors: Sequence[RecordError] = (), *, is_shown: bool = False
    ) -> None:
        super().__init__(code, message)
        self.record_errors = tuple(record_errors)
        self.is_shown = is_shown or bool(record_errors)

    @property
    def message_for_client(self) -> str | None:
        """The message, when Kafka shows it to the producer."""
        return self.message if self.is_shown else None


class NotOneBatch(AppendRefused):
    """The bytes are not exactly one batch of the current format. Kafka finds this before it looks
    up the log."""
