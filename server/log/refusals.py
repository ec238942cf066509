"""What a log refuses, as exceptions with Kafka's error code. The handler that asked puts them into its response.

Of an append's message Kafka tells the client only when single records are to blame (`ErrorMessage` beside `RecordErrors`, KIP-467), or
when a length or a magic cannot be, which it finds before it looks at single partitions, so that it answers so for the whole request; in
every other case the message is for our own history and logs.
"""

from collections.abc import Sequence
from typing import NamedTuple


class RecordError(NamedTuple):
    """What is wrong with one record of a batch: its index in the batch, and why."""

    batch_index: int
    message: str


class LogRefused(Exception):
    """A log does not do what it was asked for. `code` is Kafka's error code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return f"{self.message} (error code {self.code})"


class AppendRefused(LogRefused):
    """A batch that is not appended; nothing of the log has changed. `told` when Kafka lets the producer read the message."""

    def __init__(
        self, code: int, message: str, record_errors: Sequence[RecordError] = (), *, told: bool = False
    ) -> None:
        super().__init__(code, message)
        self.record_errors = tuple(record_errors)
        self.told = told or bool(record_errors)

    @property
    def told_message(self) -> str | None:
        """What Kafka lets the producer read of the message: all or nothing."""
        return self.message if self.told else None


class NotOneBatch(AppendRefused):
    """What came is not one batch of today's format, which Kafka sees before it looks for the log."""
