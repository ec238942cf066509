"""What a decision of the controller is: records to write, and what to answer. Nothing is written while one is made.

A part of a request that cannot be done is a `Refusal` inside of the decision, and becomes that part's answer; a `Refusal` that leaves the
decision fails the request as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from ..requests.request import Refusal

R = TypeVar("R")

MAX_RECORDS_PER_USER_OP = 10_000
"""Records that one request may cause, and partitions that it may add: Kafka's `MAX_RECORDS_PER_USER_OP`."""


class ControllerResult(NamedTuple, Generic[R]):
    """The records of a decision, which hold together or not at all, and the results of what was asked for."""

    records: Sequence[Message]
    results: list[R]

    def checked(self) -> ControllerResult[R]:
        """Itself. Refusal(POLICY_VIOLATION) when it has too many records for one request."""
        check_size(len(self.records))
        return self


def check_size(records: int) -> None:
    """Refusal(POLICY_VIOLATION) for more records than one request may cause."""
    if records > MAX_RECORDS_PER_USER_OP:
        raise Refusal(error_codes.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def check_time_left(timeout_ms: int) -> None:
    """Refusal(REQUEST_TIMED_OUT) for a request whose time is up before it begins."""
    if timeout_ms <= 0:
        raise Refusal(error_codes.REQUEST_TIMED_OUT)
