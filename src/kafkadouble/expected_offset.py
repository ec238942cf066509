"""Conditional publish for clients in Python (KIP-27): say where a record belongs, and read the refusal when it is not there.

    producer.send("log", value, headers=[expected_offset.header(42)])          # kafka-python, aiokafka; confluent-kafka: produce(...)

    batch = producer.create_batch()                                            # aiokafka, a whole batch
    batch.append(key=None, value=b"...", timestamp=None)
    await (await producer.send_batch(expected_offset.expect(batch, 42), "log", partition=0))

The topic must have `produce.expected.offset` set. On any other topic, and on every topic of Apache Kafka, a HEADER IS NOT LOOKED AT and
the record is appended wherever the log ends; an expected offset that was written into a batch (`expect`, `patch`) is refused there. No client
library is imported here: what theirs give is told by its shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.server.log.expected_offset import ANY, EMPTY, HEADER, LARGEST, MISMATCH, REFUSED

from .errors import UsageError

__all__ = [
    "ANY",
    "EMPTY",
    "HEADER",
    "ConditionalPublishError",
    "ExpectationRefused",
    "ExpectedOffsetMismatch",
    "UntoldRefusal",
    "expect",
    "header",
    "patch",
    "patched",
    "refusal",
]

T = TypeVar("T")

MAGIC, MAGIC_AT, SMALLEST = 2, 16, 61
"""A batch of today's format, where it says so, and the length of its header."""

_MISMATCH = re.compile(re.escape(MISMATCH).replace(r"\{expected\}", r"(-?\d+)").replace(r"\{actual\}", r"(\d+)"))
_REFUSED = re.compile(
    re.escape(REFUSED) + r".*|header " + re.escape(HEADER) + r" is .*|base offset -\d+ is no .*|no expected offset, .*"
)


class ConditionalPublishError(Exception):
    """A batch was not appended, for what it says of its offsets. Nothing of it is in the log."""


class ExpectedOffsetMismatch(ConditionalPublishError):
    """The log does not end where the producer thought: the record was to be at `expected`, and would have been at `actual`."""

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(MISMATCH.format(expected=expected, actual=actual))
        self.expected, self.actual = expected, actual


class ExpectationRefused(ConditionalPublishError):
    """What the batch says can hold nowhere: it cannot be read, contradicts itself, or is missing where it is required."""


class UntoldRefusal(ConditionalPublishError):
    """INVALID_RECORD, of which the client library keeps the reason for itself: confluent-kafka and aiokafka do. Ask for the end of the log."""


def header(offset: int) -> tuple[str, bytes]:
    """The record header that expects its record at `offset`; ANY for anywhere, EMPTY for a log that never had a record."""
    return HEADER, str(_checked(offset)).encode()


def patch(batch: bytearray | memoryview, offset: int) -> None:
    """Write into a built batch at which offset its first record is expected; compressed or not, its checksum stays right. Here 0 is what every
    client writes unasked: it means an empty log where expectations are required, and nothing where they are optional."""
    if len(batch) < SMALLEST or batch[MAGIC_AT] != MAGIC:
        raise UsageError(f"{len(batch)} bytes are no record batch of magic 2")
    batch[:8] = _checked(offset).to_bytes(8, "big", signed=True)


def patched(batch: bytes | bytearray | memoryview, offset: int) -> bytes:
    """A copy of a built batch that is expected at `offset`; see `patch`."""
    copied = bytearray(batch)
    patch(copied, offset)
    return bytes(copied)


def expect(builder: T, offset: int) -> T:
    """Have a batch that is being built expected at `offset`: aiokafka's BatchBuilder, whenever it is sent, or kafka-python's
    MemoryRecordsBuilder, which is closed by it. Gives the builder back. UsageError for anything else."""
    _checked(offset)
    made: Any = builder
    if hasattr(made, "_build"):
        made._build = _patching(made._build, offset)
    elif hasattr(made, "close") and hasattr(made, "buffer"):
        made.close()
        patch(made.buffer(), offset)
    else:
        raise UsageError(f"{builder!r} builds no batch that is known here")
    return builder


def _patching(build: Callable[[], bytearray], offset: int) -> Callable[[], bytearray]:
    def built() -> bytearray:
        batch = build()
        patch(batch, offset)
        return batch

    return built


def _checked(offset: int) -> int:
    if isinstance(offset, bool) or not isinstance(offset, int) or not ANY <= offset <= LARGEST:
        raise UsageError(f"{offset!r} is no expected offset: an offset, or {ANY} for any")
    return offset


def refusal(error: object) -> ConditionalPublishError | None:
    """What a failed publish means, or None when it failed for another reason.

    `error`: the exception of kafka-python, aiokafka or confluent-kafka, the error of a delivery report, our KafkaError, or a partition of a
    ProduceResponse. aiokafka has no name for INVALID_RECORD, and its UnknownError is taken for it.
    """
    parts = list(_parts(error))
    text = "\n".join(_texts(parts))
    if found := _MISMATCH.search(text):
        return ExpectedOffsetMismatch(int(found[1]), int(found[2]))
    if found := _REFUSED.search(text):
        return ExpectationRefused(found[0].removeprefix(REFUSED))
    if any(_code(part) == error_codes.INVALID_RECORD or _is_unnamed(part) for part in parts):
        return UntoldRefusal("INVALID_RECORD, and no reason told")
    return None


def _parts(error: object) -> Iterator[object]:
    """The error, and what it wraps."""
    yield error
    if isinstance(error, BaseException):
        yield from (
            each for each in (*error.args, error.__cause__) if each is not None and not isinstance(each, int | bytes)
        )


def _texts(parts: list[object]) -> Iterator[str]:
    for part in parts:
        yield str(getattr(part, "error_message", None) or part)


def _code(part: object) -> int | None:
    """The number of the error, under whichever name a library has it."""
    for name in ("error_code", "errno", "code"):
        found = getattr(part, name, None)
        found = found() if callable(found) else found
        if isinstance(found, int):
            return found
    return None


def _is_unnamed(part: object) -> bool:
    return type(part).__name__ == "UnknownError" and type(part).__module__.startswith("aiokafka.")
