"""The exceptions of the public API: UsageError for a wrong call, KafkaError for an error code of
the broker."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from kafkadouble.messages import error_codes
from kafkadouble.wire.errors import UsageError

__all__ = ["KafkaError", "UsageError"]


class KafkaError(Exception):
    """The broker answered with an error, as it would answer a client. `error` is its name in Kafka,
    `code` its number."""

    def __init__(self, code: int, message: str | Callable[[], str] | None = None) -> None:
        """`message` may be a function, for words that take time to make: a wait may meet an error
        after each request, and show none of them."""
        self.code, self.error, self._message = code, error_codes.name(code), message
        super().__init__(*([] if callable(message) else [f"{self.error}: {self.text}"]))

    @cached_property
    def text(self) -> str:
        """The message."""
        found = self._message() if callable(self._message) else self._message
        return found or error_codes.meaning(self.code)

    def __str__(self) -> str:
        return f"{self.error}: {self.text}"


def raise_for(code: int, message: str | None = None) -> None:
    """Raises KafkaError unless the code is NONE."""
    if code:
        raise KafkaError(code, message)
