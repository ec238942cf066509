"""The exceptions of the public API: UsageError for a wrong call, KafkaError for an error code of
the broker."""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.wire.errors import UsageError

__all__ = ["KafkaError", "UsageError"]


class KafkaError(Exception):
    """The broker answered with an error, as it would answer a client. `error` is its name in Kafka,
    `code` its number, `text` says what happened."""

    def __init__(self, code: int, message: str | None = None) -> None:
        self.code, self.error = code, error_codes.name(code)
        self.text = message or error_codes.meaning(code)
        super().__init__(f"{self.error}: {self.text}")


def raise_for(code: int, message: str | None = None) -> None:
    """Raises KafkaError unless the code is NONE."""
    if code:
        raise KafkaError(code, message)
