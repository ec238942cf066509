"""What can go wrong when the double is asked for something: the call was wrong, or the broker said no."""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.wire.errors import UsageError

__all__ = ["KafkaError", "UsageError"]


class KafkaError(Exception):
    """The broker refused, as it would have refused a client. `error` is Kafka's name for it, `code` the number."""

    def __init__(self, code: int, message: str | None = None) -> None:
        self.code, self.error = code, error_codes.name(code)
        super().__init__(f"{self.error}: {message or error_codes.meaning(code)}")


def raise_for(code: int, message: str | None = None) -> None:
    """KafkaError unless the code says NONE."""
    if code:
        raise KafkaError(code, message)
