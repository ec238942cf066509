"""The result of a controller operation: the records to write and the results to answer.

An error of one part of the request is a `Refusal` inside the operation and becomes that part's
result; a `Refusal` that leaves the operation fails the whole request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from ..requests.request import Refusal

R = TypeVar("R")

MAX_RECORDS_PER_USER_OP = 10_000
"""The most records that one request may cause, and the most partitions that it may add, as in
Kafka.
"""


class ControllerResult(NamedTuple, Generic[R]):
    """The records, applied together or not at all, and the results."""

    records: Sequence[Message]
    results: list[R]

    def checked(self) -> ControllerResult[R]:
        """The result itself. Refusal(POLICY_VIOLATION) if it has too many records for one
        request.
        """
        check_size(len(self.records))
        return self


def check_size(records: int) -> None:
    """Refusal(POLICY_VIOLATION) for more records than one request may cause."""
    if records > MAX_RECORDS_PER_USER_OP:
        raise Refusal(error_codes.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def check_time_left(timeout_ms: int) -> None:
    """Refusal(REQUEST_TIMED_OUT) if the timeout is not positive."""
    if timeout_ms <= 0:
        raise Refusal(error_codes.REQUEST_TIMED_OUT)
