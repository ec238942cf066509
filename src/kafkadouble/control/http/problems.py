"""The errors of calls, as an HTTP status and a JSON object: `{"error": {"kind", "message"}}`.

The message is in the words of the caller, which its User-Agent names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.wording import Caller

log = ClientLog("kafkadouble.control")


class ControlProblem(Exception):
    """A call that is answered with this status. `kind` is a word for programs."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind, self.message = status, kind, message

    def to_json(self) -> dict[str, Any]:
        """The answer."""
        return {"error": {"kind": self.kind, "message": self.message}}


class KafkaErrorProblem(ControlProblem):
    """Kafka's error, with its code and its name."""

    def __init__(self, error: KafkaError) -> None:
        super().__init__(409, "kafka", str(error))
        self.code = error.code

    def to_json(self) -> dict[str, Any]:
        own = super().to_json()["error"]
        return {"error": {**own, "code": self.code, "name": error_codes.name(self.code)}}


class ProblemRow(NamedTuple):
    """An exception, and the status and kind of its answer."""

    error: type[BaseException]
    status: int
    kind: str


TABLE = (
    ProblemRow(WireError, 400, "usage"),
    ProblemRow(TimeoutError, 408, "timeout"),
    ProblemRow(AssertionError, 422, "assertion"),
)
"""The statuses of what verbs raise, besides UsageError, which is 400, and KafkaError, which is
409."""


def problem_of(error: Exception, caller: Caller = Caller.HTTP) -> ControlProblem:
    """The answer to a call that raised this."""
    if isinstance(error, ControlProblem):
        return error
    if isinstance(error, KafkaError):
        return KafkaErrorProblem(error)
    if isinstance(error, UsageError):
        return ControlProblem(400, "usage", error.in_words_of(caller))
    for row in TABLE:
        if isinstance(error, row.error):
            return ControlProblem(row.status, row.kind, str(error))
    log.error("a call failed", exc_info=error)
    return ControlProblem(500, "internal", f"{type(error).__name__}: {error}")
